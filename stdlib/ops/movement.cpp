#include "stdlib/ops/movement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

const Type& moved_tensor(RuleContext& ctx, std::size_t operand) {
  const Type& type = ctx.type(operand);
  if (!type.is_tensor())
    ctx.fail("E1004", "wants a tensor, not " + type.text(), static_cast<int>(operand),
             "make one with 'as', as in 'x as f32[4]'");
  return type;
}

namespace {

std::size_t checked_axis(RuleContext& ctx, std::size_t operand, std::int64_t axis, std::size_t rank) {
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
    ctx.fail("E2004", fmt::format("axis {} is outside a shape of rank {}", axis, rank), static_cast<int>(operand),
             axis < 0 ? "axes count from 0" : "");
  return static_cast<std::size_t>(axis);
}

const Value& known(RuleContext& ctx, std::size_t operand) {
  const Value* value = ctx.constant(operand);
  if (!value) ctx.fail("E1004", "an axis must be known before the program runs", static_cast<int>(operand));
  return *value;
}

}  // namespace

std::size_t one_axis(RuleContext& ctx, std::size_t operand, std::size_t rank) {
  return checked_axis(ctx, operand, known(ctx, operand).integer(), rank);
}

std::vector<std::size_t> several_axes(RuleContext& ctx, std::size_t operand, std::size_t rank) {
  const Value& value = known(ctx, operand);
  if (value.is_integer()) return {checked_axis(ctx, operand, value.integer(), rank)};
  std::vector<std::size_t> axes;
  for (const Value& item : value.tuple().items) {
    std::size_t axis = checked_axis(ctx, operand, item.integer(), rank);
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      ctx.fail("E1003", fmt::format("axis {} is given twice", axis), static_cast<int>(operand));
    axes.push_back(axis);
  }
  return axes;
}

std::vector<std::size_t> axes_value(const Value& value) {
  if (value.is_integer()) return {static_cast<std::size_t>(value.integer())};
  std::vector<std::size_t> axes;
  for (const Value& item : value.tuple().items) axes.push_back(static_cast<std::size_t>(item.integer()));
  return axes;
}

Dim extent_operand(RuleContext& ctx, std::size_t operand, std::string_view name) {
  Dim dim = *ctx.dim(operand);
  if (dim.is_constant() && *dim.constant() < 0)
    ctx.fail("E2004", fmt::format("{} must not be negative, but is {}", name, dim.text()), static_cast<int>(operand));
  return dim;
}

CopyPart axis_part(const ArrayType& x, const ArrayType& out, const AxisPart& part, std::size_t input) {
  std::vector<std::int64_t> x_steps = steps_of(x.extents), out_steps = steps_of(out.extents);
  CopyPart copy{.input = input, .from = part.from * x_steps[part.axis], .to = part.to * out_steps[part.axis], .loops = {}};
  for (std::size_t d = 0; d < x.extents.size(); ++d)
    copy.loops.push_back({d == part.axis ? part.count : x.extents[d], x_steps[d], out_steps[d]});
  return copy;
}

CopyPart filled_part(const ArrayType& out, std::size_t axis, std::int64_t begin, std::int64_t end) {
  CopyPart copy = axis_part(out, out, {.axis = axis, .count = end - begin, .from = 0, .to = begin}, CopyPart::filling);
  copy.from = 0;
  for (CopyLoop& loop : copy.loops) loop.from = 0;
  return copy;
}

Work movement_work(const OpInstance& call) {
  double bytes = 0;
  for (const ArrayType& out : call.out) bytes += static_cast<double>(out.bytes());
  return {0, 2 * bytes};
}

}  // namespace taskspec
