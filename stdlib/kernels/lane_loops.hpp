// The loops of convolutions whose images lie in the lanes of vectors: element e of image k is at [e * 16 + k]. Compiled
// apart, since they may contract a * b + c as all products may.
#pragma once
#include <cstdint>

#include "stdlib/kernels/windows.hpp"

namespace taskspec {

inline constexpr std::int64_t image_lanes = 16;

bool has_lane_loops();  // whether this processor has vectors of so many floats

// From images that lie one after the other, `elements` each, and back.
void to_lanes(const float* images, std::int64_t elements, float* lanes);
void from_lanes(const float* lanes, std::int64_t elements, float* images);

// One axis of a sum over taps: place i of the result reads place i * stride + first + k * step of what is read, for all
// taps k for which that is one of `places`.
struct TapAxis {
  std::int64_t places = 0, stride = 1, first = 0, step = 1, taps = 1;
};

// out[o, p] = start[o] + sum over c and taps t of weights[c, t, o] * in[c, place that p reads under t]
struct LaneSum {
  std::int64_t channels = 0, outputs = 0;
  Pair out{};
  TapAxis axes[2];
};
void lane_sum(const LaneSum& sum, const float* in, const float* weights, const float* start, float* out);

// weights[o, c, t] = sum over images and windows p of up[o, p] * x[c, pixel of p under t]; no padding.
void lane_weights(const Windows& w, std::int64_t channels, std::int64_t outputs, const float* x, const float* up,
                  float* weights);

}  // namespace taskspec
