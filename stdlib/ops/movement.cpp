#include "stdlib/ops/movement.hpp"

#include "stdlib/ops/records.hpp"

namespace taskspec {

std::vector<Dim> unknown_dims(RuleContext& ctx, std::size_t rank) {
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(ctx.unknown("extent"));
  return dims;
}

std::size_t given_axes(const RuleContext& ctx, std::size_t operand) {
  const Type& type = ctx.type(operand);
  return type.is(Type::Kind::tuple) ? type.parts.size() : 1;
}

Dim extent_operand(RuleContext& ctx, std::size_t operand) {
  Dim dim = *ctx.dim(operand);
  require_extents(ctx, {&dim, 1}, static_cast<int>(operand));
  return dim;
}

CopyPart axis_part(const ArrayType& x, const ArrayType& out, const AxisPart& part, std::size_t input) {
  std::vector<std::int64_t> x_steps = steps_of(x.extents), out_steps = steps_of(out.extents);
  CopyPart copy{
      .input = input, .from = part.from * x_steps[part.axis], .to = part.to * out_steps[part.axis], .loops = {}};
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

std::unique_ptr<Kernel> mirror_kernel(const OpInstance& call) {
  const Extents& extents = call.in[0].extents;
  std::vector<std::int64_t> steps = steps_of(extents);
  CopyPart part;
  for (std::size_t i = 0; i < extents.size(); ++i) part.loops.push_back({extents[i], steps[i], steps[i]});
  for (std::size_t axis : axes_of(call.attributes[1], extents.size())) {
    part.from += (extents[axis] - 1) * steps[axis];
    part.loops[axis].from = -steps[axis];
  }
  return copy_kernel(element_bytes(call), {part});
}

Work movement_work(const OpInstance& call) {
  double bytes = 0;
  for (const ArrayType& out : call.out) bytes += static_cast<double>(out.bytes());
  return {0, 2 * bytes};
}

GradientBuilder::Var slice_along(GradientBuilder& g, GradientBuilder::Var v, std::size_t axis, std::int64_t begin,
                                 std::int64_t end) {
  std::vector<std::variant<GradientBuilder::Var, Value>> operands{v};
  operands.push_back(Value(std::string(axis, '*') + "r"));
  for (std::size_t i = 0; i < axis; ++i) {
    operands.push_back(Value(std::int64_t{0}));
    operands.push_back(Value(g.type(v).extents[i]));
  }
  operands.push_back(Value(begin));
  operands.push_back(Value(end));
  return g.emit(op_slice, operands);
}

}  // namespace taskspec
