#include "ir/blocks/pack.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/blocks/cost.hpp"

namespace taskspec {

std::size_t packed_bytes(const ArrayType& type) {
  return static_cast<std::size_t>((type.elements() * packed_bits(type.precision) + 7) / 8);
}

std::vector<std::byte> pack(const Array& array) {
  std::vector<std::byte> bytes(packed_bytes(array.type()));
  const std::int64_t bits = packed_bits(array.precision());
  if (bits >= 8) {
    if (!bytes.empty()) std::memcpy(bytes.data(), array.raw(), bytes.size());
    return bytes;
  }
  const std::int64_t mask = (1 << bits) - 1;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const std::int64_t place = i * bits;
    bytes[static_cast<std::size_t>(place / 8)] |=
        static_cast<std::byte>((array.integer(i) & mask) << (place % 8));  // of a tern -1 is 11
  }
  return bytes;
}

std::optional<Array> unpack(std::span<const std::byte> bytes, const ArrayType& type) {
  if (bytes.size() < packed_bytes(type)) return std::nullopt;
  Array array = Array::make(type);
  const std::int64_t bits = packed_bits(type.precision);
  if (bits >= 8) {
    if (array.bytes() > 0) std::memcpy(array.raw(), bytes.data(), array.bytes());
    if (is_float(type.precision) || info(type.precision).bytes == 8 || type.precision == Precision::u32) return array;
    for (std::int64_t i = 0; i < array.elements(); ++i)
      if (array.integer(i) < info(type.precision).minimum || array.integer(i) > info(type.precision).maximum)
        return std::nullopt;
    return array;
  }
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const std::int64_t place = i * bits;
    const std::int64_t value =
        std::to_integer<std::int64_t>(bytes[static_cast<std::size_t>(place / 8)]) >> (place % 8) & ((1 << bits) - 1);
    if (type.precision == Precision::tern && value == 2) return std::nullopt;
    array.set_integer(i, type.precision == Precision::tern && value == 3 ? -1 : value);
  }
  return array;
}

namespace {

std::int64_t from_number(double x) {
  if (std::isnan(x)) return 0;
  const double limit = 9.2e18;
  return static_cast<std::int64_t>(std::nearbyint(std::clamp(x, -limit, limit)));
}

}  // namespace

Array converted(const Array& array, Precision to, std::int64_t* cuts) {
  Array made = Array::make({to, array.extents()});
  const bool by_floats = is_float(array.precision());
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    if (is_float(to)) {
      made.set_number(i, array.number(i));
      continue;
    }
    const std::int64_t value = by_floats ? from_number(array.number(i)) : array.integer(i);
    const std::int64_t fits = std::clamp(value, info(to).minimum, info(to).maximum);
    if (cuts && fits != value) ++*cuts;
    made.set_integer(i, fits);
  }
  return made;
}

}  // namespace taskspec
