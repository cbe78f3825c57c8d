// reverse: elements along axes in the opposite order.
#include <algorithm>

#include "stdlib/ops/movement.hpp"

namespace taskspec {

namespace {

constexpr Operand operands[] = {{"x"}, {.name = "axis", .kind = OperandKind::axes}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "reverse", 0);
  axes_operand(ctx, 1, x.rank());
  return x;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
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

void gradient(GradientBuilder& g) { g.add(0, g.emit("reverse", {g.upstream(), g.call().attributes[1]})); }

}  // namespace

extern constinit const OpDef op_reverse = OpFields{
    .name = "reverse",
    .operands = operands,
    .doc = "Turns the elements along one axis, or along a tuple of axes, into the opposite order. All precisions.",
    .example =
        "print(([1, 2, 3] as i32[3]).reverse(0).array)\n"
        "// expect: [3, 2, 1]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec
