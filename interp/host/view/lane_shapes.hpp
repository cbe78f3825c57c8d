// Loops for what bodies compute most: some sums, differences, products and quotients in one pass, whose values
// in between never leave the registers of the processor. Each element is computed as by one op after the other.
//
//   find_shape("xx+x*x+", Precision::f64)      // (a + b) * c + d
//
// A shape is written operands first. Where `+` or `*` has a longer right side, the sides are exchanged: x + a * b is
// "xx*x+".
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/types/precision.hpp"

namespace taskspec {

inline constexpr std::size_t most_shape_operands = 10;

// `in`: as many as the shape has operands, each of `count` elements; `out` may be one of them, and overlaps no other.
using ShapeLoop = void (*)(const std::byte* const* in, std::byte* out, std::int64_t count);

// Null where there is no such loop: of f32 and f64 there are all with two ops, all with three of `+ - *`, and those of
// stars of four and six neighbours.
ShapeLoop find_shape(std::string_view shape, Precision precision);

}  // namespace taskspec
