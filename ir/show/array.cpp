#include "ir/show/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "ir/show/array_parts.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

namespace {

// ---- pictures

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

// ---- plots

constexpr int plot_rows = 8;

void trim(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

// The scale at the left of a row: its ends stand beside the first and the last one.
class Scale {
 public:
  explicit Scale(const Plot& plot)
      : high_(short_number(plot.top)), low_(short_number(plot.bottom)), margin_(std::max(high_.size(), low_.size())) {}
  std::string beside(int row) const {
    return fmt::format("{:>{}} ┤", row == plot_rows - 1 ? high_ : row == 0 ? low_ : "", margin_);
  }
  std::size_t width() const { return margin_ + 2; }

 private:
  std::string high_, low_;
  std::size_t margin_;
};

// A first guess at the plot gives the scale, and that leaves the room.
Plot fitted_plot(const Array& array, ShowKind kind, Drawing drawing, int columns, int per_column) {
  Plot guess = plot_of(array, kind, drawing, columns * per_column);
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto room = std::max<std::int64_t>(columns - static_cast<std::int64_t>(Scale(guess).width()), 4);
    if (static_cast<std::int64_t>(guess.values.size()) <= room * per_column) break;
    guess = plot_of(array, kind, drawing, room * per_column);
  }
  return guess;
}

std::string bar_plot(const Array& array, ShowKind kind, int columns) {
  constexpr int eighths = 8;
  constexpr std::array<std::string_view, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  Plot plot = fitted_plot(array, kind, Drawing::bars, columns, 1);
  Scale scale(plot);
  auto room = std::max<std::int64_t>(columns - static_cast<std::int64_t>(scale.width()), 4);
  std::int64_t width = std::clamp<std::int64_t>(room / static_cast<std::int64_t>(plot.values.size()), 1, 4);
  std::string out;
  for (int row = plot_rows - 1; row >= 0; --row) {
    out += scale.beside(row);
    for (double v : plot.values) {
      auto filled = std::lround(part_of(plot, v) * plot_rows * eighths);
      auto here = static_cast<std::size_t>(std::clamp<long>(filled - row * eighths, 0, eighths));
      for (std::int64_t i = 0; i < width; ++i) out += blocks[here];
    }
    trim(out);
    out += '\n';
  }
  if (plot.left.empty()) return out;
  // The values at the two ends of a histogram, as far apart as its bars reach.
  std::size_t reach = plot.values.size() * static_cast<std::size_t>(width);
  std::string ends = plot.left == plot.right ? plot.left : fmt::format("{} .. {}", plot.left, plot.right);
  if (plot.left != plot.right && ends.size() < reach)
    ends = fmt::format("{}{:>{}}", plot.left, plot.right, reach - plot.left.size());
  std::string line = std::string(scale.width(), ' ') + ends;
  return out + line.substr(0, static_cast<std::size_t>(columns)) + "\n";
}

// Dots of a line, two across and four down in each character.
class Dots {
 public:
  explicit Dots(std::size_t columns) : columns_(columns), cells_(columns * plot_rows, 0) {}
  static constexpr int rows = plot_rows * 4;
  void set(std::size_t x, int y) {  // y counts from the bottom
    constexpr unsigned char bits[4][2] = {{0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}};
    cells_[static_cast<std::size_t>(y / 4) * columns_ + x / 2] |= bits[y % 4][x % 2];
  }
  std::string row(int row) const {
    std::string out;
    for (std::size_t c = 0; c < columns_; ++c) {
      unsigned char cell = cells_[static_cast<std::size_t>(row) * columns_ + c];
      if (cell == 0) {
        out += ' ';
        continue;
      }
      out += {'\xE2', static_cast<char>(0xA0 + (cell >> 6)), static_cast<char>(0x80 + (cell & 0x3F))};  // U+2800 + cell
    }
    trim(out);
    return out;
  }

 private:
  std::size_t columns_;
  std::vector<unsigned char> cells_;
};

std::string line_plot(const Array& array, int columns) {
  Plot plot = fitted_plot(array, ShowKind::line, Drawing::line, columns, 2);
  Scale scale(plot);
  auto room = static_cast<std::size_t>(std::max(columns - static_cast<int>(scale.width()), 4));
  std::size_t count = plot.values.size(), across = std::min(room * 2, std::max<std::size_t>(count, 2));
  if (count < room) across = room * 2;  // few points: straight lines between them
  Dots dots((across + 1) / 2);
  double last = std::nan("");
  for (std::size_t x = 0; x < across; ++x) {
    double at = across == 1 ? 0 : static_cast<double>(x * (count - 1)) / static_cast<double>(across - 1);
    auto i = static_cast<std::size_t>(at);
    double v = plot.values[i], next = plot.values[std::min(i + 1, count - 1)], share = at - static_cast<double>(i);
    if (share > 0)
      v = part_of(plot, v) * (1 - share) + part_of(plot, next) * share;
    else
      v = part_of(plot, v);
    if (!std::isfinite(plot.values[i]) || (share > 0 && !std::isfinite(next))) v = std::nan("");
    if (std::isfinite(v)) {
      auto dot = [](double part) { return static_cast<int>(std::lround(part * (Dots::rows - 1))); };
      int here = dot(v), before = std::isfinite(last) ? dot(last) : here;
      // The way from the point before is filled, but for its own place.
      for (int y = std::min(here, before + 1); y <= std::max(here, before - 1); ++y) dots.set(x, y);
      dots.set(x, here);
    }
    last = v;
  }
  std::string out;
  for (int row = plot_rows - 1; row >= 0; --row) {
    std::string line = scale.beside(row) + dots.row(row);
    trim(line);
    out += line + "\n";
  }
  return out;
}

}  // namespace

std::string show_text(const Array& array, const ShowOptions& options) {
  constexpr int widest_picture = 100;  // on a wide terminal it would not fit the height
  int columns = std::clamp(options.columns, 16, 1000);
  if (array.extents().empty() && options.kind == ShowKind::automatic) return print(Value(array)) + "\n";
  std::string title = summary(array) + "\n";
  switch (drawing_of(array, options.kind)) {
    case Drawing::words:
      return title;
    case Drawing::bars:
      return title + bar_plot(array, options.kind, columns);
    case Drawing::line:
      return title + line_plot(array, columns);
    case Drawing::picture:
      break;
  }
  columns = std::min(columns, widest_picture);
  return title + (options.colour ? coloured(thumbnail(array, columns, 1)) : shaded(thumbnail(array, columns, 2)));
}

}  // namespace taskspec
