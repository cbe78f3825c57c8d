// A dense array in host memory, row-major: what files hold, constants are made of and receives give.
// Copies share the bytes; whoever writes makes sure that it is the only owner.
//
//   Array a = Array::make({Precision::f32, {2, 3}});     a.data<float>()[5] = 1;
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/types/precision.hpp"
#include "ir/types/type.hpp"

namespace taskspec {

using Extents = std::vector<std::int64_t>;

// The type of a concrete array.
struct ArrayType {
  Precision precision = Precision::f32;
  Extents extents;

  std::int64_t elements() const;  // throws Error E5001 when the product does not fit
  std::size_t bytes() const;
  Type type() const;
  std::string text() const;  // "f32[2, 3]"
  friend bool operator==(const ArrayType&, const ArrayType&) = default;
};

// The concrete form of a tensor type without symbols; a symbol left is our bug.
ArrayType concrete(const Type& type);

class Array {
 public:
  Array() = default;
  // Zeroed bytes, 64-byte aligned. Throws Error E5008 when `type` asks for more than `memory_limit()`.
  static Array make(ArrayType type);
  // Shares bytes that somebody else owns (kept alive by `owner`).
  static Array wrap(ArrayType type, std::shared_ptr<std::byte> bytes);

  const ArrayType& type() const { return type_; }
  Precision precision() const { return type_.precision; }
  const Extents& extents() const { return type_.extents; }
  std::int64_t elements() const { return type_.elements(); }
  std::size_t bytes() const { return type_.bytes(); }
  bool valid() const { return bytes_ != nullptr; }
  std::byte* raw() { return bytes_.get(); }
  const std::byte* raw() const { return bytes_.get(); }
  const std::shared_ptr<std::byte>& storage() const { return bytes_; }

  template <class T>
  std::span<T> data() {
    return {reinterpret_cast<T*>(bytes_.get()), static_cast<std::size_t>(elements())};
  }
  template <class T>
  std::span<const T> data() const {
    return {reinterpret_cast<const T*>(bytes_.get()), static_cast<std::size_t>(elements())};
  }

  // One element as a host number, whatever the precision.
  double number(std::int64_t position) const;
  std::int64_t integer(std::int64_t position) const;       // of bool and integer precisions; of u64 the same bits
  std::int64_t host_integer(std::int64_t position) const;  // likewise; E5001 where a u64 is above 2^63 - 1
  std::string integer_text(std::int64_t position) const;   // likewise as digits
  void set_number(std::int64_t position, double value);    // stored as the precision allows, no rounding rule
  void set_integer(std::int64_t position, std::int64_t value);

 private:
  ArrayType type_;
  std::shared_ptr<std::byte> bytes_;
};

// Bytes that one array may take: three quarters of the machine's memory.
std::size_t memory_limit();

// IEEE half precision, by bits.
float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float value);  // round half to even

}  // namespace taskspec
