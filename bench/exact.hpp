// The exact engine beside plain loops, oneDNN's bytes and the rate of its own inner loop: `taskspec bench exact`.
#pragma once
#include <cstdint>

#include "bench/bench.hpp"

namespace taskspec::bench {

int exact(const Settings& settings);

// A convolution 56 x 56 x 64 -> 64, 3 x 3, as one would write the rule down: from the bias on, r, ky, kx, cut after
// every addition.
void plain_convolution(const std::int8_t* image, const std::int8_t* weights, const std::int32_t* bias,
                       std::int32_t* out);

}  // namespace taskspec::bench
