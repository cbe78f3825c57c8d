// reflect: a mirror image along one axis.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::reflect_op {

namespace {

constexpr Operand operands[] = {{"x"}, {.name = "axis", .kind = OperandKind::integer}};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "reflect", 0);
  axis_operand(c, 1, x.rank());
  return x;
}

void gradient(GradientBuilder& g) { g.add(0, g.emit(op_reflect, {g.upstream(), g.call().attributes[1]})); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "reflect",
    .operands = operands,
    .doc =
        "The mirror image of x along one axis: of m rows row y goes to row m - 1 - y. The edge REFLECT of Task IR. All "
        "precisions.",
    .example =
        "print(([[1, 2], [3, 4]] as i32[2, 2]).reflect(1).array)\n"
        "// expect: [[2, 1], [4, 3]]\n",
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

}  // namespace taskspec::reflect_op
