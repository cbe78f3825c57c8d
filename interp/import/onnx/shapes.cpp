// Operators that give elements another shape, and tensors that come out of nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interp/import/onnx/arrays.hpp"
#include "interp/import/onnx/conversion.hpp"
#include "interp/import/onnx/precisions.hpp"

namespace taskspec::onnx {

namespace {

Term of_array(const Array& array, std::string origin) {
  Term term;
  term.constant = array;
  term.precision = array.precision();
  term.origin = std::move(origin);
  for (const std::int64_t extent : array.extents()) term.dims.emplace_back(extent);
  return term;
}

// ---- constants ------------------------------------------------------------------------------------

void constant(Call& call) {
  auto list = [](const auto& values, Precision precision, bool scalar) {
    Array made = Array::make({precision, scalar ? Extents{} : Extents{static_cast<std::int64_t>(values.size())}});
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<std::decay_t<decltype(values[0])>, double>)
        made.set_number(static_cast<std::int64_t>(i), values[i]);
      else
        made.set_integer(static_cast<std::int64_t>(i), values[i]);
    }
    return made;
  };
  std::optional<Array> value;
  for (const Attribute& attribute : call.node.attributes) {
    if (attribute.tensor) {
      if (!attribute.tensor->array) call.fail("it holds " + attribute.tensor->other + ", which are not read");
      value = attribute.tensor->array;
    } else if (attribute.name == "value_float") {
      value = list(std::vector<double>{attribute.real.value_or(0)}, Precision::f32, true);
    } else if (attribute.name == "value_floats") {
      value = list(attribute.reals, Precision::f32, false);
    } else if (attribute.name == "value_int") {
      value = list(Numbers{attribute.integer.value_or(0)}, Precision::i64, true);
    } else if (attribute.name == "value_ints") {
      value = list(attribute.integers, Precision::i64, false);
    }
  }
  if (!value) call.fail("it holds no tensor of numbers");
  call.give(0, of_array(*value, call.node.outputs[0]));
}

void identity(Call& call) { call.give(0, call.at(0)); }

void constant_of_shape(Call& call) {
  const Attribute* value = call.node.attribute("value");
  Precision precision = Precision::f32;
  double number = 0;
  if (value && value->tensor) {
    if (!value->tensor->array) call.fail("it holds " + value->tensor->other + ", which are not read");
    precision = value->tensor->array->precision();
    if (value->tensor->array->elements() > 0) number = value->tensor->array->number(0);
  }
  call.give(0, filled(precision, call.extents(0), literal(number, precision)));
}

// A tensor of one number repeated, of the precision and shape of another.
void eye_like(Call& call) {
  const Numbers shape = call.shape(call.at(0));
  if (shape.size() != 2) call.fail("its input is no matrix");
  const Precision precision = precision_of_type(call.integer("dtype", 0)).value_or(call.at(0).precision);
  const std::int64_t k = call.integer("k", 0);
  Term rows =
      named(fmt::format("(iota({}).lift(1) + {})", shape[0], k < 0 ? fmt::format("({})", k) : std::to_string(k)),
            Precision::i64, {Dim(shape[0]), Dim(1)});
  const Term columns = named(fmt::format("iota({}).lift(0)", shape[1]), Precision::i64, {Dim(1), Dim(shape[1])});
  call.give(0, cast(compared(rows, "==", columns), precision));
}

// 0, 1, ... up to a number that is not known.
bool counts_to_extent(Call& call) {
  const Term& end = call.at(1);
  const bool counts =
      end.extents && !numbers(*end.extents) && call.if_known(0) == Numbers{0} && call.if_known(2) == Numbers{1};
  if (!counts) return false;
  const Dims dims{(*end.extents)[0]};
  call.give(0, cast(named(fmt::format("iota({})", dims[0].text()), Precision::i64, dims), end.precision));
  return true;
}

void range(Call& call) {
  if (counts_to_extent(call)) return;
  for (std::size_t i = 0; i < 3; ++i) call.array(i);  // whatever is open is told of
  const Term& from = call.at(0);
  const double begin = call.number(0), end = call.number(1), step = call.number(2);
  if (step == 0) call.fail("its step is 0");
  const double count = std::max(0.0, std::ceil((end - begin) / step));
  if (!(count < 1e9)) call.fail("it counts too far");
  const Dims dims{Dim(static_cast<std::int64_t>(count))};
  Term made = cast(named(fmt::format("iota({})", dims[0].text()), Precision::i64, dims), from.precision);
  call.give(0, with_number(with_number(made, "*", step), "+", begin));
}

// ---- the same elements ----------------------------------------------------------------------------

// The extents that a Reshape asks for: 0 takes the old one, -1 what is left.
Dims wanted_dims(Call& call, const Term& x) {
  Dims wanted;
  if (const std::optional<Numbers> old = call.integers("shape"))
    wanted.assign(old->begin(), old->end());
  else
    wanted = call.extents(1);
  std::optional<std::size_t> open;
  Dims others;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == Dim(0) && call.integer("allowzero", 0) == 0) {
      if (i >= x.rank()) call.fail("it keeps an extent that is not there");
      wanted[i] = x.dims[i];
    }
    if (wanted[i] == Dim(-1))
      open = i;
    else
      others.push_back(wanted[i]);
  }
  if (!open) return wanted;
  Dim all = product(x.dims);
  if (all == Dim(0)) {
    wanted[*open] = Dim(0);
    return wanted;
  }
  const std::optional<Dim> rest = quotient(all, product(others));
  if (!rest)
    call.open("the extent that is left of " + type_text(x.precision, x.dims) + " by " + product(others).text());
  wanted[*open] = *rest;
  return wanted;
}

// Of weights the same elements in another shape.
Term in_dims(Call& call, std::size_t input, const Dims& dims) {
  const Term& x = call.at(input);
  const std::optional<Numbers> shape = numbers(dims);
  if (x.text.empty() && x.constant && shape && product(x.dims) == product(dims)) {
    Term made = of_array(in_shape(*x.constant, *shape), x.origin);
    return made;
  }
  return reshaped(call.x(input), dims);
}

void reshape(Call& call) { call.give(0, in_dims(call, 0, wanted_dims(call, call.at(0)))); }

void flatten(Call& call) {
  const Dims& dims = call.at(0).dims;
  const auto axis = static_cast<std::ptrdiff_t>(call.at(0).axis(call.integer("axis", 1)));
  if (axis < 0 || axis > static_cast<std::ptrdiff_t>(dims.size())) call.fail("its axis lies outside of the shape");
  call.give(
      0, in_dims(call, 0, {product({dims.begin(), dims.begin() + axis}), product({dims.begin() + axis, dims.end()})}));
}

void squeeze(Call& call) {
  const Term& x = call.at(0);
  std::optional<Numbers> axes = call.axes(1, x.rank());
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < x.rank(); ++i)
      if (x.dims[i] == Dim(1)) axes->push_back(static_cast<std::int64_t>(i));
  }
  for (const std::int64_t axis : *axes)
    if (!(x.dims[static_cast<std::size_t>(axis)] == Dim(1))) call.fail("it drops an axis that is longer than 1");
  const Term made = dropped(call.x(0), *axes);
  call.give(0, x.constant && x.text.empty() ? in_dims(call, 0, made.dims) : made);
}

void unsqueeze(Call& call) {
  const Term& x = call.at(0);
  const std::size_t count = call.integers("axes") ? call.integers("axes")->size() : call.numbers(1).size();
  const Numbers axes = *call.axes(1, x.rank() + count);
  Dims dims = x.dims;
  for (const std::int64_t axis : axes) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));
  call.give(0, x.constant && x.text.empty() ? in_dims(call, 0, dims) : lifted(call.x(0), axes));
}

void transpose(Call& call) {
  const Term& x = call.at(0);
  Numbers standard;
  for (std::size_t i = x.rank(); i-- > 0;) standard.push_back(static_cast<std::int64_t>(i));
  Numbers axes = call.integers("perm", standard), sorted = axes;
  std::ranges::sort(sorted);
  std::ranges::reverse(standard);
  if (sorted != standard) call.fail("its axes are not those of its input");
  if (x.text.empty() && x.constant)
    call.give(0, of_array(transposed(*x.constant, axes), x.origin));
  else
    call.give(0, permuted(call.x(0), axes));
}

// [N, C, H, W] to [N, C / b / b, H * b, W * b], or back.
void depth_to_space(Call& call) {
  const Term x = call.x(0);
  const std::int64_t b = call.integer("blocksize", 1);
  if (x.rank() != 4 || b < 1) call.fail("its input is no list of images");
  const std::optional<Dim> depth = quotient(x.dims[1], Dim(b * b));
  if (!depth) call.fail("its channels are no blocks");
  const bool first = call.text("mode", "DCR") == "DCR";
  const Dims split = first ? Dims{x.dims[0], Dim(b), Dim(b), *depth, x.dims[2], x.dims[3]}
                           : Dims{x.dims[0], *depth, Dim(b), Dim(b), x.dims[2], x.dims[3]};
  const Term moved = permuted(reshaped(x, split), first ? Numbers{0, 3, 4, 1, 5, 2} : Numbers{0, 1, 4, 2, 5, 3});
  call.give(0, reshaped(moved, {x.dims[0], *depth, x.dims[2] * Dim(b), x.dims[3] * Dim(b)}));
}

void space_to_depth(Call& call) {
  const Term x = call.x(0);
  const std::int64_t b = call.integer("blocksize", 1);
  if (x.rank() != 4 || b < 1) call.fail("its input is no list of images");
  const std::optional<Dim> height = quotient(x.dims[2], Dim(b)), width = quotient(x.dims[3], Dim(b));
  if (!height || !width) call.fail("its images are no blocks");
  const Term split = reshaped(x, {x.dims[0], x.dims[1], *height, Dim(b), *width, Dim(b)});
  call.give(0, reshaped(permuted(split, {0, 3, 5, 1, 2, 4}), {x.dims[0], x.dims[1] * Dim(b * b), *height, *width}));
}

// ---- more of the same -----------------------------------------------------------------------------

void expand(Call& call) {
  const Term x = call.x(0);
  const Dims wanted = call.extents(1);
  const std::optional<Dims> dims = together(x.dims, wanted);
  if (!dims) call.fail(type_text(x.precision, x.dims) + " does not stretch to [" + text_of(wanted) + "]");
  call.give(0, broadcast(x, *dims));
}

void tile(Call& call) {
  Term x = call.x(0);
  if (call.opset() < 6) {
    const std::int64_t axis = x.axis(call.numbers(2).at(0));
    call.give(0, tiled(x, axis, call.extents(1)[0]));
    return;
  }
  const Dims times = call.extents(1);
  if (times.size() != x.rank()) call.fail("it has not one number for each axis");
  for (std::size_t i = 0; i < times.size(); ++i) x = tiled(x, static_cast<std::int64_t>(i), times[i]);
  call.give(0, x);
}

Term plus_extent(const Term& x, const Dim& extent) {
  if (const auto known = extent.constant()) return with_number(x, "+", static_cast<double>(*known));
  return named(fmt::format("({} + ({}))", x.text, extent.text()), x.precision, x.dims);
}

void one_hot(Call& call) {
  const Term index = call.x(0);
  const Dim depth = call.at(1).extents ? call.extents(1)[0] : Dim(static_cast<std::int64_t>(call.number(1)));
  const Term values = call.x(2);
  const auto axis = static_cast<std::int64_t>(call.integer("axis", -1));
  const auto rank = static_cast<std::int64_t>(index.rank());
  const std::int64_t at = axis < 0 ? axis + rank + 1 : axis;
  // Negative ones count from the end.
  const Term whole = call.let(index.is_real() ? truncated(call, index, Precision::i64) : cast(index, Precision::i64));
  const Term place = lifted(chosen(with_number(whole, "<", 0), plus_extent(whole, depth), whole), {at});
  Dims line(static_cast<std::size_t>(rank + 1), Dim(1));
  line[static_cast<std::size_t>(at)] = depth;
  const Term counted = reshaped(named(fmt::format("iota({})", depth.text()), Precision::i64, {depth}), line);
  const Term off = named(values.text + "[0]", values.precision, {}),
             on = named(values.text + "[1]", values.precision, {});
  call.give(0, chosen(compared(place, "==", counted), on, off));
}

constexpr std::array shape_rows{
    Operator{"Constant", 1, any, constant},
    Operator{"ConstantOfShape", 9, any, constant_of_shape},
    Operator{"DepthToSpace", 1, any, depth_to_space},
    Operator{"Expand", 8, any, expand},
    Operator{"EyeLike", 9, any, eye_like},
    Operator{"Flatten", 1, any, flatten},
    Operator{"Identity", 1, any, identity},
    Operator{"OneHot", 9, any, one_hot},
    Operator{"Range", 11, any, range},
    Operator{"Reshape", 1, any, reshape},
    Operator{"Shape", 1, any, identity},  // always folded
    Operator{"Size", 1, any, identity},   // likewise
    Operator{"SpaceToDepth", 1, any, space_to_depth},
    Operator{"Squeeze", 1, any, squeeze},
    Operator{"Tile", 1, any, tile},
    Operator{"Transpose", 1, any, transpose},
    Operator{"Unsqueeze", 1, any, unsqueeze},
};

}  // namespace

std::span<const Operator> shape_operators() { return shape_rows; }

}  // namespace taskspec::onnx
