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

constexpr LanePlaces side_by_side{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};

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
  _mm512_mask_storeu_ps(to, first_lanes(2 * pairs), __builtin_shuffle(pixels.left, pixels.right, side_by_side));
  if (2 * pairs > lane_width)
    _mm512_mask_storeu_ps(to + lane_width, first_lanes(2 * pairs - lane_width),
                          __builtin_shuffle(pixels.left, pixels.right, side_by_side + 8));
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

// Both rows of sixteen windows.
struct Squares {
  Neighbours top, bottom;
};
[[gnu::always_inline, WITH_LANES]] inline Lanes largest(const Squares& x) {
  return joined_maximum(joined_maximum(x.top.left, x.bottom.left), joined_maximum(x.top.right, x.bottom.right));
}
[[gnu::always_inline, WITH_LANES]] inline Squares to_largest(const Squares& x, Lanes gradient) {
  const LanePlaces top = is_larger(x.top.right, x.top.left), bottom = is_larger(x.bottom.right, x.bottom.left);
  const LanePlaces low = is_larger(bottom ? x.bottom.right : x.bottom.left, top ? x.top.right : x.top.left);
  const Lanes none{};
  return {shared(top, low ? none : gradient), shared(bottom, low ? gradient : none)};
}

// ---- planes of eight columns: a vector has two rows, and all windows of eight rows are one vector ------------------

constexpr std::int64_t few_columns = 8;
bool has_few_columns(const Windows& w) {
  return w.image[1] == few_columns && w.out[1] == few_columns / 2 && w.out[0] % 4 == 0 && w.image[0] == 2 * w.out[0];
}

constexpr LanePlaces upper_rows{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};

[[gnu::always_inline, WITH_LANES]] inline Squares load_eight_rows(const float* x) {
  const Lanes a = load(x), b = load(x + 16), c = load(x + 32), d = load(x + 48);
  return {neighbours(__builtin_shuffle(a, b, upper_rows), __builtin_shuffle(c, d, upper_rows)),
          neighbours(__builtin_shuffle(a, b, upper_rows + 8), __builtin_shuffle(c, d, upper_rows + 8))};
}
[[gnu::always_inline, WITH_LANES]] inline void store_eight_rows(const Squares& x, float* to) {
  const Lanes top[] = {__builtin_shuffle(x.top.left, x.top.right, side_by_side),
                       __builtin_shuffle(x.top.left, x.top.right, side_by_side + 8)};
  const Lanes bottom[] = {__builtin_shuffle(x.bottom.left, x.bottom.right, side_by_side),
                          __builtin_shuffle(x.bottom.left, x.bottom.right, side_by_side + 8)};
  for (int half = 0; half < 2; ++half) {
    store(__builtin_shuffle(top[half], bottom[half], upper_rows), to + 32 * half);
    store(__builtin_shuffle(top[half], bottom[half], upper_rows + 8), to + 32 * half + 16);
  }
}

}  // namespace

bool has_halving_loops() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

[[WITH_LANES]] void halve_by_maximum(const Windows& w, const float* x, float* y) {
  if (has_few_columns(w)) {
    for (std::int64_t i = 0; i < w.positions(); i += lane_width) store(largest(load_eight_rows(x + 4 * i)), y + i);
    return;
  }
  for (std::int64_t row = 0; row < w.out[0]; ++row, x += 2 * w.image[1], y += w.out[1])
    for (std::int64_t i = 0; i < w.out[1]; i += lane_width) {
      const std::int64_t count = w.out[1] - i;
      const Squares pixels{load_pairs(x + 2 * i, count), load_pairs(x + w.image[1] + 2 * i, count)};
      _mm512_mask_storeu_ps(y + i, first_lanes(count), largest(pixels));
    }
}

[[WITH_LANES]] void halve_by_maximum_gradient(const Windows& w, const float* x, const float* upstream, float* out) {
  if (has_few_columns(w)) {
    for (std::int64_t i = 0; i < w.positions(); i += lane_width)
      store_eight_rows(to_largest(load_eight_rows(x + 4 * i), load(upstream + i)), out + 4 * i);
    return;
  }
  const std::int64_t width = w.image[1];
  for (std::int64_t row = 0; row < w.out[0]; ++row, x += 2 * width, out += 2 * width, upstream += w.out[1])
    for (std::int64_t i = 0; i < w.out[1]; i += lane_width) {
      const std::int64_t count = w.out[1] - i;
      const Squares pixels{load_pairs(x + 2 * i, count), load_pairs(x + width + 2 * i, count)};
      const Squares made = to_largest(pixels, load_some(upstream + i, count));
      store_pairs(made.top, out + 2 * i, count);
      store_pairs(made.bottom, out + width + 2 * i, count);
    }
}

}  // namespace taskspec
