#include "stdlib/kernels/lane_loops.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "stdlib/kernels/lanes.hpp"

namespace taskspec {

namespace {

// ---- sums over taps -------------------------------------------------------------------------------

struct Range {
  std::int64_t begin, end;
  friend bool operator==(const Range&, const Range&) = default;
};

// The taps of place i that read something.
Range taps_of(const TapAxis& a, std::int64_t i) {
  const std::int64_t at = i * a.stride + a.first;
  std::int64_t begin = 0, end = a.taps;
  while (begin < end && (at + begin * a.step < 0 || at + begin * a.step >= a.places)) ++begin;
  while (end > begin && (at + (end - 1) * a.step < 0 || at + (end - 1) * a.step >= a.places)) --end;
  return {begin, end};
}

// What is read for one row of the result: rows of `in` under taps [rows.begin, rows.end).
struct RowOfSum {
  const LaneSum& s;
  std::int64_t y, first;  // the first output of the block
  Range rows;
};

// Adds taps [begin, end) of columns x + p, for all p, to their sums: `count` outputs of so many columns.
template <int count, int columns, int... p>
[[gnu::always_inline, WITH_LANES]] inline void add_taps(const LaneSum& s, const float* from, const float* factor,
                                                        Range taps, Lanes (&sum)[columns][count],
                                                        std::integer_sequence<int, p...>) {
  const TapAxis& right = s.axes[1];
  for (std::int64_t kx = taps.begin; kx < taps.end; ++kx) {
    const Lanes value[] = {load(from + (p * right.stride + kx * right.step) * lane_width)...};
    for (int o = 0; o < count; ++o) {
      int k = 0;
      ((sum[p][o] += value[k++] * factor[kx * s.outputs + o]), ...);
    }
  }
}

// Those that a column has in front of the ones that all have, and behind them.
template <int count, int columns, int... p>
[[gnu::always_inline, WITH_LANES]] inline void add_own_taps(const LaneSum& s, const float* from, const float* factor,
                                                            Range all, const Range (&own)[columns],
                                                            Lanes (&sum)[columns][count],
                                                            std::integer_sequence<int, p...>) {
  (add_taps(s, from, factor, {own[p].begin, std::min(all.begin, own[p].end)}, sum, std::integer_sequence<int, p>()),
   ...);
  (add_taps(s, from, factor, {std::max(all.end, own[p].begin), own[p].end}, sum, std::integer_sequence<int, p>()), ...);
}

// `count` outputs of `columns` neighbours stay in registers while everything is added to them. Where they are not
// `alike`, each has taps of its own beside those that all of them have.
template <int count, int columns, bool alike>
[[gnu::always_inline, WITH_LANES]] inline void sum_columns(const RowOfSum& row, std::int64_t x, const Range* taps,
                                                           const float* in, const float* weights, const float* start,
                                                           float* out) {
  const LaneSum& s = row.s;
  const TapAxis &down = s.axes[0], &right = s.axes[1];
  const std::int64_t plane = down.places * right.places, positions = s.out[0] * s.out[1];
  constexpr auto each = std::make_integer_sequence<int, columns>();
  Range all = taps[0], own[columns];
  for (int p = 0; p < columns; ++p) {
    own[p] = taps[p];
    all = {std::max(all.begin, own[p].begin), std::min(all.end, own[p].end)};
  }
  all.end = std::max(all.begin, all.end);
  Lanes sum[columns][count];
  for (int p = 0; p < columns; ++p)
    for (int o = 0; o < count; ++o) sum[p][o] = Lanes{} + start[row.first + o];
  for (std::int64_t c = 0; c < s.channels; ++c)
    for (std::int64_t ky = row.rows.begin; ky < row.rows.end; ++ky) {
      const std::int64_t line = c * plane + (row.y * down.stride + down.first + ky * down.step) * right.places;
      const float* from = in + (line + x * right.stride + right.first) * lane_width;
      const float* factor = weights + ((c * down.taps + ky) * right.taps) * s.outputs + row.first;
      if constexpr (!alike) add_own_taps(s, from, factor, all, own, sum, each);
      add_taps(s, from, factor, all, sum, each);
    }
  for (int p = 0; p < columns; ++p)
    for (int o = 0; o < count; ++o)
      store(sum[p][o], out + ((row.first + o) * positions + row.y * s.out[1] + x + p) * lane_width);
}

// Of all columns, two at a time where that leaves the registers some room: more take longer.
template <int count>
[[WITH_LANES]] void sum_outputs(const LaneSum& s, std::int64_t first, const float* in, const float* weights,
                                const float* start, float* out) {
  constexpr bool room = count <= 12;
  for (std::int64_t y = 0; y < s.out[0]; ++y) {
    const RowOfSum row{s, y, first, taps_of(s.axes[0], y)};
    for (std::int64_t x = 0; x < s.out[1];) {
      const Range own[] = {taps_of(s.axes[1], x), taps_of(s.axes[1], x + 1)};
      const bool two = room && x + 2 <= s.out[1];
      if (!two)
        sum_columns<count, 1, true>(row, x, own, in, weights, start, out);
      else if (own[0] == own[1])
        sum_columns<count, room ? 2 : 1, true>(row, x, own, in, weights, start, out);
      else
        sum_columns<count, room ? 2 : 1, false>(row, x, own, in, weights, start, out);
      x += two ? 2 : 1;
    }
  }
}

// ---- sums over windows ----------------------------------------------------------------------------

// Each of sixteen vectors summed up, in lane k that of vector k. In a fixed order: halves onto each other.
template <int size>
[[gnu::always_inline, WITH_LANES]] inline void add_halves(Lanes (&row)[lane_width]) {
  LanePlaces upper{}, lower{};
  for (int j = 0; j < lane_width; ++j) {
    upper[j] = (j & size) == 0 ? j : lane_width + j - size;
    lower[j] = (j & size) == 0 ? j + size : lane_width + j;
  }
  for (int i = 0; i < size; ++i)
    row[i] = __builtin_shuffle(row[i], row[i + size], upper) + __builtin_shuffle(row[i], row[i + size], lower);
}
[[gnu::always_inline, WITH_LANES]] inline Lanes totals(Lanes (&row)[lane_width]) {
  add_halves<8>(row);
  add_halves<4>(row);
  add_halves<2>(row);
  add_halves<1>(row);
  return row[0];
}

// The gradients of `count` outputs by `taps` neighbouring taps of one row of the weights stay in registers.
struct WeightBlock {
  std::int64_t output, channel, ky, kx;
};

template <int count, int taps>
[[WITH_LANES]] void sum_windows(const Windows& w, std::int64_t channels, WeightBlock at, const float* x,
                                const float* up, float* weights) {
  Lanes sum[count][taps]{};
  for (std::int64_t row = 0; row < w.out[0]; ++row) {
    const std::int64_t line = (at.channel * w.image[0] + row * w.stride[0] + at.ky * w.dilation[0]) * w.image[1];
    const float* pixels = x + (line + at.kx * w.dilation[1]) * image_lanes;
    const float* given = up + (at.output * w.positions() + row * w.out[1]) * image_lanes;
    for (std::int64_t i = 0; i < w.out[1]; ++i) {
      Lanes upstream[count];
      for (int o = 0; o < count; ++o) upstream[o] = load(given + (o * w.positions() + i) * image_lanes);
      for (int t = 0; t < taps; ++t) {
        const Lanes pixel = load(pixels + (i * w.stride[1] + t * w.dilation[1]) * image_lanes);
        for (int o = 0; o < count; ++o) sum[o][t] += upstream[o] * pixel;
      }
    }
  }
  float sums[(count * taps + lane_width - 1) / lane_width * lane_width];
  for (int begin = 0; begin < count * taps; begin += lane_width) {
    Lanes some[lane_width]{};
    for (int k = 0; k < lane_width && begin + k < count * taps; ++k)
      some[k] = sum[(begin + k) / taps][(begin + k) % taps];
    store(totals(some), sums + begin);
  }
  for (int o = 0; o < count; ++o)
    std::copy_n(sums + o * taps, taps,
                weights + ((at.output + o) * channels + at.channel) * w.taps() + at.ky * w.kernel[1] + at.kx);
}

// ---- one function for each number that a block may have -------------------------------------------

constexpr int most_outputs = 16;  // of a sum over taps
constexpr int most_rows = 4, most_taps = 5;

using SumOutputs = void (*)(const LaneSum&, std::int64_t, const float*, const float*, const float*, float*);
template <int... counts>
constexpr std::array<SumOutputs, sizeof...(counts)> all_sums(std::integer_sequence<int, counts...>) {
  return {sum_outputs<counts + 1>...};
}
constexpr auto sums_over_taps = all_sums(std::make_integer_sequence<int, most_outputs>());

using SumWindows = void (*)(const Windows&, std::int64_t, WeightBlock, const float*, const float*, float*);
template <int... numbers>
constexpr std::array<SumWindows, sizeof...(numbers)> all_windows(std::integer_sequence<int, numbers...>) {
  return {sum_windows<numbers / most_taps + 1, numbers % most_taps + 1>...};
}
constexpr auto sums_over_windows = all_windows(std::make_integer_sequence<int, most_rows * most_taps>());

// Calls f(first, count) for parts of `all` that are about equally long and at most `most`.
template <class F>
void each_part(std::int64_t all, std::int64_t most, F&& f) {
  const std::int64_t parts = (all + most - 1) / most;
  for (std::int64_t i = 0; i < parts; ++i) f(all * i / parts, all * (i + 1) / parts - all * i / parts);
}

}  // namespace

bool has_lane_loops() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

void to_lanes(const float* images, std::int64_t elements, float* lanes) {
  const std::int64_t whole = elements / image_lanes * image_lanes;
  for (std::int64_t e = 0; e < whole; e += image_lanes)
    turn(images + e, elements, lanes + e * image_lanes, image_lanes);
  for (std::int64_t e = whole; e < elements; ++e)
    for (std::int64_t k = 0; k < image_lanes; ++k) lanes[e * image_lanes + k] = images[k * elements + e];
}

void from_lanes(const float* lanes, std::int64_t elements, float* images) {
  const std::int64_t whole = elements / image_lanes * image_lanes;
  for (std::int64_t e = 0; e < whole; e += image_lanes)
    turn(lanes + e * image_lanes, image_lanes, images + e, elements);
  for (std::int64_t e = whole; e < elements; ++e)
    for (std::int64_t k = 0; k < image_lanes; ++k) images[k * elements + e] = lanes[e * image_lanes + k];
}

void lane_sum(const LaneSum& sum, const float* in, const float* weights, const float* start, float* out) {
  each_part(sum.outputs, most_outputs, [&](std::int64_t first, std::int64_t count) {
    sums_over_taps[static_cast<std::size_t>(count - 1)](sum, first, in, weights, start, out);
  });
}

void lane_weights(const Windows& w, std::int64_t channels, std::int64_t outputs, const float* x, const float* up,
                  float* weights) {
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t ky = 0; ky < w.kernel[0]; ++ky)
      each_part(w.kernel[1], most_taps, [&](std::int64_t kx, std::int64_t taps) {
        each_part(outputs, most_rows, [&](std::int64_t output, std::int64_t count) {
          const auto number = static_cast<std::size_t>((count - 1) * most_taps + taps - 1);
          sums_over_windows[number](w, channels, {output, c, ky, kx}, x, up, weights);
        });
      });
}

}  // namespace taskspec
