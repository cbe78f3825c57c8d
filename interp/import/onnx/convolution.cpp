// Convolutions, and transposed ones.
#include <fmt/format.h>

#include <array>

#include "interp/import/onnx/arrays.hpp"
#include "interp/import/onnx/convolved.hpp"

namespace taskspec::onnx {

namespace {

Precision result_of(const Term& x) { return info(x.precision).bytes == 1 ? Precision::i32 : x.precision; }

Dims result_dims(Call& call, const Term& x, const Term& w, const Windows& windows) {
  Dims dims{x.dims[0], w.dims[0]};
  for (std::size_t i = 0; i < windows.axes(); ++i) dims.push_back(windows_along(call, x.dims[i + 2], windows, i));
  return dims;
}

// ", b, stride: 2, pad: 1", what is as usual left out.
std::string arguments(const std::optional<Term>& bias, const std::string& stride, const std::string& pad,
                      const std::string& dilation, std::int64_t groups) {
  std::string text;
  if (bias) text += ", " + bias->text;
  if (stride != "1") text += ", stride: " + stride;
  if (pad != "0") text += ", pad: " + pad;
  if (dilation != "1") text += ", dilation: " + dilation;
  if (groups != 1) text += fmt::format(", groups: {}", groups);
  return text;
}

Term convolved_planes(Call& call, const Term& x, const Term& w, const std::optional<Term>& bias, const Windows& v,
                      std::int64_t groups) {
  const bool line = v.axes() == 1;
  auto both = [&](const Numbers& n) { return line ? std::to_string(n[0]) : pair_text(n[0], n[1]); };
  return named(fmt::format("{}({}, {}{})", line ? "conv1d" : "conv2d", x.text, w.text,
                           arguments(bias, both(v.strides), both(v.before), both(v.dilations), groups)),
               result_of(x), result_dims(call, x, w, v));
}

// Depth by depth: images of two axes convolved with each slice of the weights, and summed.
Term convolved_depths(Call& call, const Term& x, const Term& w, const std::optional<Term>& bias, const Windows& v,
                      std::int64_t groups) {
  const Dims dims = result_dims(call, x, w, v);
  const Term own = call.let(padded(x, 2, v.before[0], v.after[0], ""));
  const Windows planes{{v.kernel[1], v.kernel[2]},
                       {v.strides[1], v.strides[2]},
                       {v.dilations[1], v.dilations[2]},
                       {v.before[1], v.before[2]},
                       {v.after[1], v.after[2]}};
  const std::int64_t depths = call.extent(named("", x.precision, dims), 2);
  std::optional<Term> sum;
  for (std::int64_t k = 0; k < v.kernel[0]; ++k) {
    const std::int64_t from = k * v.dilations[0];
    Numbers index;
    call.spend(depths);
    for (std::int64_t i = 0; i < depths; ++i) index.push_back(from + i * v.strides[0]);
    const Term part = v.strides[0] == 1 ? sliced(own, 2, Dim(from), Dim(from + depths)) : call.picked(own, index, 2);
    const Term images =
        reshaped(permuted(part, {0, 2, 1, 3, 4}), {x.dims[0] * Dim(depths), x.dims[1], x.dims[3], x.dims[4]});
    const Term slice = dropped(sliced(w, 2, Dim(k), Dim(k + 1)), {2});
    const Term one = call.let(convolved_planes(call, images, slice, k == 0 ? bias : std::nullopt, planes, groups));
    sum = sum ? binary(*sum, "+", one) : one;
  }
  return permuted(reshaped(*sum, {dims[0], dims[2], dims[1], dims[3], dims[4]}), {0, 2, 1, 3, 4});
}

}  // namespace

Term convolved(Call& call, const Term& x, const Term& w, const std::optional<Term>& bias, Windows windows,
               std::int64_t groups) {
  if (w.rank() != x.rank() || groups < 1) call.fail("its weights do not fit its input");
  bool even = true;
  for (std::size_t i = 0; i < windows.axes(); ++i) even = even && windows.before[i] == windows.after[i];
  const Term own = even ? x : call.let(with_borders(x, windows, ""));
  if (windows.axes() == 3) return convolved_depths(call, own, w, bias, windows, groups);
  if (windows.axes() > 3) call.fail("its windows move over more than three axes");
  return convolved_planes(call, own, w, bias, windows, groups);
}

Numbers kernel_of(Call& call, const Term& w) {
  Numbers kernel;
  for (std::size_t i = 2; i < w.rank(); ++i) kernel.push_back(call.extent(w, i));
  return kernel;
}

namespace {

void conv(Call& call) {
  const Term x = call.x(0), w = call.x(1);
  const Windows windows = windows_of(call, x, kernel_of(call, w));
  const std::optional<Term> bias = call.has(2) ? std::optional(call.x(2)) : std::nullopt;
  call.give(0, convolved(call, x, w, bias, windows, call.integer("group", 1)));
}

// ---- transposed -----------------------------------------------------------------------------------

// Zeros between the elements, `step` - 1 of them.
Term spread(const Term& x, std::int64_t axis, std::int64_t step) {
  if (step == 1) return x;
  const auto at = static_cast<std::size_t>(axis);
  const Dim n = x.dims[at];
  Dims apart = x.dims, together = x.dims;
  apart.insert(apart.begin() + axis + 1, Dim(1));
  together[at] = n * Dim(step);
  const Term wide = reshaped(padded(reshaped(x, apart), axis + 1, 0, step - 1, ""), together);
  return sliced(wide, axis, Dim(0), n * Dim(step) - Dim(step - 1));
}

// Weights [C, O / groups, ...] as those of the convolution that does it: [O, C / groups, ...], turned around.
Term turned_weights(Call& call, std::int64_t groups) {
  Term w = call.x(1);
  const std::int64_t channels = call.extent(w, 0), outputs = call.extent(w, 1);
  if (channels % groups != 0) call.fail("its channels do not fall into groups");
  Dims split{Dim(groups), Dim(channels / groups)}, joined{Dim(groups * outputs), Dim(channels / groups)};
  split.insert(split.end(), w.dims.begin() + 1, w.dims.end());
  joined.insert(joined.end(), w.dims.begin() + 2, w.dims.end());
  Numbers turn{0, 2, 1};
  for (std::size_t i = 2; i < w.rank(); ++i) {
    turn.push_back(static_cast<std::int64_t>(i) + 1);
    w = reversed(w, static_cast<std::int64_t>(i));
  }
  return groups == 1 ? permuted(w,
                                [&] {
                                  Numbers plain{1, 0};
                                  for (std::size_t i = 2; i < w.rank(); ++i)
                                    plain.push_back(static_cast<std::int64_t>(i));
                                  return plain;
                                }())
                     : reshaped(permuted(reshaped(w, split), turn), joined);
}

void conv_transpose(Call& call) {
  Term x = call.x(0);
  const std::int64_t groups = call.integer("group", 1);
  if (groups < 1) call.fail("it has no groups");
  const Windows v = windows_of(call, x, kernel_of(call, call.at(1)));
  const Numbers extra = call.integers("output_padding", Numbers(v.axes(), 0));
  const std::optional<Numbers> shape = call.integers("output_shape");
  const std::string automatic = call.text("auto_pad", "NOTSET");
  Windows plain{v.kernel, Numbers(v.axes(), 1), v.dilations, Numbers(v.axes(), 0), Numbers(v.axes(), 0)};
  if (extra.size() != v.axes()) call.fail("output_padding has not one number for each axis");
  std::vector<std::pair<std::int64_t, std::int64_t>> cuts;
  for (std::size_t i = 0; i < v.axes(); ++i) {
    const std::int64_t n = call.extent(x, i + 2), full = (n - 1) * v.strides[i] + extra[i] + v.reach(i);
    std::int64_t before = v.before[i], after = v.after[i];
    const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (shape || same) {
      const std::size_t at = shape && shape->size() == v.axes() ? i : i + 2;
      if (shape && at >= shape->size()) call.fail("output_shape does not fit");
      const std::int64_t cut = full - (shape ? (*shape)[at] : n * v.strides[i]);
      before = automatic == "SAME_LOWER" ? cut - cut / 2 : cut / 2;
      after = cut - before;
    }
    cuts.emplace_back(before, after);
  }
  for (std::size_t i = 0; i < v.axes(); ++i) {
    x = spread(x, static_cast<std::int64_t>(i) + 2, v.strides[i]);
    // Whole windows at both ends, less what is cut off there.
    plain.before[i] = v.reach(i) - 1 - cuts[i].first;
    plain.after[i] = v.reach(i) - 1 - cuts[i].second + extra[i];
  }
  for (std::size_t i = 0; i < v.axes(); ++i) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    const std::int64_t n = call.extent(x, i + 2);
    const std::int64_t from = std::max<std::int64_t>(0, -plain.before[i]),
                       to = n - std::max<std::int64_t>(0, -plain.after[i]);
    x = sliced(x, axis, Dim(from), Dim(to));
    plain.before[i] = std::max<std::int64_t>(0, plain.before[i]);
    plain.after[i] = std::max<std::int64_t>(0, plain.after[i]);
  }
  const std::optional<Term> bias = call.has(2) ? std::optional(call.x(2)) : std::nullopt;
  call.give(0, convolved(call, call.let(x), call.let(turned_weights(call, groups)), bias, plain, groups));
}

constexpr std::array convolution_rows{
    Operator{"Conv", 1, any, conv},
    Operator{"ConvTranspose", 1, any, conv_transpose},
};

}  // namespace

std::span<const Operator> convolution_operators() { return convolution_rows; }

}  // namespace taskspec::onnx
