// Pools. What the language's own do (windows of two axes, padding that never counts) is one call; the rest is made of
// them: borders by `pad`, one axis after the other, means corrected by how much of a window counts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "interp/import/onnx/arrays.hpp"
#include "interp/import/onnx/windows.hpp"

namespace taskspec::onnx {

namespace {

constexpr std::int64_t most_window_elements = 1 << 24;  // of what is worked out for each window

// The smallest value: a border that never wins.
std::string lowest(Precision precision) {
  return is_float(precision) ? literal(-std::numeric_limits<double>::infinity(), precision)
                             : fmt::format("({})", info(precision).minimum);
}

Term planes(const Term& x, std::string_view op, std::int64_t ky, std::int64_t kx, std::int64_t sy, std::int64_t sx,
            std::int64_t py = 0, std::int64_t px = 0) {
  std::string arguments = pair_text(ky, kx);
  if (sy != ky || sx != kx) arguments += ", stride: " + pair_text(sy, sx);
  if (py != 0 || px != 0) arguments += ", pad: " + pair_text(py, px);
  return called(op, x, arguments);
}

// Windows without borders and dilation over one, two or three axes.
Term pooled(Call& call, const Term& x, std::string_view op, const Windows& v) {
  Dims dims{x.dims[0], x.dims[1]};
  for (std::size_t i = 0; i < v.axes(); ++i) dims.push_back(windows_along(call, x.dims[i + 2], v, i));
  if (v.axes() == 1)
    return named(planes(lifted(x, {2}), op, 1, v.kernel[0], 1, v.strides[0]).text + ".drop(2)", x.precision, dims);
  if (v.axes() == 2)
    return named(planes(x, op, v.kernel[0], v.kernel[1], v.strides[0], v.strides[1]).text, x.precision, dims);
  if (v.axes() != 3) call.fail("its windows move over more than three axes");
  const Dim rows = x.dims[0] * x.dims[1];
  const Term images = planes(reshaped(x, {rows, x.dims[2], x.dims[3], x.dims[4]}), op, v.kernel[1], v.kernel[2],
                             v.strides[1], v.strides[2]);
  const Term lines =
      planes(named(fmt::format("{}.reshape({})", images.text, text_of({rows, Dim(1), x.dims[2], dims[3] * dims[4]})),
                   x.precision, {}),
             op, v.kernel[0], 1, v.strides[0], 1);
  return named(fmt::format("{}.reshape({})", lines.text, text_of(dims)), x.precision, dims);
}

// Places along one axis for each window: [windows, kernel] of them, one after the other.
Numbers window_places(std::int64_t windows, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
  Numbers index;
  for (std::int64_t i = 0; i < windows; ++i)
    for (std::int64_t k = 0; k < kernel; ++k) index.push_back(i * stride + k * dilation);
  return index;
}

// Dilated windows axis by axis: their elements side by side, of which one is left.
Term dilated_maximum(Call& call, Term x, const Windows& v) {
  for (std::size_t i = 0; i < v.axes(); ++i) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    const std::int64_t count = *windows_along(call, Dim(call.extent(x, i + 2)), v, i).constant();
    call.spend(count * v.kernel[i]);
    const Term side_by_side = call.picked(x, window_places(count, v.kernel[i], v.strides[i], v.dilations[i]), axis);
    Dims split = x.dims;
    split[i + 2] = Dim(count);
    split.insert(split.begin() + axis + 1, Dim(v.kernel[i]));
    x = call.let(reduced("max", reshaped(side_by_side, split), {axis + 1}, false));
  }
  return x;
}

// ---- the places of maxima -------------------------------------------------------------------------

struct WindowElements {
  std::int64_t windows = 1, size = 1;
  Numbers inside;   // places in the padded image, window by window
  Numbers outside;  // the same in the image as it was; 0 in the border, which never wins
};

WindowElements elements_of(Call& call, const Numbers& extents, const Windows& v, bool columns_first) {
  const std::size_t n = v.axes();
  WindowElements made;
  Numbers counts(n), padded(n);
  for (std::size_t i = 0; i < n; ++i) {
    padded[i] = extents[i] + v.before[i] + v.after[i];
    counts[i] = (padded[i] - v.reach(i)) / v.strides[i] + 1;
    if (counts[i] > most_window_elements / std::max<std::int64_t>(1, made.windows))
      throw Misfit{"it has too many windows"};
    made.windows *= counts[i];
    if (v.kernel[i] > most_window_elements / made.size) throw Misfit{"its windows have too many elements"};
    made.size *= v.kernel[i];
  }
  call.spend(made.windows * made.size);
  for (std::int64_t window = 0; window < made.windows; ++window)
    for (std::int64_t element = 0; element < made.size; ++element) {
      std::int64_t rest = window, left = element, in = 0, step = 1, out = 0, rows = 1;
      bool border = false;
      for (std::size_t i = n; i-- > 0;) {
        const std::int64_t at = rest % counts[i] * v.strides[i] + left % v.kernel[i] * v.dilations[i];
        rest /= counts[i];
        left /= v.kernel[i];
        in += at * step;
        step *= padded[i];
        const std::int64_t own = at - v.before[i];
        border = border || own < 0 || own >= extents[i];
        if (!columns_first) {
          out += own * rows;
          rows *= extents[i];
        }
      }
      if (columns_first) {
        rest = window;
        left = element;
        Numbers own(n);
        for (std::size_t i = n; i-- > 0;) {
          own[i] = rest % counts[i] * v.strides[i] + left % v.kernel[i] * v.dilations[i] - v.before[i];
          rest /= counts[i];
          left /= v.kernel[i];
        }
        for (std::size_t i = 0; i < n; ++i) {
          out += own[i] * rows;
          rows *= extents[i];
        }
      }
      made.inside.push_back(in);
      made.outside.push_back(border ? 0 : out);
    }
  return made;
}

Array table_of(const Numbers& numbers, const Extents& shape) {
  Array made = Array::make({Precision::i64, shape});
  std::ranges::copy(numbers, made.data<std::int64_t>().begin());
  return made;
}

// The maxima, and where in all of x they were.
void with_places(Call& call, const Term& x, const Windows& v) {
  const Numbers shape = call.shape(x);
  const Numbers extents(shape.begin() + 2, shape.end());
  Dims dims{x.dims[0], x.dims[1]};
  for (std::size_t i = 0; i < v.axes(); ++i) dims.push_back(windows_along(call, x.dims[i + 2], v, i));
  const WindowElements e = elements_of(call, extents, v, call.integer("storage_order", 0) == 1);
  std::int64_t pixels = 1, images = shape[0] * shape[1];
  for (const std::int64_t n : extents) pixels *= n;
  Windows rest = v;
  const Term wide = with_borders(x, rest, lowest(x.precision));
  const Term flat = reshaped(wide, {x.dims[0], x.dims[1], product({wide.dims.begin() + 2, wide.dims.end()})});
  const Term index = call.slot(table_of(e.inside, {e.windows, e.size}), "windows");
  const Term elements = call.let(gathered(flat, index, 2));
  call.give(0, reshaped(reduced("max", elements, {3}), dims));
  const Term best = reshaped(reduced("argmax", elements, {3}), {x.dims[0], x.dims[1], Dim(e.windows)});
  const Term place =
      binary(best, "+", named(fmt::format("(iota({}) * {})", e.windows, e.size), Precision::i64, {Dim(e.windows)}));
  const Term own = gathered(call.slot(table_of(e.outside, {e.windows * e.size}), "places"), place, 0);
  const Term image = named(fmt::format("(iota({}) * {}).reshape({}, {}, 1)", images, pixels, shape[0], shape[1]),
                           Precision::i64, {x.dims[0], x.dims[1], Dim(1)});
  call.give(1, reshaped(binary(own, "+", image), dims));
}

void max_pool(Call& call) {
  const Term x = call.x(0);
  Windows v = windows_of(call, x, std::nullopt);
  round_up(call, x, v);
  if (call.gives(1)) {
    with_places(call, x, v);
    return;
  }
  if (v.axes() == 2 && v.even() && !v.dilated()) {
    Term made = planes(x, "max_pool", v.kernel[0], v.kernel[1], v.strides[0], v.strides[1], v.before[0], v.before[1]);
    made.dims = {x.dims[0], x.dims[1], windows_along(call, x.dims[2], v, 0), windows_along(call, x.dims[3], v, 1)};
    call.give(0, made);
    return;
  }
  const Term wide = with_borders(x, v, lowest(x.precision));
  call.give(0, v.dilated() ? dilated_maximum(call, call.let(wide), v) : pooled(call, wide, "max_pool", v));
}

// ---- means ----------------------------------------------------------------------------------------

// By what the mean of a whole window is to be multiplied: its size by how much of it counts.
std::vector<double> shares(Call& call, const Term& x, const Windows& v, const Numbers& counted_before,
                           const Numbers& counted_after, Numbers& shape) {
  std::vector<double> all{1};
  for (std::size_t i = 0; i < v.axes(); ++i) {
    const std::int64_t n = call.extent(x, i + 2), windows = *windows_along(call, Dim(n), v, i).constant();
    if (windows > most_window_elements / static_cast<std::int64_t>(std::max<std::size_t>(1, all.size())))
      throw Misfit{"it has too many windows"};
    call.spend(windows * static_cast<std::int64_t>(all.size()));
    std::vector<double> next;
    for (const double before : all)
      for (std::int64_t w = 0; w < windows; ++w) {
        const std::int64_t from = w * v.strides[i] - v.before[i], to = from + v.kernel[i];
        const std::int64_t counts = std::min(to, n + counted_after[i]) - std::max(from, -counted_before[i]);
        next.push_back(before * static_cast<double>(v.kernel[i]) /
                       static_cast<double>(std::max<std::int64_t>(1, counts)));
      }
    all = std::move(next);
    shape.push_back(windows);
  }
  return all;
}

void average_pool(Call& call) {
  const Term x = call.x(0);
  Windows v = windows_of(call, x, std::nullopt);
  const Numbers before = v.before, after = v.after;
  if (v.dilated()) call.fail("its windows are dilated");
  round_up(call, x, v);
  const bool counts_padding = call.integer("count_include_pad", 0) != 0;
  if (v.axes() == 2 && v.even() && (!v.padded() || !counts_padding)) {
    Term made = planes(x, "avg_pool", v.kernel[0], v.kernel[1], v.strides[0], v.strides[1], v.before[0], v.before[1]);
    made.dims = {x.dims[0], x.dims[1], windows_along(call, x.dims[2], v, 0), windows_along(call, x.dims[3], v, 1)};
    call.give(0, made);
    return;
  }
  const bool all_counts = !v.padded() || (counts_padding && v.before == before && v.after == after);
  Windows rest = v;
  const Term mean = pooled(call, with_borders(x, rest, ""), "avg_pool", rest);
  if (all_counts) {
    call.give(0, mean);
    return;
  }
  const Numbers none(v.axes(), 0);
  Numbers shape;
  const std::vector<double> share =
      shares(call, x, v, counts_padding ? before : none, counts_padding ? after : none, shape);
  call.give(0, binary(mean, "*", call.slot(filled_array(x.precision, shape, share), "shares")));
}

Numbers image_axes(const Term& x) {
  Numbers axes;
  for (std::size_t i = 2; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

void global_average_pool(Call& call) {
  const Term x = call.x(0);
  call.give(0, reduced("mean", x, image_axes(x)));
}

void global_max_pool(Call& call) {
  const Term x = call.x(0);
  call.give(0, reduced("max", x, image_axes(x)));
}

constexpr std::array pooling_rows{
    Operator{"AveragePool", 1, any, average_pool},
    Operator{"GlobalAveragePool", 1, any, global_average_pool},
    Operator{"GlobalMaxPool", 1, any, global_max_pool},
    Operator{"MaxPool", 1, any, max_pool},
};

}  // namespace

std::span<const Operator> pooling_operators() { return pooling_rows; }

}  // namespace taskspec::onnx
