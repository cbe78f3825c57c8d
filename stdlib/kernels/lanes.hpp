// Vectors of sixteen floats, and squares of sixteen of them. Included by the files of loops that are written for them
// (*_loops.cpp), whose functions say WITH_LANES.
#pragma once
#include <cstdint>
#include <cstring>

namespace taskspec {

using Lanes = float __attribute__((vector_size(64)));
using LanePlaces = std::int32_t __attribute__((vector_size(64)));
inline constexpr int lane_width = 16;

// A processor without vectors as wide has no use for these: oneDNN is better there.
#define WITH_LANES gnu::target("arch=x86-64-v4,prefer-vector-width=512")

[[gnu::always_inline, WITH_LANES]] inline Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
[[gnu::always_inline, WITH_LANES]] inline void store(Lanes lanes, float* to) { std::memcpy(to, &lanes, sizeof lanes); }

// Exchanges the squares of `size` beside the diagonal of each square of twice that.
template <int size>
[[gnu::always_inline, WITH_LANES]] inline void exchange(Lanes (&row)[lane_width]) {
  LanePlaces upper{}, lower{};
  for (int j = 0; j < lane_width; ++j) {
    upper[j] = (j & size) == 0 ? j : lane_width + j - size;
    lower[j] = (j & size) == 0 ? j + size : lane_width + j;
  }
  for (int i = 0; i < lane_width; ++i) {
    if ((i & size) != 0) continue;
    const Lanes a = row[i], b = row[i + size];
    row[i] = __builtin_shuffle(a, b, upper);
    row[i + size] = __builtin_shuffle(a, b, lower);
  }
}

// Rows become columns.
[[gnu::always_inline, WITH_LANES]] inline void turn(Lanes (&row)[lane_width]) {
  exchange<8>(row);
  exchange<4>(row);
  exchange<2>(row);
  exchange<1>(row);
}

[[WITH_LANES]] inline void turn(const float* from, std::int64_t from_step, float* to, std::int64_t to_step) {
  Lanes row[lane_width];
  for (int i = 0; i < lane_width; ++i) row[i] = load(from + i * from_step);
  turn(row);
  for (int i = 0; i < lane_width; ++i) store(row[i], to + i * to_step);
}

}  // namespace taskspec
