// shift: elements along an axis move on, with zeros or the other end coming in.
#include <algorithm>

#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::shift_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {.name = "axis", .kind = OperandKind::integer},
                                {.name = "by", .kind = OperandKind::integer},
                                {.name = "wrap", .kind = OperandKind::boolean, .standard = false}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "shift", 0);
  axis_operand(ctx, 1, x.rank());
  return x;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const ArrayType& x = call.in[0];
  auto axis = static_cast<std::size_t>(call.attributes[1].integer());
  std::int64_t extent = x.extents[axis], by = call.attributes[2].integer();
  if (extent == 0) return copy_kernel(element_bytes(call), {});
  std::vector<CopyPart> parts;
  if (call.attributes[3].boolean()) {
    by = (by % extent + extent) % extent;
    parts = {axis_part(x, x, {.axis = axis, .count = extent - by, .from = 0, .to = by}),
             axis_part(x, x, {.axis = axis, .count = by, .from = extent - by, .to = 0})};
  } else if (by >= 0) {
    by = std::min(by, extent);
    parts = {axis_part(x, x, {.axis = axis, .count = extent - by, .from = 0, .to = by}), filled_part(x, axis, 0, by)};
  } else {
    by = std::max(by, -extent);
    parts = {axis_part(x, x, {.axis = axis, .count = extent + by, .from = -by, .to = 0}),
             filled_part(x, axis, extent + by, extent)};
  }
  return copy_kernel(element_bytes(call), parts);
}

void gradient(GradientBuilder& g) {
  const std::vector<Value>& given = g.call().attributes;
  g.add(0, g.emit(op_shift, {g.upstream(), given[1], Value(-given[2].integer()), given[3]}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "shift",
    .operands = operands,
    .doc =
        "Moves the elements along an axis by `by` places, towards higher indices where it is positive. What leaves "
        "at one end is lost and zeros come in at the other; with `wrap: true` it comes in itself. All precisions.",
    .example =
        "let x = [1, 2, 3, 4] as i32[4]\n"
        "print(x.shift(0, 1).array, x.shift(0, -1, wrap: true).array)\n"
        "// expect: [0, 1, 2, 3] [2, 3, 4, 1]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding =
        +[](const OpInstance& call) {
          return splits_beside(call, {static_cast<std::size_t>(call.attributes[1].integer())});
        },
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::shift_op
