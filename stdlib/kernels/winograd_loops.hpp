// The loops of convolutions with windows of 3 x 3 in Winograd's form F(4x4, 3x3): a tile of 4 x 4 results is made of 36
// products where sums over taps take 144. Sixteen channels lie side by side in the lanes of a vector.
//
//   y = A' [(G w G') * (B' x B)] A        x: 6 x 6 pixels, y: 4 x 4 results, w: 3 x 3 weights, * element by element
//   dw = G' [(B' x B) * (A dy A')] G      summed over tiles
//
// Arrays of tiles are [36, tiles, channels]; `step` is from one of the 36 to the next, in elements. Compiled apart,
// since they may contract a * b + c as all products may.
#pragma once
#include <cstdint>

namespace taskspec {

inline constexpr std::int64_t winograd_tile = 4, winograd_places = 36;

bool has_winograd_loops();  // whether this processor has vectors of sixteen floats

// Part of an image: `rows` x `columns` pixels of [channels, height, width], from row `first` on, as [row, column,
// channel] with `before` zeros around and `line` pixels in a row. Rows and columns outside of the image are zeros.
struct ImagePart {
  std::int64_t channels = 0, height = 0, width = 0;
  std::int64_t first = 0, rows = 0, line = 0, before = 0;  // first may be negative
};
void channels_last(const ImagePart& part, const float* image, float* to);
// Back, those that are inside of the image; without zeros around.
void channels_first(const ImagePart& part, const float* from, float* image);

// Tiles side by side, and below one another, of an array [row, column, channel] with `line` columns.
struct Tiles {
  std::int64_t down = 0, right = 0, channels = 0, line = 0;
};
// B' x B: tile (i, j) reads 6 x 6 pixels from (4i, 4j) on.
void pixels_to_places(const Tiles& tiles, const float* pixels, float* places, std::int64_t step);
// A dy A': it reads 4 x 4 from there on.
void results_to_places(const Tiles& tiles, const float* results, float* places, std::int64_t step);
// A' m A, and the bias of each channel, unless it is null.
void places_to_results(const Tiles& tiles, const float* places, std::int64_t step, const float* bias, float* results);

// Weights [outputs, channels, 3, 3] as G w G', an array [36, channels, outputs]; turned ones as [36, outputs, channels]
// of windows upside down. `spare` has room for 9 * outputs * channels, for turned ones for as many more as the result.
void weights_to_places(std::int64_t outputs, std::int64_t channels, bool turned, const float* weights, float* spare,
                       float* places);
// G' m G of an array [36, channels, outputs].
void places_to_weights(std::int64_t outputs, std::int64_t channels, const float* places, float* weights);

// out[r, k] = sum over d of left[r, d] right[d, k]; k is a multiple of sixteen, and so is r.
struct PlaceProduct {
  std::int64_t rows = 0, depth = 0, columns = 0;
};
void place_product(const PlaceProduct& product, const float* left, const float* right, float* out);
// The same of left[d, r], added to out.
void add_turned_product(const PlaceProduct& product, const float* left, const float* right, float* out);

}  // namespace taskspec
