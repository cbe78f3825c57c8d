// reverse: elements along axes in the opposite order.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::reverse_op {

namespace {

constexpr Operand operands[] = {{"x"}, {.name = "axis", .kind = OperandKind::axes}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "reverse", 0);
  axes_operand(ctx, 1, x.rank());
  return x;
}

void gradient(GradientBuilder& g) { g.add(0, g.emit(op_reverse, {g.upstream(), g.call().attributes[1]})); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "reverse",
    .operands = operands,
    .doc = "Turns the elements along one axis, or along a tuple of axes, into the opposite order. All precisions.",
    .example =
        "print(([1, 2, 3] as i32[3]).reverse(0).array)\n"
        "// expect: [3, 2, 1]\n",
    .type = type,
    .kernel = mirror_kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding =
        +[](const OpInstance& call) {
          return splits_beside(call, axes_of(call.attributes[1], call.in[0].extents.size()));
        },
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::reverse_op
