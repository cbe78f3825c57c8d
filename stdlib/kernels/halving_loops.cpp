#include "stdlib/kernels/halving_loops.hpp"

#include <immintrin.h>

#include <algorithm>

#include "stdlib/kernels/lanes.hpp"

namespace taskspec {

namespace {

// The first `count` lanes; none where that is negative, all where it is more.
[[gnu::always_inline]] inline __mmask16 first_lanes(std::int64_t count) {
  const auto lanes = static_cast<unsigned>(std::clamp<std::int64_t>(count, 0, lane_width));
  return static_cast<__mmask16>((1u << lanes) - 1);
}

// Neighbours of a row: `left` and `right` have every other pixel.
struct Neighbours {
  Lanes left, right;
};

[[gnu::always_inline, WITH_LANES]] inline Neighbours neighbours(Lanes near, Lanes far) {
  constexpr LanePlaces even{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
  return {__builtin_shuffle(near, far, even), __builtin_shuffle(near, far, even + 1)};
}
[[gnu::always_inline, WITH_LANES]] inline Lanes load_some(const float* from, std::int64_t count) {
  return _mm512_maskz_loadu_ps(first_lanes(count), from);
}
[[gnu::always_inline, WITH_LANES]] inline Neighbours load_pairs(const float* from, std::int64_t pairs) {
  return neighbours(load_some(from, 2 * pairs), load_some(from + lane_width, 2 * pairs - lane_width));
}
[[gnu::always_inline, WITH_LANES]] inline void store_pairs(const Neighbours& pixels, float* to, std::int64_t pairs) {
  constexpr LanePlaces near{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
  _mm512_mask_storeu_ps(to, first_lanes(2 * pairs), __builtin_shuffle(pixels.left, pixels.right, near));
  _mm512_mask_storeu_ps(to + lane_width, first_lanes(2 * pairs - lane_width),
                        __builtin_shuffle(pixels.left, pixels.right, near + 8));
}

[[gnu::always_inline, WITH_LANES]] inline Lanes joined_maximum(Lanes a, Lanes b) {
  const Lanes larger = b > a ? b : a;
  return b != b ? b : larger;
}
// A nan is larger, but not than another one.
[[gnu::always_inline, WITH_LANES]] inline LanePlaces is_larger(Lanes value, Lanes than) {
  return (value > than) | ((value != value) & (than == than));
}

// Takes a row's share of the gradient to the larger of two neighbours.
[[gnu::always_inline, WITH_LANES]] inline Neighbours shared(LanePlaces to_right, Lanes gradient) {
  const Lanes none{};
  return {to_right ? none : gradient, to_right ? gradient : none};
}

}  // namespace

bool has_halving_loops() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

[[WITH_LANES]] void halve_by_maximum(const Windows& w, const float* x, float* y) {
  for (std::int64_t row = 0; row < w.out[0]; ++row, x += 2 * w.image[1], y += w.out[1])
    for (std::int64_t i = 0; i < w.out[1]; i += lane_width) {
      const std::int64_t count = w.out[1] - i;
      const Neighbours top = load_pairs(x + 2 * i, count), bottom = load_pairs(x + w.image[1] + 2 * i, count);
      const Lanes left = joined_maximum(top.left, bottom.left), right = joined_maximum(top.right, bottom.right);
      _mm512_mask_storeu_ps(y + i, first_lanes(count), joined_maximum(left, right));
    }
}

[[WITH_LANES]] void halve_by_maximum_gradient(const Windows& w, const float* x, const float* upstream, float* out) {
  const std::int64_t width = w.image[1];
  for (std::int64_t row = 0; row < w.out[0]; ++row, x += 2 * width, out += 2 * width, upstream += w.out[1])
    for (std::int64_t i = 0; i < w.out[1]; i += lane_width) {
      const std::int64_t count = w.out[1] - i;
      const Neighbours top = load_pairs(x + 2 * i, count), bottom = load_pairs(x + width + 2 * i, count);
      const LanePlaces top_right = is_larger(top.right, top.left), bottom_right = is_larger(bottom.right, bottom.left);
      const LanePlaces low =
          is_larger(bottom_right ? bottom.right : bottom.left, top_right ? top.right : top.left);
      const Lanes gradient = load_some(upstream + i, count), none{};
      store_pairs(shared(top_right, low ? none : gradient), out + 2 * i, count);
      store_pairs(shared(bottom_right, low ? gradient : none), out + width + 2 * i, count);
    }
}

}  // namespace taskspec
