// The choice of a loop by precision; storage.hpp has the numbers that loops compute with.
//
//   return with_taken<Takes::floats>(call.in[0].precision, [&](auto x) { return map_kernel<decltype(x), ...>(...); });
#pragma once
#include <functional>
#include <memory>

#include "ir/records/rules.hpp"
#include "stdlib/kernels/storage.hpp"

namespace taskspec {

template <class T>
constexpr bool is_taken(Takes takes) {
  constexpr bool floats = is_float_storage<T>;
  if (takes == Takes::floats) return floats;
  return takes == Takes::integers || takes == Takes::bits ? !floats : true;
}

// Calls make(T{}) with the type that stores `precision`, one of those that the op takes.
template <Takes takes, class Make>
std::unique_ptr<Kernel> with_taken(Precision precision, Make make) {
  return with_storage(precision, [&](auto element) -> std::unique_ptr<Kernel> {
    if constexpr (is_taken<decltype(element)>(takes)) return make(element);
    bug("the rule of an op let in a precision without a loop");
  });
}

// Calls make(T{}) with an unsigned type as wide as an element: for ops that only move elements.
template <class Make>
auto with_width(Precision precision, Make make) {
  switch (info(precision).bytes) {
    case 1:
      return make(std::uint8_t{});
    case 2:
      return make(std::uint16_t{});
    case 4:
      return make(std::uint32_t{});
    default:
      return make(std::uint64_t{});
  }
}

// Integer arithmetic modulo 2^n: computed unsigned, and wide enough that promotion to int cannot overflow.
template <class T, class F>
constexpr T wrapped(T a, T b, F f) {
  if constexpr (std::is_floating_point_v<T>) {
    return f(a, b);
  } else {
    using Wide = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;
    return static_cast<T>(f(static_cast<Wide>(a), static_cast<Wide>(b)));
  }
}

}  // namespace taskspec
