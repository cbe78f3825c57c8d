#include "stdlib/kernels/winograd_loops.hpp"

#include <algorithm>

#include "stdlib/kernels/lanes.hpp"

namespace taskspec {

namespace {

constexpr int places = 6, results = 4, taps = 3;  // along one axis

// ---- pixels by channels ---------------------------------------------------------------------------

// Pixels [from, from + 16) of a plane in a row of 16 planes, to places one after the other.
struct PixelRow {
  std::int64_t pixel, place, count;
};

// Calls f(row) for stretches of at most 16 pixels of the part that are side by side in both worlds.
template <class F>
void each_stretch(const ImagePart& part, F&& f) {
  const std::int64_t begin = std::max<std::int64_t>(part.first, 0);
  const std::int64_t end = std::min(part.first + part.rows, part.height);
  for (std::int64_t row = begin; row < end; ++row)
    for (std::int64_t column = 0; column < part.width; column += lane_width)
      f(PixelRow{row * part.width + column, (row - part.first) * part.line + part.before + column,
                 std::min<std::int64_t>(part.width - column, lane_width)});
}

// Of `count` pixels, or of as many as the row has, where that is 0.
template <int count>
[[WITH_LANES]] void channels_of(const ImagePart& part, const PixelRow& row, const float* image, float* to) {
  const std::int64_t plane = part.height * part.width, pixels = count ? count : row.count;
  for (std::int64_t c = 0; c < part.channels; c += lane_width) {
    const float* from = image + c * plane + row.pixel;
    float* at = to + row.place * part.channels + c;
    Lanes lanes[lane_width]{};
    for (int k = 0; k < lane_width; ++k)
      std::memcpy(&lanes[k], from + k * plane, sizeof(float) * static_cast<std::size_t>(pixels));
    turn(lanes);
    for (int k = 0; k < pixels; ++k) store(lanes[k], at + k * part.channels);
  }
}

template <int count>
[[WITH_LANES]] void planes_of(const ImagePart& part, const PixelRow& row, const float* from, float* image) {
  const std::int64_t plane = part.height * part.width, pixels = count ? count : row.count;
  for (std::int64_t c = 0; c < part.channels; c += lane_width) {
    const float* at = from + row.place * part.channels + c;
    float* to = image + c * plane + row.pixel;
    Lanes lanes[lane_width]{};
    for (int k = 0; k < pixels; ++k) lanes[k] = load(at + k * part.channels);
    turn(lanes);
    for (int k = 0; k < lane_width; ++k)
      std::memcpy(to + k * plane, &lanes[k], sizeof(float) * static_cast<std::size_t>(pixels));
  }
}

// ---- one axis of a tile ---------------------------------------------------------------------------

// B' x, with points 0, 1, -1, 2, -2 and infinity.
[[gnu::always_inline, WITH_LANES]] inline void of_pixels(const Lanes (&x)[places], Lanes (&to)[places]) {
  const Lanes a = x[4] - 4 * x[2], b = x[3] - 4 * x[1], c = x[4] - x[2], d = 2 * (x[3] - x[1]);
  to[0] = 4 * x[0] - 5 * x[2] + x[4];
  to[1] = a + b;
  to[2] = a - b;
  to[3] = c + d;
  to[4] = c - d;
  to[5] = 4 * x[1] - 5 * x[3] + x[5];
}

// A y
[[gnu::always_inline, WITH_LANES]] inline void of_results(const Lanes (&y)[results], Lanes (&to)[places]) {
  const Lanes a = y[0] + y[2], b = y[1] + y[3], c = y[0] + 4 * y[2], d = 2 * y[1] + 8 * y[3];
  to[0] = y[0];
  to[1] = a + b;
  to[2] = a - b;
  to[3] = c + d;
  to[4] = c - d;
  to[5] = y[3];
}

// A' m
[[gnu::always_inline, WITH_LANES]] inline void to_results(const Lanes (&m)[places], Lanes (&to)[results]) {
  const Lanes a = m[1] + m[2], b = m[1] - m[2], c = m[3] + m[4], d = m[3] - m[4];
  to[0] = m[0] + a + c;
  to[1] = b + 2 * d;
  to[2] = a + 4 * c;
  to[3] = b + 8 * d + m[5];
}

// G w
[[gnu::always_inline, WITH_LANES]] inline void of_weights(const Lanes (&w)[taps], Lanes (&to)[places]) {
  const Lanes ends = w[0] + w[2], far = w[0] + 4 * w[2];
  to[0] = 0.25F * w[0];
  to[1] = (-1.0F / 6) * (ends + w[1]);
  to[2] = (-1.0F / 6) * (ends - w[1]);
  to[3] = (1.0F / 24) * (far + 2 * w[1]);
  to[4] = (1.0F / 24) * (far - 2 * w[1]);
  to[5] = w[2];
}

// G' m
[[gnu::always_inline, WITH_LANES]] inline void to_weights(const Lanes (&m)[places], Lanes (&to)[taps]) {
  const Lanes near = (1.0F / 6) * (m[1] + m[2]), far = (1.0F / 24) * (m[3] + m[4]);
  to[0] = 0.25F * m[0] - near + far;
  to[1] = (1.0F / 6) * (m[2] - m[1]) + (1.0F / 12) * (m[3] - m[4]);
  to[2] = m[5] - near + 4 * far;
}

// Where the vectors of a tile lie: rows `line` apart, columns `column`.
template <class T>
struct Spread {
  T* at;
  std::int64_t line, column;
};

// Along both axes, from `from` x `from` vectors to `to` x `to`; those are `moved` by an offset.
template <int from, int to, void (*axis)(const Lanes (&)[from], Lanes (&)[to]), bool moved = false>
[[gnu::always_inline, WITH_LANES]] inline void both_axes(const Spread<const float>& in, const Spread<float>& out,
                                                         const float* offset = nullptr) {
  Lanes half[to][from];
#pragma GCC unroll 6
  for (int j = 0; j < from; ++j) {
    Lanes x[from], made[to];
#pragma GCC unroll 6
    for (int i = 0; i < from; ++i) x[i] = load(in.at + i * in.line + j * in.column);
    axis(x, made);
#pragma GCC unroll 6
    for (int i = 0; i < to; ++i) half[i][j] = made[i];
  }
  Lanes by{};
  if constexpr (moved) by = load(offset);
#pragma GCC unroll 6
  for (int i = 0; i < to; ++i) {
    Lanes made[to];
    axis(half[i], made);
#pragma GCC unroll 6
    for (int j = 0; j < to; ++j) store(moved ? made[j] + by : made[j], out.at + i * out.line + j * out.column);
  }
}

// ---- products -------------------------------------------------------------------------------------

// So many rows by so many vectors stay in registers. Rows of `left` are `row` apart, or `given` ones where that is 0.
template <int rows, int vectors, int row>
[[WITH_LANES]] void product_block(std::int64_t depth, const float* left, std::int64_t given, std::int64_t left_step,
                                  const float* right, std::int64_t columns, float* out, bool adds) {
  const std::int64_t apart = row ? row : given;
  Lanes sum[rows][vectors];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) sum[r][v] = adds ? load(out + r * columns + v * lane_width) : Lanes{};
  for (std::int64_t d = 0; d < depth; ++d) {
    Lanes factor[vectors];
    for (int v = 0; v < vectors; ++v) factor[v] = load(right + v * lane_width);
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) sum[r][v] += left[r * apart] * factor[v];
    left += left_step;
    right += columns;
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) store(sum[r][v], out + r * columns + v * lane_width);
}

// All blocks of a product; `row` as above.
template <int row>
void product_blocks(const PlaceProduct& p, const float* left, std::int64_t given, std::int64_t left_step,
                    const float* right, float* out, bool adds) {
  const std::int64_t apart = row ? row : given;
  std::int64_t k = 0;
  for (; k + 2 * lane_width <= p.columns; k += 2 * lane_width)
    for (std::int64_t r = 0; r < p.rows; r += 8)
      product_block<8, 2, row>(p.depth, left + r * apart, given, left_step, right + k, p.columns,
                               out + r * p.columns + k, adds);
  if (k < p.columns)
    for (std::int64_t r = 0; r < p.rows; r += 16)
      product_block<16, 1, row>(p.depth, left + r * apart, given, left_step, right + k, p.columns,
                                out + r * p.columns + k, adds);
}

}  // namespace

bool has_winograd_loops() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

void channels_last(const ImagePart& part, const float* image, float* to) {
  const std::int64_t behind = part.before + part.width;
  for (std::int64_t row = 0; row < part.rows; ++row) {
    float* line = to + row * part.line * part.channels;
    const bool outside = part.first + row < 0 || part.first + row >= part.height;
    std::fill_n(line, (outside ? part.line : part.before) * part.channels, 0.0F);
    if (!outside) std::fill_n(line + behind * part.channels, (part.line - behind) * part.channels, 0.0F);
  }
  each_stretch(part, [&](const PixelRow& row) {
    row.count == 16  ? channels_of<16>(part, row, image, to)
    : row.count == 8 ? channels_of<8>(part, row, image, to)
                     : channels_of<0>(part, row, image, to);
  });
}

void channels_first(const ImagePart& part, const float* from, float* image) {
  each_stretch(part, [&](const PixelRow& row) {
    row.count == 16  ? planes_of<16>(part, row, from, image)
    : row.count == 8 ? planes_of<8>(part, row, from, image)
                     : planes_of<0>(part, row, from, image);
  });
}

[[WITH_LANES]] void pixels_to_places(const Tiles& tiles, const float* pixels, float* to, std::int64_t step) {
  const std::int64_t channels = tiles.channels, line = tiles.line * channels;
  for (std::int64_t i = 0; i < tiles.down; ++i)
    for (std::int64_t j = 0; j < tiles.right; ++j, to += channels)
      for (std::int64_t c = 0; c < channels; c += lane_width)
        both_axes<places, places, of_pixels>({pixels + winograd_tile * (i * line + j * channels) + c, line, channels},
                                             {to + c, places * step, step});
}

[[WITH_LANES]] void results_to_places(const Tiles& tiles, const float* given, float* to, std::int64_t step) {
  const std::int64_t channels = tiles.channels, line = tiles.line * channels;
  for (std::int64_t i = 0; i < tiles.down; ++i)
    for (std::int64_t j = 0; j < tiles.right; ++j, to += channels)
      for (std::int64_t c = 0; c < channels; c += lane_width)
        both_axes<results, places, of_results>({given + winograd_tile * (i * line + j * channels) + c, line, channels},
                                               {to + c, places * step, step});
}

[[WITH_LANES]] void places_to_results(const Tiles& tiles, const float* from, std::int64_t step, const float* bias,
                                      float* made) {
  const std::int64_t channels = tiles.channels, line = tiles.line * channels;
  for (std::int64_t i = 0; i < tiles.down; ++i)
    for (std::int64_t j = 0; j < tiles.right; ++j, from += channels)
      for (std::int64_t c = 0; c < channels; c += lane_width) {
        const Spread<const float> in{from + c, places * step, step};
        const Spread<float> out{made + winograd_tile * (i * line + j * channels) + c, line, channels};
        bias ? both_axes<places, results, to_results, true>(in, out, bias + c)
             : both_axes<places, results, to_results>(in, out);
      }
}

[[WITH_LANES]] void weights_to_places(std::int64_t outputs, std::int64_t channels, bool turned, const float* weights,
                                      float* spare, float* to) {
  const std::int64_t depth = channels * taps * taps, all = outputs * channels;
  for (std::int64_t o = 0; o < outputs; o += lane_width)  // [channels, taps, outputs]
    for (std::int64_t d = 0; d < depth; d += lane_width)
      turn(weights + o * depth + d, depth, spare + d * outputs + o, outputs);
  float* made = turned ? spare + all * taps * taps : to;
  const std::int64_t tap = turned ? -outputs : outputs, first = turned ? (taps * taps - 1) * outputs : 0;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t o = 0; o < outputs; o += lane_width)
      both_axes<taps, places, of_weights>({spare + c * taps * taps * outputs + first + o, taps * tap, tap},
                                          {made + c * outputs + o, places * all, all});
  if (!turned) return;
  for (std::int64_t place = 0; place < winograd_places; ++place)
    for (std::int64_t c = 0; c < channels; c += lane_width)
      for (std::int64_t o = 0; o < outputs; o += lane_width)
        turn(made + place * all + c * outputs + o, outputs, to + place * all + o * channels + c, channels);
}

[[WITH_LANES]] void places_to_weights(std::int64_t outputs, std::int64_t channels, const float* from, float* weights) {
  const std::int64_t all = outputs * channels, depth = channels * taps * taps;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t o = 0; o < outputs; o += lane_width) {
      Lanes made[lane_width]{};  // taps, outputs in their lanes
      both_axes<places, taps, to_weights>({from + c * outputs + o, places * all, all},
                                          {reinterpret_cast<float*>(made), taps * lane_width, lane_width});
      turn(made);
      for (int k = 0; k < lane_width; ++k)
        std::memcpy(weights + (o + k) * depth + c * taps * taps, &made[k], sizeof(float) * taps * taps);
    }
}

void place_product(const PlaceProduct& p, const float* left, const float* right, float* out) {
  switch (p.depth) {  // that of rows in the array of tiles
    case 16:
      return product_blocks<16>(p, left, 0, 1, right, out, false);
    case 32:
      return product_blocks<32>(p, left, 0, 1, right, out, false);
    case 64:
      return product_blocks<64>(p, left, 0, 1, right, out, false);
    default:
      return product_blocks<0>(p, left, p.depth, 1, right, out, false);
  }
}

void add_turned_product(const PlaceProduct& p, const float* left, const float* right, float* out) {
  product_blocks<1>(p, left, 0, p.rows, right, out, true);
}

}  // namespace taskspec
