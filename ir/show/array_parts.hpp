// What drawing an array in a terminal and into a file have in common: its range, its pixels, its points.
// Shared by ir/show/array*.cpp; a prompt takes its statistics.
#pragma once
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "ir/show/array.hpp"

namespace taskspec {

struct Statistics {  // of the finite elements
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum, sum = 0;
  std::int64_t finite = 0;
};
Statistics statistics(const Array& array);

std::string short_number(double v);
std::string summary(const Array& array);  // "f32[4]: min 0, max 3, mean 1.5"

// What is drawn; automatic is settled by the shape. E5004 when the array cannot be drawn so.
enum class Drawing : std::uint8_t { words, picture, bars, line };
Drawing drawing_of(const Array& array, ShowKind kind);

// ---- pictures

struct PictureShape {
  std::int64_t height = 0, width = 0, channels = 0;
  bool planes = false;  // [C, H, W]
};
PictureShape picture_shape(const Array& array);  // no channels: it is none

using Pixel = std::array<double, 3>;  // red, green, blue from 0 to 1

// The values that mean black and white: those of the type where it is one of pictures, 0 and 1 for
// floats that lie there, else the smallest and the largest.
struct Brightness {
  double black, white;
};

// An array seen as a picture, scaled down by the mean over boxes.
class Thumbnail {
 public:
  Thumbnail(const Array& array, PictureShape from, std::int64_t height, std::int64_t width);
  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }
  Pixel at(std::int64_t y, std::int64_t x) const;

 private:
  double channel(std::int64_t pixel, std::int64_t channel) const;
  void add(Pixel& sum, std::int64_t pixel) const;

  const Array& array_;
  PictureShape from_;
  Brightness range_;
  std::int64_t height_, width_;
};

// Scaled down, never up, to at most `columns` pixels each way. `aspect` is the height of a cell over its width.
Thumbnail thumbnail(const Array& array, int columns, int aspect);

// ---- plots

// The heights of bars, or a line: at most `most` of them, each the mean of its share of the elements.
struct Plot {
  std::vector<double> values;  // nan: a gap
  double bottom = 0, top = 1;
  std::string left, right;  // of a histogram: the first and the last value
};
Plot plot_of(const Array& array, ShowKind kind, Drawing drawing, std::int64_t most);

// Where a value stands between bottom and top, from 0 to 1.
double part_of(const Plot& plot, double value);

}  // namespace taskspec
