// The two sides of a matrix product, described instead of stored: a side is a number of lines (rows of A,
// columns of B), each with one element per step of the inner sum. Convolutions are products whose sides
// are windows of an image, so no column matrix is ever written out.
//
//   MatrixLines rows_of_a{.line_step = columns};              // row-major A
//   MatrixLines columns_of_b{.line_step = 1, .step = columns};
#pragma once
#include <algorithm>
#include <variant>

#include "stdlib/kernels/storage.hpp"
#include "stdlib/kernels/windows.hpp"

namespace taskspec {

// Element d of line l is at l * line_step + (d / inner) * outer_step + (d % inner) * step.
struct MatrixLines {
  std::int64_t line_step = 0;
  std::int64_t step = 1;
  std::int64_t inner = INT64_MAX;
  std::int64_t outer_step = 0;
};

// Lines are window positions; elements are (channel, tap) of an image [channels, y, x]. Outside is zero.
struct WindowPositions {
  Windows windows;
};

// The same matrix turned: lines are (channel, tap), elements are (image, position) of a batch.
struct WindowTaps {
  Windows windows;
  std::int64_t image_step = 0;
};

// Lines are pixels of the image; elements are (channel, tap) of the output array [channels, y, x]: the
// output position whose window has that pixel under that tap, zero where there is none.
struct WindowSources {
  Windows windows;
};

using Lines = std::variant<MatrixLines, WindowPositions, WindowTaps, WindowSources>;

// The part of a side that is packed at a time: `count` lines from `line`, `depth` elements from `first`.
// Element d of line i goes to out[d * width + i]; lines from `count` to `width` are filled with zeros.
struct PackRange {
  std::int64_t line, count, first, depth;
  std::int64_t width;
};

namespace lines_detail {

template <class Acc>
void clear_rest(const PackRange& range, Acc* out) {
  if (range.count == range.width) return;
  for (std::int64_t d = 0; d < range.depth; ++d)
    std::fill(out + d * range.width + range.count, out + (d + 1) * range.width, Acc{});
}

// Counts (channel, y, x) of a tap as d grows.
struct TapCounter {
  std::int64_t channel, y, x;
  TapCounter(std::int64_t d, const Pair& kernel)
      : channel(d / (kernel[0] * kernel[1])), y(d / kernel[1] % kernel[0]), x(d % kernel[1]) {}
  void next(const Pair& kernel) {
    if (++x < kernel[1]) return;
    x = 0;
    if (++y < kernel[0]) return;
    y = 0;
    ++channel;
  }
};

inline bool inside(std::int64_t y, std::int64_t x, const Pair& extent) {
  return y >= 0 && y < extent[0] && x >= 0 && x < extent[1];
}

}  // namespace lines_detail

template <class Acc, class T>
void pack(const MatrixLines& lines, const T* base, const PackRange& range, Acc* out) {
  const T* start = base + range.line * lines.line_step;
  for (std::int64_t d = 0; d < range.depth; ++d) {
    std::int64_t element = range.first + d;
    const T* from = start + element / lines.inner * lines.outer_step + element % lines.inner * lines.step;
    Acc* to = out + d * range.width;
    if (lines.line_step == 1)
      for (std::int64_t i = 0; i < range.count; ++i) to[i] = convert<Acc>(from[i]);
    else
      for (std::int64_t i = 0; i < range.count; ++i) to[i] = convert<Acc>(from[i * lines.line_step]);
  }
  lines_detail::clear_rest(range, out);
}

template <class Acc, class T>
void pack(const WindowPositions& lines, const T* base, const PackRange& range, Acc* out) {
  const Windows& w = lines.windows;
  std::int64_t y[64], x[64];  // top left corner of each window; width is at most 64
  for (std::int64_t i = 0; i < range.count; ++i) {
    y[i] = (range.line + i) / w.out[1] * w.stride[0] - w.pad[0];
    x[i] = (range.line + i) % w.out[1] * w.stride[1] - w.pad[1];
  }
  // All windows side by side in one row: their elements under one tap are neighbours too.
  bool one_run = w.stride[1] == 1 && y[0] == y[range.count - 1];
  lines_detail::TapCounter tap(range.first, w.kernel);
  for (std::int64_t d = 0; d < range.depth; ++d, tap.next(w.kernel)) {
    const T* channel = base + tap.channel * w.pixels();
    std::int64_t dy = tap.y * w.dilation[0], dx = tap.x * w.dilation[1];
    Acc* to = out + d * range.width;
    if (one_run && lines_detail::inside(y[0] + dy, x[0] + dx, w.image) &&
        lines_detail::inside(y[0] + dy, x[range.count - 1] + dx, w.image)) {
      const T* from = channel + (y[0] + dy) * w.image[1] + x[0] + dx;
      for (std::int64_t i = 0; i < range.count; ++i) to[i] = convert<Acc>(from[i]);
    } else {
      for (std::int64_t i = 0; i < range.count; ++i)
        to[i] = lines_detail::inside(y[i] + dy, x[i] + dx, w.image)
                    ? convert<Acc>(channel[(y[i] + dy) * w.image[1] + x[i] + dx])
                    : Acc{};
    }
  }
  lines_detail::clear_rest(range, out);
}

template <class Acc, class T>
void pack(const WindowTaps& lines, const T* base, const PackRange& range, Acc* out) {
  const Windows& w = lines.windows;
  lines_detail::TapCounter tap(range.line, w.kernel);
  for (std::int64_t i = 0; i < range.count; ++i, tap.next(w.kernel)) {
    std::int64_t dy = tap.y * w.dilation[0] - w.pad[0], dx = tap.x * w.dilation[1] - w.pad[1];
    for (std::int64_t d = 0; d < range.depth; ++d) {
      std::int64_t element = range.first + d, position = element % w.positions();
      std::int64_t y = position / w.out[1] * w.stride[0] + dy, x = position % w.out[1] * w.stride[1] + dx;
      const T* image = base + element / w.positions() * lines.image_step + tap.channel * w.pixels();
      out[d * range.width + i] = lines_detail::inside(y, x, w.image) ? convert<Acc>(image[y * w.image[1] + x]) : Acc{};
    }
  }
  lines_detail::clear_rest(range, out);
}

template <class Acc, class T>
void pack(const WindowSources& lines, const T* base, const PackRange& range, Acc* out) {
  const Windows& w = lines.windows;
  lines_detail::TapCounter tap(range.first, w.kernel);
  for (std::int64_t d = 0; d < range.depth; ++d, tap.next(w.kernel)) {
    const T* channel = base + tap.channel * w.positions();
    for (std::int64_t i = 0; i < range.count; ++i) {
      std::int64_t y = (range.line + i) / w.image[1] + w.pad[0] - tap.y * w.dilation[0];
      std::int64_t x = (range.line + i) % w.image[1] + w.pad[1] - tap.x * w.dilation[1];
      bool hit = y >= 0 && x >= 0 && y % w.stride[0] == 0 && x % w.stride[1] == 0;
      y /= w.stride[0];
      x /= w.stride[1];
      out[d * range.width + i] =
          hit && lines_detail::inside(y, x, w.out) ? convert<Acc>(channel[y * w.out[1] + x]) : Acc{};
    }
  }
  lines_detail::clear_rest(range, out);
}

}  // namespace taskspec
