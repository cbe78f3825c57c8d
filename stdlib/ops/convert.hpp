// One element from one precision to another as `as` does it: half to even, saturated, nan to 0, bool is != 0.
//
//   Convert<float, std::int8_t>(Precision::i8)(300.5f) == 127
#pragma once
#include <bit>
#include <cmath>

#include "stdlib/ops/dispatch.hpp"

namespace taskspec {

// x rounded to float such that a second rounding, to f16, is as good as a single one: when inexact, the last
// bit is set.
inline float rounded_to_odd(double x) {
  float near = static_cast<float>(x);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(near);
  if (static_cast<double>(near) == x || std::isinf(near)) return near;
  if (std::fabs(static_cast<double>(near)) > std::fabs(x)) --bits;
  return std::bit_cast<float>(bits | 1);
}

// From an element computed as In to one computed as Out.
template <class In, class Out>
class Convert {
  static constexpr bool from_float = std::is_floating_point_v<In>;
  // Integers are clamped in 32 bits where those hold every In: that vectorises better.
  using Wide = std::conditional_t<(sizeof(In) < 4 || std::is_same_v<In, std::int32_t>), std::int32_t, std::int64_t>;
  using Bound = std::conditional_t<from_float, std::conditional_t<sizeof(Out) == 8, std::int64_t, double>, Wide>;

 public:
  explicit Convert(Precision to) : lowest_(bound(info(to).minimum)), highest_(bound(info(to).maximum)) {}

  Out operator()(In x) const {
    if constexpr (std::is_floating_point_v<Out> || (std::is_same_v<In, std::uint64_t> && std::is_same_v<In, Out>))
      return static_cast<Out>(x);
    else if constexpr (std::is_same_v<In, std::uint64_t>)
      return static_cast<Out>(std::min(x, static_cast<std::uint64_t>(highest_)));
    else if constexpr (!from_float)
      return static_cast<Out>(std::clamp(static_cast<Wide>(x), lowest_, highest_));
    else if constexpr (sizeof(Out) == 8)
      return to_long(x);
    else {
      using Step = std::conditional_t<std::is_same_v<Out, std::uint32_t>, std::int64_t, std::int32_t>;
      double whole = std::rint(x != x ? 0.0 : static_cast<double>(x));
      double above = whole < lowest_ ? lowest_ : whole;
      return static_cast<Out>(static_cast<Step>(above > highest_ ? highest_ : above));
    }
  }

 private:
  static Bound bound(std::int64_t value) {
    if constexpr (std::is_same_v<Bound, std::int32_t>)
      return static_cast<Bound>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX));
    else
      return static_cast<Bound>(value);
  }
  static Out to_long(double x) {  // 2^63 - 1 is no double: compare with 2^63
    if (x != x) return 0;
    if constexpr (std::is_same_v<Out, std::uint64_t>) {
      if (x >= 0x1p64) return UINT64_MAX;
      return x <= 0 ? 0 : static_cast<Out>(std::rint(x));
    }
    if (x >= 0x1p63) return INT64_MAX;
    if (x < -0x1p63) return INT64_MIN;
    return static_cast<Out>(std::rint(x));
  }

  Bound lowest_, highest_;
};

}  // namespace taskspec
