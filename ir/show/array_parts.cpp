#include "ir/show/array_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/base/diag.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

std::optional<ShowKind> show_kind_of(std::string_view name) {
  for (const ShowKindName& kind : show_kinds)
    if (kind.name == name) return kind.kind;
  return std::nullopt;
}

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

Drawing drawing_of(const Array& array, ShowKind kind) {
  constexpr std::int64_t most_bars = 32;  // more are easier to see as a line
  std::size_t rank = array.extents().size();
  auto refuse = [&](const char* what) {
    return failure("E5004", {}, fmt::format("{} cannot be drawn as {}", array.type().text(), what));
  };
  if (kind == ShowKind::picture && picture_shape(array).channels == 0) throw refuse("a picture");
  if ((kind == ShowKind::bars || kind == ShowKind::line) && rank != 1) throw refuse("a plot; that takes rank 1");
  if (array.elements() == 0 || statistics(array).finite == 0) return Drawing::words;
  switch (kind) {
    case ShowKind::picture:
      return Drawing::picture;
    case ShowKind::bars:
    case ShowKind::histogram:
      return Drawing::bars;
    case ShowKind::line:
      return Drawing::line;
    case ShowKind::automatic:
      break;
  }
  if (rank == 1) return array.elements() <= most_bars ? Drawing::bars : Drawing::line;
  return picture_shape(array).channels > 0 ? Drawing::picture : Drawing::words;
}

// ---- pictures

PictureShape picture_shape(const Array& array) {
  const Extents& e = array.extents();
  if (e.size() == 2) return {e[0], e[1], 1};
  if (e.size() != 3) return {};
  if (e[2] == 1 || e[2] == 3 || e[2] == 4) return {e[0], e[1], e[2]};
  if (e[0] == 1 || e[0] == 3) return {e[1], e[2], e[0], true};
  return {};
}

namespace {

Brightness brightness(const Array& array) {
  Precision p = array.precision();
  if (p == Precision::boolean || p == Precision::u8 || p == Precision::u16)
    return {0, static_cast<double>(info(p).maximum)};
  Statistics s = statistics(array);
  if (s.finite == 0) return {0, 1};
  if (is_float(p) && s.minimum >= 0 && s.maximum <= 1) return {0, 1};
  return {s.minimum, s.maximum > s.minimum ? s.maximum : s.minimum + 1};
}

}  // namespace

Thumbnail::Thumbnail(const Array& array, PictureShape from, std::int64_t height, std::int64_t width)
    : array_(array), from_(from), range_(brightness(array)), height_(height), width_(width) {}

Pixel Thumbnail::at(std::int64_t y, std::int64_t x) const {
  Pixel sum{};
  std::int64_t y0 = y * from_.height / height_, y1 = (y + 1) * from_.height / height_;
  std::int64_t x0 = x * from_.width / width_, x1 = (x + 1) * from_.width / width_;
  for (std::int64_t sy = y0; sy < y1; ++sy)
    for (std::int64_t sx = x0; sx < x1; ++sx) add(sum, sy * from_.width + sx);
  for (double& c : sum) c /= static_cast<double>((y1 - y0) * (x1 - x0));
  return sum;
}

double Thumbnail::channel(std::int64_t pixel, std::int64_t channel) const {
  std::int64_t position =
      from_.planes ? channel * from_.height * from_.width + pixel : pixel * from_.channels + channel;
  double v = (array_.number(position) - range_.black) / (range_.white - range_.black);
  return v > 0 ? std::min(v, 1.0) : 0;  // nan is black
}

void Thumbnail::add(Pixel& sum, std::int64_t pixel) const {
  double opaque = from_.channels == 4 ? channel(pixel, 3) : 1;
  for (std::int64_t c = 0; c < 3; ++c)
    sum[static_cast<std::size_t>(c)] += opaque * channel(pixel, from_.channels >= 3 ? c : 0);
}

Thumbnail thumbnail(const Array& array, int columns, int aspect) {
  PictureShape shape = picture_shape(array);
  double scale = std::min(1.0, columns / static_cast<double>(std::max(shape.width, shape.height)));
  auto cells = [scale](std::int64_t extent, int each) {
    return std::max<std::int64_t>(std::lround(static_cast<double>(extent) * scale / each), 1);
  };
  return Thumbnail(array, shape, cells(shape.height, aspect), cells(shape.width, 1));
}

// ---- plots

namespace {

std::vector<double> means_of(const Array& array, std::int64_t most, double of_none) {
  std::int64_t n = array.elements(), count = std::min(n, most);
  std::vector<double> result;
  for (std::int64_t k = 0; k < count; ++k) {
    double sum = 0;
    std::int64_t begin = k * n / count, end = (k + 1) * n / count, finite = 0;
    for (std::int64_t i = begin; i < end; ++i)
      if (double v = array.number(i); std::isfinite(v)) sum += v, ++finite;
    result.push_back(finite > 0 ? sum / static_cast<double>(finite) : of_none);
  }
  return result;
}

// Whole numbers that are few get a bin each; else there are about as many as the root of the elements.
Plot histogram_of(const Array& array, std::int64_t most) {
  Statistics s = statistics(array);
  double range = s.maximum / 2 - s.minimum / 2;  // halves: the difference may overflow
  bool whole = !is_float(array.precision()) && range * 2 + 1 <= static_cast<double>(most);
  auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(s.finite))));
  std::int64_t bins = whole        ? static_cast<std::int64_t>(range * 2) + 1
                      : range == 0 ? 1
                                   : std::min(std::clamp<std::int64_t>(root, 4, 64), most);
  Plot plot;
  plot.values.assign(static_cast<std::size_t>(bins), 0);
  for (std::int64_t i = 0, n = array.elements(); i < n; ++i) {
    double v = array.number(i);
    if (!std::isfinite(v)) continue;
    double place = range == 0 ? 0 : (v / 2 - s.minimum / 2) / range;
    double at = whole ? v - s.minimum : place * static_cast<double>(bins);
    ++plot.values[static_cast<std::size_t>(std::clamp<double>(at, 0, static_cast<double>(bins - 1)))];
  }
  plot.top = *std::max_element(plot.values.begin(), plot.values.end());
  plot.left = short_number(s.minimum);
  plot.right = short_number(s.maximum);
  return plot;
}

}  // namespace

Plot plot_of(const Array& array, ShowKind kind, Drawing drawing, std::int64_t most) {
  if (kind == ShowKind::histogram) return histogram_of(array, most);
  Statistics s = statistics(array);
  Plot plot;
  bool line = drawing == Drawing::line;
  plot.values = means_of(array, most, line ? std::numeric_limits<double>::quiet_NaN() : 0);
  // Bars stand on zero, or on the smallest where there are negative ones.
  plot.bottom = line ? s.minimum : std::min(0.0, s.minimum);
  plot.top = line ? s.maximum : std::max(0.0, s.maximum);
  if (plot.top == plot.bottom) plot.top = plot.bottom + 1;
  return plot;
}

double part_of(const Plot& plot, double value) {
  double part = (value / 2 - plot.bottom / 2) / (plot.top / 2 - plot.bottom / 2);  // the difference may overflow
  return std::clamp(part, 0.0, 1.0);
}

}  // namespace taskspec
