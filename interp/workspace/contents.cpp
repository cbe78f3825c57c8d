#include "interp/workspace/contents.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ir/show/array_parts.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t most_elements = 256, most_lines = 24;

// With the digits that read back equal in the array's own precision: 0.1 in f32 is 0.1 here.
std::string element_text(const Array& array, std::int64_t position) {
  const Precision precision = array.precision();
  if (precision == Precision::boolean) return array.integer(position) != 0 ? "true" : "false";
  if (precision == Precision::f64) return print(array.number(position));
  if (is_float(precision)) {
    const auto x = static_cast<float>(array.number(position));
    return std::isnan(x) ? "nan" : fmt::format("{}", x);  // whose sign says nothing
  }
  return array.integer_text(position);
}

// Rows of the last axis one below the other; `corner` shows the first `corner` entries of each axis only.
class Rows {
 public:
  Rows(const Array& array, std::int64_t corner) : array_(array), corner_(corner) {}

  std::string text() {
    write(0, 0, 0);
    return std::move(text_);
  }

 private:
  std::int64_t extent(std::size_t axis) const { return array_.extents()[axis]; }
  std::int64_t shown(std::size_t axis) const { return std::min(extent(axis), corner_); }

  void write(std::size_t axis, std::int64_t position, std::size_t indent) {
    if (axis == array_.extents().size()) {
      text_ += element_text(array_, position);
      return;
    }
    const bool last = axis + 1 == array_.extents().size();
    std::int64_t step = 1;
    for (std::size_t k = axis + 1; k < array_.extents().size(); ++k) step *= extent(k);
    text_ += "[";
    for (std::int64_t i = 0; i < shown(axis); ++i) {
      if (i > 0) separate(last, indent);
      write(axis + 1, position + i * step, indent + 1);
    }
    if (shown(axis) < extent(axis)) {
      if (shown(axis) > 0) separate(last, indent);
      text_ += "...";
    }
    text_ += "]";
  }

  void separate(bool last, std::size_t indent) { text_ += last ? ", " : ",\n" + std::string(indent + 1, ' '); }

  const Array& array_;
  const std::int64_t corner_;
  std::string text_;
};

bool fits(std::string_view text, std::size_t columns) {
  std::int64_t lines = 1;
  std::size_t width = 0;
  for (char c : text) {
    if (c == '\n') {
      ++lines;
      width = 0;
    } else if (++width > columns) {
      return false;
    }
  }
  return lines <= most_lines;
}

std::string statistics_text(const Array& array) {
  std::string text = array.type().text();
  if (array.elements() == 0) return text + "  no elements";
  const Statistics s = statistics(array);
  if (s.finite > 0)
    text += fmt::format("  min {:.5g}, max {:.5g}, mean {:.5g}", s.minimum, s.maximum,
                        s.sum / static_cast<double>(s.finite));
  if (s.finite < array.elements()) text += fmt::format(", {} not finite", array.elements() - s.finite);
  return text;
}

}  // namespace

std::string contents_text(const Array& array, std::size_t columns) {
  if (array.elements() > 0 && array.elements() <= most_elements) {
    std::string whole = Rows(array, INT64_MAX).text();
    if (fits(whole, columns)) return whole;
  }
  std::string text = statistics_text(array);
  if (array.elements() == 0) return text;
  for (std::int64_t corner : {8, 6, 4, 3, 2, 1}) {
    std::string rows = Rows(array, corner).text();
    if (fits(rows, columns) || corner == 1) return text + "\n" + rows;
  }
  return text;
}

}  // namespace taskspec
