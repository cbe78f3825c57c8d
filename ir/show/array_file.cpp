// What `show(x, "x.svg")` and `show(x, "x.png")` write.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/show/array_parts.hpp"
#include "ir/show/svg.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

namespace {

constexpr int wide = 640, high = 320, left = 70, below = 34, above = 34, right = 16;  // of a plot
constexpr int most_points = 2 * (wide - left - right);

constexpr std::string_view plot_style = R"(
svg { color-scheme: light dark; --paper: #ffffff; --ink: #1c2330; --faint: #6b7485; --mark: #3a6fd8; }
@media (prefers-color-scheme: dark) { svg { --paper: #12161f; --ink: #e4e8f0; --faint: #96a0b5; --mark: #7aa5ff; } }
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #1c2330; fill: var(--ink); }
.paper { fill: var(--paper); }
.axis { stroke: #6b7485; stroke: var(--faint); fill: none; }
.bar { fill: #3a6fd8; fill: var(--mark); }
.line { stroke: #3a6fd8; stroke: var(--mark); stroke-width: 1.5; fill: none; stroke-linejoin: round; }
)";

std::string opened(int width, int height, const Array& array) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<title>{2}</title>\n<style>{3}</style>\n<rect class=\"paper\" fill=\"#ffffff\" width=\"100%\" "
      "height=\"100%\"/>\n",
      width, height, xml_text(summary(array)), plot_style);
}

std::string words(int x, int y, const std::string& text, bool end = false) {
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", x, y, end ? " text-anchor=\"end\"" : "", xml_text(text));
}

double x_of(std::size_t i, std::size_t count) {
  return left + (wide - left - right) * static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(count, 1));
}
double y_of(const Plot& plot, double value) { return above + (high - above - below) * (1 - part_of(plot, value)); }

std::string plot_svg(const Array& array, ShowKind kind, Drawing drawing) {
  Plot plot = plot_of(array, kind, drawing, most_points / (drawing == Drawing::bars ? 4 : 1));
  std::size_t count = plot.values.size();
  std::string out = opened(wide, high, array) + words(left, 20, summary(array));
  out += fmt::format("<path class=\"axis\" stroke=\"#6b7485\" d=\"M{0} {1}V{2}H{3}\"/>\n", left, above, high - below,
                     wide - right);
  out += words(left - 8, above + 10, short_number(plot.top), true);
  out += words(left - 8, high - below, short_number(plot.bottom), true);
  out += words(left, high - below + 18, plot.left.empty() ? "0" : plot.left);
  out += words(wide - right, high - below + 18, plot.right.empty() ? std::to_string(array.elements() - 1) : plot.right,
               true);
  if (drawing == Drawing::bars) {
    double room = (wide - left - right) / static_cast<double>(count), gap = room > 4 ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      double y = y_of(plot, plot.values[i]);
      out += fmt::format("<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                         x_of(i, count), y, room - gap, high - below - y);
    }
    return out + "</svg>\n";
  }
  out += "<path class=\"line\" fill=\"none\" stroke=\"#3a6fd8\" d=\"";
  bool pen = false;
  for (std::size_t i = 0; i < count; ++i) {
    bool there = std::isfinite(plot.values[i]);
    if (there) out += fmt::format("{}{:.1f} {:.1f}", pen ? 'L' : 'M', x_of(i, count - 1), y_of(plot, plot.values[i]));
    pen = there;
  }
  return out + "\"/>\n</svg>\n";
}

std::array<int, 3> bytes_of(const Pixel& pixel) {
  std::array<int, 3> bytes{};
  for (std::size_t c = 0; c < 3; ++c) bytes[c] = static_cast<int>(std::lround(pixel[c] * 255));
  return bytes;
}

// Neighbours of one colour in a row become one rectangle.
std::string picture_svg(const Array& array) {
  constexpr int most = 256, least = 256;
  Thumbnail picture = thumbnail(array, most, 1);
  auto width = static_cast<int>(picture.width()), height = static_cast<int>(picture.height());
  int factor = std::max(1, least / std::max(width, height));
  std::string out = opened(width * factor, height * factor, array);
  out += fmt::format("<g transform=\"scale({})\" shape-rendering=\"crispEdges\">\n", factor);
  for (int y = 0; y < height; ++y)
    for (int x = 0, end = 0; x < width; x = end) {
      std::array<int, 3> c = bytes_of(picture.at(y, x));
      for (end = x + 1; end < width && bytes_of(picture.at(y, end)) == c;) ++end;
      out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"1\" fill=\"#{:02x}{:02x}{:02x}\"/>\n", x, y,
                         end - x, c[0], c[1], c[2]);
    }
  return out + "</g>\n</svg>\n";
}

// A white sheet to draw on.
class Canvas {
 public:
  Canvas(std::int64_t height, std::int64_t width)
      : array_(Array::make({Precision::u8, {height, width, 3}})), width_(width) {
    std::fill(array_.data<std::uint8_t>().begin(), array_.data<std::uint8_t>().end(), std::uint8_t{255});
  }
  void set(std::int64_t x, std::int64_t y, const std::array<int, 3>& colour) {
    for (std::size_t c = 0; c < 3; ++c)
      array_.data<std::uint8_t>()[static_cast<std::size_t>((y * width_ + x) * 3) + c] =
          static_cast<std::uint8_t>(colour[c]);
  }
  void column(std::int64_t x, double from, double to, const std::array<int, 3>& colour) {
    for (auto y = std::lround(std::min(from, to)); y <= std::lround(std::max(from, to)); ++y) set(x, y, colour);
  }
  Array take() { return std::move(array_); }

 private:
  Array array_;
  std::int64_t width_;
};

Array plot_pixels(const Array& array, ShowKind kind, Drawing drawing) {
  constexpr std::array<int, 3> ink{58, 111, 216}, axis{107, 116, 133};
  Plot plot = plot_of(array, kind, drawing, wide - left - right);
  Canvas canvas(high, wide);
  std::size_t count = plot.values.size();
  double last = std::nan("");
  for (int x = left; x < wide - right; ++x) {
    auto i =
        static_cast<std::size_t>(static_cast<double>(x - left) / (wide - left - right) * static_cast<double>(count));
    double y = y_of(plot, plot.values[std::min(i, count - 1)]);
    if (!std::isfinite(plot.values[std::min(i, count - 1)])) y = std::nan("");
    if (std::isfinite(y))
      canvas.column(x, drawing == Drawing::bars ? high - below : std::isfinite(last) ? last : y, y, ink);
    last = y;
  }
  canvas.column(left, above, high - below, axis);
  for (int x = left; x < wide - right; ++x) canvas.set(x, high - below, axis);
  return canvas.take();
}

Array picture_pixels(const Array& array) {
  constexpr std::int64_t most = 4096, least = 256;
  PictureShape shape = picture_shape(array);
  Thumbnail picture =
      thumbnail(array, static_cast<int>(std::min<std::int64_t>(most, std::max(shape.width, shape.height))), 1);
  std::int64_t factor = std::max<std::int64_t>(1, least / std::max(picture.width(), picture.height()));
  Canvas canvas(picture.height() * factor, picture.width() * factor);
  for (std::int64_t y = 0; y < picture.height(); ++y)
    for (std::int64_t x = 0; x < picture.width(); ++x) {
      std::array<int, 3> colour = bytes_of(picture.at(y, x));
      for (std::int64_t k = 0; k < factor * factor; ++k)
        canvas.set(x * factor + k % factor, y * factor + k / factor, colour);
    }
  return canvas.take();
}

Error nothing_to_draw(const Array& array) {
  return failure(
      "E5004", {},
      fmt::format("there is nothing to draw of {}; show(x, kind: \"histogram\") takes any shape", array.type().text()));
}

}  // namespace

std::string show_svg(const Array& array, ShowKind kind) {
  Drawing drawing = drawing_of(array, kind);
  if (drawing == Drawing::words) throw nothing_to_draw(array);
  return drawing == Drawing::picture ? picture_svg(array) : plot_svg(array, kind, drawing);
}

Array show_pixels(const Array& array, ShowKind kind) {
  Drawing drawing = drawing_of(array, kind);
  if (drawing == Drawing::words) throw nothing_to_draw(array);
  return drawing == Drawing::picture ? picture_pixels(array) : plot_pixels(array, kind, drawing);
}

}  // namespace taskspec
