// Sums that are cut to 32 bits after every addition, in order: what a chip's units do, and what decides where a sum
// leaves 32 bits on its way.
//
//   std::int64_t cuts = saturating_dots(task);      // how many additions were cut
#pragma once
#include <cstdint>

namespace taskspec {

inline constexpr std::int64_t saturating_lanes = 16;

struct OrderedTask {
  const std::int16_t* input = nullptr;       // packed, zeros around it
  const std::int32_t* wide_input = nullptr;  // instead, for reference_dots
  const std::int32_t* pixels = nullptr;      // where each begins
  std::int64_t pixel_count = 0;
  const std::int32_t* taps = nullptr;  // in the order of the sum, from the pixel's beginning on
  std::int64_t tap_count = 0;
  const std::int32_t* weights = nullptr;  // [outputs / 16][tap][16], zeros behind the last output
  const std::int32_t* start = nullptr;    // for padded outputs
  std::int32_t* out = nullptr;            // [pixel][output]
  std::int64_t outputs = 0;
};

// Products fit 32 bits. Returns the number of additions that were cut.
std::int64_t saturating_dots(const OrderedTask& task);
// The same, exact: in float64, as the reference program computes; what leaves 32 bits is INT_MIN. Returns how many.
std::int64_t reference_dots(const OrderedTask& task);

// sum[i] = cut(sum[i] + x[i]); returns how many were cut.
std::int64_t add_saturating(std::int32_t* sum, const std::int32_t* x, std::int64_t count);
void add_wrapping(std::int32_t* sum, const std::int32_t* x, std::int64_t count);

}  // namespace taskspec
