// Loops for what bodies compute most: some sums, differences, products and quotients in one pass, whose values
// in between never leave the registers of the processor. Each element is computed as by one op after the other.
//
//   find_shape("xx+x*x+", Precision::f64)      // (a + b) * c + d
//
// A shape is written operands first. Where `+` or `*` has a longer right side, the sides are exchanged: x + a * b is
// "xx*x+". An operand may be read through places, as `n[w[i].a].voltage` is: "gg-x/" is (f[p] - g[q]) / x.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/types/precision.hpp"

namespace taskspec {

inline constexpr std::size_t most_shape_operands = 10, most_gathered_operands = 3;

// `in`: as many as the shape has operands, each of `count` elements; `out` may be one of them, and overlaps no other.
using ShapeLoop = void (*)(const std::byte* const* in, std::byte* out, std::int64_t count);

// Null where there is no such loop: of f32 and f64 there are all with two ops, all with three of `+ - *`, and those of
// stars of four and six neighbours.
ShapeLoop find_shape(std::string_view shape, Precision precision);

// All of them in [lo, hi).
bool all_inside(const std::int64_t* values, std::int64_t count, std::int64_t lo, std::int64_t hi);

// Where an operand is read: from[places[e]]; all places are to be in [lo, hi).
struct Gathering {
  const std::byte* from = nullptr;
  const std::int64_t* places = nullptr;
  std::int64_t lo = 0, hi = INT64_MAX;
};

// Of a shape with operands that are gathered: `in` has those that are not, `gatherings` the others, each in order.
// Looks at places before it reads by them, some elements at a time, and stops in front of those of which one is
// outside: gives how many elements are done.
using GatherLoop = std::int64_t (*)(const std::byte* const* in, const Gathering* gatherings, std::byte* out,
                                    std::int64_t count);

// There are all with one or two ops, of f32 and f64.
GatherLoop find_gather(std::string_view shape, Precision precision);

}  // namespace taskspec
