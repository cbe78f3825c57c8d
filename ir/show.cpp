#include "ir/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "ir/value.hpp"

namespace taskspec {

namespace {

struct Statistics {
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum, sum = 0;
  std::int64_t finite = 0;
};

Statistics statistics(const Array& array) {
  Statistics s;
  for (std::int64_t i = 0, n = array.elements(); i < n; ++i) {
    double v = array.number(i);
    if (!std::isfinite(v)) continue;
    s.minimum = std::min(s.minimum, v);
    s.maximum = std::max(s.maximum, v);
    s.sum += v;
    ++s.finite;
  }
  return s;
}

std::string short_number(double v) { return fmt::format("{:.4g}", v); }

std::string summary(const Array& array) {
  if (array.elements() == 0) return array.type().text() + ": empty";
  Statistics s = statistics(array);
  if (s.finite == 0) return array.type().text() + ": nothing finite";
  return fmt::format("{}: min {}, max {}, mean {}", array.type().text(), short_number(s.minimum),
                     short_number(s.maximum), short_number(s.sum / static_cast<double>(s.finite)));
}

// ---- pictures

struct Size {
  std::int64_t height = 0, width = 0, channels = 0;
};

Size picture_size(const Array& array) {
  const Extents& e = array.extents();
  if (e.size() == 2) return {e[0], e[1], 1};
  if (e.size() == 3 && (e[2] == 1 || e[2] == 3 || e[2] == 4)) return {e[0], e[1], e[2]};
  return {};
}

// The values that mean black and white: those of the type where it is one of pictures, 0 and 1 for
// floats that lie there, else the smallest and the largest.
struct Brightness {
  double black, white;
};

Brightness brightness(const Array& array) {
  Precision p = array.precision();
  if (p == Precision::boolean || p == Precision::u8 || p == Precision::u16)
    return {0, static_cast<double>(info(p).maximum)};
  Statistics s = statistics(array);
  if (s.finite == 0) return {0, 1};
  if (is_float(p) && s.minimum >= 0 && s.maximum <= 1) return {0, 1};
  return {s.minimum, s.maximum > s.minimum ? s.maximum : s.minimum + 1};
}

using Pixel = std::array<double, 3>;  // red, green, blue from 0 to 1

// An array seen as a picture, scaled down by the mean over boxes.
class Thumbnail {
 public:
  Thumbnail(const Array& array, Size from, std::int64_t height, std::int64_t width)
      : array_(array), from_(from), range_(brightness(array)), height_(height), width_(width) {}

  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }

  Pixel at(std::int64_t y, std::int64_t x) const {
    Pixel sum{};
    std::int64_t y0 = y * from_.height / height_, y1 = (y + 1) * from_.height / height_;
    std::int64_t x0 = x * from_.width / width_, x1 = (x + 1) * from_.width / width_;
    for (std::int64_t sy = y0; sy < y1; ++sy)
      for (std::int64_t sx = x0; sx < x1; ++sx) add(sum, (sy * from_.width + sx) * from_.channels);
    for (double& c : sum) c /= static_cast<double>((y1 - y0) * (x1 - x0));
    return sum;
  }

 private:
  double channel(std::int64_t position) const {
    double v = (array_.number(position) - range_.black) / (range_.white - range_.black);
    return v > 0 ? std::min(v, 1.0) : 0;  // nan is black
  }
  void add(Pixel& sum, std::int64_t position) const {
    double opaque = from_.channels == 4 ? channel(position + 3) : 1;
    for (std::int64_t c = 0; c < 3; ++c)
      sum[static_cast<std::size_t>(c)] += opaque * channel(position + (from_.channels >= 3 ? c : 0));
  }

  const Array& array_;
  Size from_;
  Brightness range_;
  std::int64_t height_, width_;
};

// Scaled down, never up, to at most `columns` pixels each way. `aspect` is the height of a cell over its width.
Thumbnail thumbnail(const Array& array, Size size, int columns, int aspect) {
  double scale = std::min(1.0, columns / static_cast<double>(std::max(size.width, size.height)));
  auto cells = [scale](std::int64_t extent, int each) {
    return std::max<std::int64_t>(std::lround(static_cast<double>(extent) * scale / each), 1);
  };
  return Thumbnail(array, size, cells(size.height, aspect), cells(size.width, 1));
}

std::string shaded(const Thumbnail& picture) {
  constexpr std::string_view shades = " .:-=+*#%@";
  std::string out;
  for (std::int64_t y = 0; y < picture.height(); ++y) {
    for (std::int64_t x = 0; x < picture.width(); ++x) {
      Pixel p = picture.at(y, x);
      double light = (299 * p[0] + 587 * p[1] + 114 * p[2]) / 1000;  // so that grey stays exactly itself
      out += shades[std::min(static_cast<std::size_t>(light * shades.size()), shades.size() - 1)];
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string colour_code(int layer, Pixel p) {
  auto byte = [](double v) { return static_cast<int>(std::lround(v * 255)); };
  return fmt::format("\x1b[{};2;{};{};{}m", layer, byte(p[0]), byte(p[1]), byte(p[2]));
}

// One character shows two pixels: its upper half in the letter's colour, its lower half in the ground's.
std::string coloured(const Thumbnail& picture) {
  constexpr int letter = 38, ground = 48;
  std::string out;
  for (std::int64_t y = 0; y < picture.height(); y += 2) {
    std::string last;
    for (std::int64_t x = 0; x < picture.width(); ++x) {
      std::string code = colour_code(letter, picture.at(y, x));
      if (y + 1 < picture.height()) code += colour_code(ground, picture.at(y + 1, x));
      if (code != last) out += code;
      last = std::move(code);
      out += "▀";
    }
    out += "\x1b[0m\n";
  }
  return out;
}

// ---- bars

// At most `columns` bars: where there are more elements, each bar is the mean of its share.
std::vector<double> bars_of(const Array& array, std::int64_t columns) {
  std::int64_t n = array.elements(), bars = std::min(n, columns);
  std::vector<double> result;
  for (std::int64_t bar = 0; bar < bars; ++bar) {
    double sum = 0;
    std::int64_t begin = bar * n / bars, end = (bar + 1) * n / bars, finite = 0;
    for (std::int64_t i = begin; i < end; ++i)
      if (double v = array.number(i); std::isfinite(v)) sum += v, ++finite;
    result.push_back(finite > 0 ? sum / static_cast<double>(finite) : 0);
  }
  return result;
}

// Bars stand on zero, or on the smallest where there are negative ones; both ends of the scale stand at the left.
std::string bar_plot(const Array& array, int columns) {
  constexpr int height = 8;
  constexpr int eighths = 8;
  constexpr std::array<std::string_view, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  Statistics s = statistics(array);
  double bottom = std::min(0.0, s.minimum), top = std::max(0.0, s.maximum);
  if (top == bottom) top = 1;
  std::string high = short_number(top), low = short_number(bottom);
  auto margin = std::max(high.size(), low.size());
  auto room = std::max<std::int64_t>(columns - static_cast<std::int64_t>(margin) - 2, 4);
  std::vector<double> bars = bars_of(array, room);
  std::int64_t width = std::clamp<std::int64_t>(room / static_cast<std::int64_t>(bars.size()), 1, 4);
  std::string out;
  for (int row = height - 1; row >= 0; --row) {
    out += fmt::format("{:>{}} ┤", row == height - 1 ? high : row == 0 ? low : "", margin);
    for (double v : bars) {
      double part = (v / 2 - bottom / 2) / (top / 2 - bottom / 2);  // halves: the difference may overflow
      auto filled = std::lround(std::clamp(part, 0.0, 1.0) * height * eighths);
      auto here = static_cast<std::size_t>(std::clamp<long>(filled - row * eighths, 0, eighths));
      for (std::int64_t i = 0; i < width; ++i) out += blocks[here];
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

}  // namespace

std::string show_text(const Array& array, int columns, bool colour) {
  columns = std::clamp(columns, 16, 1000);
  if (array.extents().empty()) return print(Value(array)) + "\n";
  std::string title = summary(array) + "\n";
  if (array.elements() == 0 || statistics(array).finite == 0) return title;
  if (array.extents().size() == 1) return title + bar_plot(array, columns);
  Size size = picture_size(array);
  if (size.channels == 0) return title;
  if (colour) return title + coloured(thumbnail(array, size, columns, 1));
  return title + shaded(thumbnail(array, size, columns, 2));
}

}  // namespace taskspec
