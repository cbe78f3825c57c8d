// Resize and its ancestor Upsample. Each axis by itself: what an element of the result is made of is known at import,
// so an axis is picked by known places (nearest), or multiplied by a matrix of known weights.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "interp/import/onnx/arrays.hpp"
#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

namespace {

struct Axis {
  std::int64_t from = 1, to = 1;
  double scale = 1;
  double roi_begin = 0, roi_end = 1;
};

struct Manner {
  std::string mode, coordinates, rounding;
  double cubic = -0.75, outside = 0;
  bool excludes_outside = false;
};

// Where element i of the result lies in the axis as it was.
double place_of(const Axis& a, const Manner& how, std::int64_t i) {
  const double x = static_cast<double>(i), n = static_cast<double>(a.from), scale = a.scale;
  const double length = scale * n;  // which need not be whole
  if (how.coordinates == "align_corners") return length == 1 ? 0 : x * (n - 1) / (length - 1);
  if (how.coordinates == "asymmetric") return x / scale;
  if (how.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  if (how.coordinates == "pytorch_half_pixel") return length > 1 ? (x + 0.5) / scale - 0.5 : -0.5;
  if (how.coordinates == "tf_crop_and_resize") {
    if (length <= 1) return 0.5 * (a.roi_begin + a.roi_end) * (n - 1);
    return a.roi_begin * (n - 1) + x * (a.roi_end - a.roi_begin) * (n - 1) / (length - 1);
  }
  return (x + 0.5) / scale - 0.5;
}

std::int64_t nearest(const Axis& a, const Manner& how, double place) {
  double at = std::floor(place);
  const double rest = place - at;
  if (how.rounding == "ceil")
    at = std::ceil(place);
  else if (how.rounding == "round_prefer_ceil")
    at += rest >= 0.5 ? 1 : 0;
  else if (how.rounding != "floor")
    at += rest > 0.5 ? 1 : 0;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, a.from - 1);
}

// Weights of the elements around a place, the first of which is `begin`.
std::vector<double> weights_at(const Manner& how, double rest) {
  if (how.mode == "linear") return {1 - rest, rest};
  const double a = how.cubic;
  return {((a * (rest + 1) - 5 * a) * (rest + 1) + 8 * a) * (rest + 1) - 4 * a,
          ((a + 2) * rest - (a + 3)) * rest * rest + 1, ((a + 2) * (1 - rest) - (a + 3)) * (1 - rest) * (1 - rest) + 1,
          ((a * (2 - rest) - 5 * a) * (2 - rest) + 8 * a) * (2 - rest) - 4 * a};
}

// One row of the matrix: how much of each old element is in element i of the new.
std::vector<double> row_of(const Axis& a, const Manner& how, std::int64_t i) {
  std::vector<double> row(static_cast<std::size_t>(a.from), 0.0);
  const double place = place_of(a, how, i);
  // A whole place is the last of its neighbours, as the reference has it.
  const double whole = std::floor(place);
  const std::vector<double> weights = weights_at(how, place - whole);
  const std::int64_t begin = static_cast<std::int64_t>(whole) - (how.mode == "cubic" ? 1 : 0);
  double inside = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const std::int64_t at = begin + static_cast<std::int64_t>(k);
    const bool out = at < 0 || at >= a.from;
    if (out && how.excludes_outside) continue;
    inside += weights[k];
    row[static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, a.from - 1))] += weights[k];
  }
  if (how.excludes_outside && inside != 0)
    for (double& weight : row) weight /= inside;
  return row;
}

Term resized(Call& call, const Term& x, std::size_t axis, const Axis& a, const Manner& how) {
  const auto at = static_cast<std::int64_t>(axis);
  if (how.mode == "nearest") {
    call.spend(a.to);
    Numbers index;
    for (std::int64_t i = 0; i < a.to; ++i) index.push_back(nearest(a, how, place_of(a, how, i)));
    bool copies = a.to % a.from == 0;
    for (std::int64_t i = 0; i < a.to; ++i)
      copies = copies && index[static_cast<std::size_t>(i)] == i / (a.to / a.from);
    if (!copies) return call.picked(x, index, at);
    Dims dims = x.dims;
    dims[axis] = Dim(a.to);
    return named(fmt::format("{}.scale({}, {})", x.text, at, a.to / a.from), x.precision, dims);
  }
  call.spend(a.to);
  if (a.from > 0) call.spend(a.to * a.from);
  std::vector<double> matrix;
  for (std::int64_t i = 0; i < a.to; ++i) {
    const std::vector<double> row = row_of(a, how, i);
    matrix.insert(matrix.end(), row.begin(), row.end());
  }
  const Term weights = call.slot(transposed(filled_array(x.precision, {a.to, a.from}, matrix), {1, 0}), "weights");
  Numbers turn;
  for (std::size_t i = 0; i < x.rank(); ++i) turn.push_back(static_cast<std::int64_t>(i));
  std::swap(turn[axis], turn.back());
  const Term made = permuted(product_of(permuted(x, turn), weights), turn);
  return made;
}

// Places outside of what is cropped take a number of their own.
Term with_outside(Call& call, const Term& x, std::size_t axis, const Axis& a, const Manner& how) {
  if (how.coordinates != "tf_crop_and_resize") return x;
  call.spend(a.to);
  Numbers inside;
  for (std::int64_t i = 0; i < a.to; ++i) {
    const double place = place_of(a, how, i);
    inside.push_back(place >= 0 && place <= static_cast<double>(a.from - 1) ? 1 : 0);
  }
  if (std::ranges::all_of(inside, [](std::int64_t n) { return n == 1; })) return x;
  Numbers shape(x.rank() - axis, 1);
  shape[0] = a.to;
  Array mask = Array::make({Precision::boolean, shape});
  for (std::size_t i = 0; i < inside.size(); ++i) mask.set_integer(static_cast<std::int64_t>(i), inside[i]);
  return chosen(call.slot(mask, "inside"), x, named(literal(how.outside, x.precision), x.precision, {}));
}

void resize_by(Call& call, const std::vector<Axis>& axes, const Manner& how) {
  Term x = call.x(0);
  const bool real = x.is_real();
  const Precision own = x.precision;
  if (!real && how.mode != "nearest") x = cast(x, Precision::f32);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool crops = how.coordinates == "tf_crop_and_resize";
    if (axes[i].from == axes[i].to && axes[i].scale == 1 && !crops) continue;
    if (axes[i].from < 1 || axes[i].to < 0) call.fail("an extent has nothing to be made of");
    x = call.let(with_outside(call, resized(call, x, i, axes[i], how), i, axes[i], how));
  }
  call.give(0, cast(x, own));
}

// The axes that stay as they are may have any extent.
std::vector<Axis> axes_by_scales(Call& call, const Term& x, const std::vector<double>& scales) {
  std::vector<Axis> axes;
  if (scales.size() != x.rank()) call.fail("it has not one scale for each axis");
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (!(scales[i] > 0) || scales[i] > 1e6) call.fail("a scale is out of all bounds");
    if (scales[i] == 1) {
      axes.push_back({});
      continue;
    }
    const std::int64_t n = call.extent(x, i);
    axes.push_back({n, static_cast<std::int64_t>(std::floor(static_cast<double>(n) * scales[i])), scales[i]});
  }
  return axes;
}

void resize(Call& call) {
  const Term& x = call.at(0);
  const bool first = call.opset() < 11;  // X, scales
  Manner how;
  how.mode = call.text("mode", "nearest");
  how.coordinates = call.text("coordinate_transformation_mode", first ? "asymmetric" : "half_pixel");
  how.rounding = call.text("nearest_mode", first ? "floor" : "round_prefer_floor");
  how.cubic = call.real("cubic_coeff_a", -0.75);
  how.excludes_outside = call.integer("exclude_outside", 0) != 0;
  how.outside = call.real("extrapolation_value", 0);
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic")
    call.fail("it resizes by '" + how.mode + "'");
  const std::size_t scales = first ? 1 : 2;
  std::vector<Axis> axes;
  const bool by_sizes = !first && call.has(3) && !(call.at(3).dims.size() == 1 && call.at(3).dims[0] == Dim(0));
  if (by_sizes) {
    const Numbers sizes = call.numbers(3);
    if (sizes.size() != x.rank()) call.fail("it has not one extent for each axis");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool same = x.dims[i] == Dim(sizes[i]) || !x.dims[i].is_constant();
      const std::int64_t n = same ? sizes[i] : call.extent(x, i);
      axes.push_back({n, sizes[i], n == 0 ? 1.0 : static_cast<double>(sizes[i]) / static_cast<double>(n)});
    }
  } else {
    axes = axes_by_scales(call, x, reals(call.array(scales)));
  }
  if (how.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = reals(call.array(1));
    if (roi.size() != 2 * axes.size()) call.fail("its region has not two numbers for each axis");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      axes[i].from = call.extent(x, i);
      if (axes[i].scale == 1) axes[i].to = axes[i].from;
      axes[i].roi_begin = roi[i];
      axes[i].roi_end = roi[i + axes.size()];
    }
  }
  resize_by(call, axes, how);
}

void upsample(Call& call) {
  std::vector<double> scales;
  if (const Attribute* given = call.node.attribute("scales"))
    scales = given->reals;
  else
    scales = reals(call.array(1));
  Manner how{.mode = call.text("mode", "nearest"), .coordinates = "asymmetric", .rounding = "floor"};
  if (how.mode == "bilinear") how.mode = "linear";
  resize_by(call, axes_by_scales(call, call.at(0), scales), how);
}

constexpr std::array resizing_rows{
    Operator{"Resize", 10, any, resize},
    Operator{"Upsample", 1, 9, upsample},
};

}  // namespace

std::span<const Operator> resizing_operators() { return resizing_rows; }

}  // namespace taskspec::onnx
