#include "ir/types/array.hpp"

#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "ir/base/diag.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

std::int64_t ArrayType::elements() const {
  std::int64_t product = 1;
  for (std::int64_t extent : extents) product = checked_multiply(product, extent);
  return product;
}

std::size_t ArrayType::bytes() const {
  return static_cast<std::size_t>(checked_multiply(elements(), info(precision).bytes));
}

Type ArrayType::type() const { return Type::tensor(precision, {extents.begin(), extents.end()}); }
std::string ArrayType::text() const { return type().text(); }

ArrayType concrete(const Type& type) {
  if (!type.is_tensor()) bug("concrete() of " + type.text());
  ArrayType result{type.precision, {}};
  for (const Dim& dim : type.dims) {
    if (!dim.is_constant()) bug("concrete() of " + type.text());
    result.extents.push_back(*dim.constant());
  }
  return result;
}

std::size_t memory_limit() {
  // Asked once: it is a call of the system, and every small array asks.
  static const std::size_t limit =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 4 * 3 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return limit;
}

Array Array::make(ArrayType type) {
  std::size_t bytes = type.bytes();
  if (bytes > memory_limit())
    throw failure(
        "E5008", {},
        type.text() + " needs " + plural(bytes, "byte") + "; this machine allows " + std::to_string(memory_limit()));
  std::size_t rounded = (bytes + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, rounded == 0 ? 64 : rounded);
  if (!memory) throw failure("E5008", {}, "no memory for " + type.text());
  std::memset(memory, 0, rounded);
  return wrap(std::move(type), {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }});
}

Array Array::wrap(ArrayType type, std::shared_ptr<std::byte> bytes) {
  Array array;
  array.type_ = std::move(type);
  array.bytes_ = std::move(bytes);
  return array;
}

namespace {

template <class T>
T load(const std::byte* base, std::int64_t position) {
  T value;
  std::memcpy(&value, base + position * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* base, std::int64_t position, T value) {
  std::memcpy(base + position * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace

double Array::number(std::int64_t position) const {
  switch (precision()) {
    case Precision::f16:
      return half_to_float(load<std::uint16_t>(raw(), position));
    case Precision::f32:
      return load<float>(raw(), position);
    case Precision::f64:
      return load<double>(raw(), position);
    case Precision::u64:
      return static_cast<double>(load<std::uint64_t>(raw(), position));
    default:
      return static_cast<double>(integer(position));
  }
}

std::int64_t Array::integer(std::int64_t position) const {
  switch (precision()) {
    case Precision::boolean:
    case Precision::u4:
    case Precision::u8:
      return load<std::uint8_t>(raw(), position);
    case Precision::tern:
    case Precision::i8:
      return load<std::int8_t>(raw(), position);
    case Precision::i9:
    case Precision::i16:
      return load<std::int16_t>(raw(), position);
    case Precision::u16:
      return load<std::uint16_t>(raw(), position);
    case Precision::i28:
    case Precision::i32:
      return load<std::int32_t>(raw(), position);
    case Precision::u32:
      return load<std::uint32_t>(raw(), position);
    case Precision::i64:
    case Precision::u64:  // the same bits
      return load<std::int64_t>(raw(), position);
    default:
      return static_cast<std::int64_t>(number(position));
  }
}

std::string Array::integer_text(std::int64_t position) const {
  const std::int64_t value = integer(position);
  return precision() == Precision::u64 ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value);
}

std::int64_t Array::host_integer(std::int64_t position) const {
  const std::int64_t value = integer(position);
  if (precision() == Precision::u64 && value < 0)
    throw failure("E5001", {}, integer_text(position) + " is no host value: int ends at 2^63 - 1");
  return value;
}

void Array::set_number(std::int64_t position, double value) {
  switch (precision()) {
    case Precision::f16:
      return store(raw(), position, float_to_half(static_cast<float>(value)));
    case Precision::f32:
      return store(raw(), position, static_cast<float>(value));
    case Precision::f64:
      return store(raw(), position, value);
    case Precision::u64:
      return store(raw(), position, static_cast<std::uint64_t>(value));
    default:
      return set_integer(position, static_cast<std::int64_t>(value));
  }
}

void Array::set_integer(std::int64_t position, std::int64_t value) {
  switch (info(precision()).bytes) {
    case 1:
      if (!is_float(precision())) return store(raw(), position, static_cast<std::uint8_t>(value));
      break;
    case 2:
      if (!is_float(precision())) return store(raw(), position, static_cast<std::uint16_t>(value));
      break;
    case 4:
      if (!is_float(precision())) return store(raw(), position, static_cast<std::uint32_t>(value));
      break;
    case 8:
      if (!is_float(precision())) return store(raw(), position, value);
      break;
  }
  set_number(position, static_cast<double>(value));
}

float half_to_float(std::uint16_t bits) {
  std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  std::uint32_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ffu;
  if (exponent == 0) {
    float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign ? -magnitude : magnitude;
  }
  std::uint32_t wide = exponent == 31 ? 0xffu : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

std::uint16_t float_to_half(float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00u);
  float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 6.103515625e-05f)  // subnormal: a multiple of 2^-24, ties to even by nearbyint
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(magnitude, 24))));
  std::uint32_t m = bits & 0x7fffffffu;
  std::uint32_t rounded = m + 0xfffu + ((m >> 13) & 1u);  // ties to even at bit 13
  return static_cast<std::uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
}

}  // namespace taskspec
