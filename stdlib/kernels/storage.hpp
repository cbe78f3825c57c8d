// How elements lie in host memory, and the choice of a kernel by it.
//
//   with_storage(Precision::u4, [](auto element) { using T = decltype(element); ... });   // T = std::uint8_t
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ir/base/diag.hpp"
#include "ir/types/array.hpp"
#include "ir/types/precision.hpp"

namespace taskspec {

struct Half {
  std::uint16_t bits;
};

// Calls f with a zero element of the type that stores `precision`.
template <class F>
decltype(auto) with_storage(Precision precision, F&& f) {
  switch (precision) {
    case Precision::boolean:
    case Precision::u4:
    case Precision::u8:
      return f(std::uint8_t{});
    case Precision::tern:
    case Precision::i8:
      return f(std::int8_t{});
    case Precision::i9:
    case Precision::i16:
      return f(std::int16_t{});
    case Precision::u16:
      return f(std::uint16_t{});
    case Precision::i28:
    case Precision::i32:
      return f(std::int32_t{});
    case Precision::u32:
      return f(std::uint32_t{});
    case Precision::i64:
      return f(std::int64_t{});
    case Precision::u64:
      return f(std::uint64_t{});
    case Precision::f16:
      return f(Half{});
    case Precision::f32:
      return f(float{});
    case Precision::f64:
      return f(double{});
  }
  bug("a precision without storage");
}

// Between the stored element and the number a kernel computes with. Integers wrap.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<From, To>)
    return value;
  else if constexpr (std::is_same_v<From, Half>)
    return static_cast<To>(half_to_float(value.bits));
  else if constexpr (std::is_same_v<To, Half>)
    return {float_to_half(static_cast<float>(value))};
  else
    return static_cast<To>(value);
}

// What a kernel computes with: f16 goes through float, everything else is computed as it is stored.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, Half>, float, T>;

template <class T>
constexpr bool is_float_storage = std::is_floating_point_v<Computed<T>>;

// Where a search for the largest or the smallest begins.
template <class T>
constexpr T lowest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}
template <class T>
constexpr T highest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

}  // namespace taskspec
