// permute: axes in another order.
#include <fmt/format.h>

#include <algorithm>

#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::permute_op {

namespace {

constexpr Operand operands[] = {{"x"}, {.name = "axes", .kind = OperandKind::integer, .variadic = true}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "permute", 0);
  if (ctx.count() - 1 != x.rank())
    refuse(ctx, "E1003", fmt::format("permute names every axis once: {} of them, not {}", x.rank(), ctx.count() - 1));
  std::vector<std::size_t> axes;
  for (std::size_t i = 1; i < ctx.count(); ++i) {
    std::optional<std::size_t> axis = axis_operand(ctx, i, x.rank());
    if (!axis) return Type::tensor(x.precision, unknown_dims(ctx, x.rank()));
    if (std::find(axes.begin(), axes.end(), *axis) != axes.end())
      refuse(ctx, "E2004", fmt::format("axis {} is given twice", *axis), static_cast<int>(i));
    axes.push_back(*axis);
  }
  std::vector<Dim> dims;
  for (std::size_t axis : axes) dims.push_back(x.dims[axis]);
  return Type::tensor(x.precision, dims);
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  std::vector<std::int64_t> from = steps_of(call.in[0].extents), to = steps_of(call.out[0].extents);
  CopyPart part;
  for (std::size_t i = 0; i < to.size(); ++i) {
    auto axis = static_cast<std::size_t>(call.attributes[i + 1].integer());
    part.loops.push_back({call.out[0].extents[i], from[axis], to[i]});
  }
  return copy_kernel(element_bytes(call), {part});
}

void gradient(GradientBuilder& g) {
  const std::vector<Value>& axes = g.call().attributes;
  std::vector<std::variant<GradientBuilder::Var, Value>> back(axes.size());
  back[0] = g.upstream();
  for (std::size_t i = 1; i < axes.size(); ++i)
    back[static_cast<std::size_t>(axes[i].integer()) + 1] = Value(static_cast<std::int64_t>(i) - 1);
  g.add(0, g.emit(op_permute, back));
}

std::vector<Split> splits(const OpInstance& call) {
  std::vector<Split> splits;
  for (std::size_t axis = 0; axis < call.out[0].extents.size(); ++axis)
    if (call.out[0].extents[axis] > 1)
      splits.push_back({{static_cast<int>(call.attributes[axis + 1].integer())}, {static_cast<int>(axis)}});
  return splits;
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "permute",
    .operands = operands,
    .doc =
        "Puts the axes of x into another order: axis i of the result is axis axes[i] of x. Every axis is named "
        "once (E1003, E2004). All precisions.",
    .example =
        "let m = [[1, 2, 3], [4, 5, 6]] as i32[2, 3]\n"
        "print(m.permute(1, 0).array)\n"
        "// expect: [[1, 4], [2, 5], [3, 6]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding = splits,
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::permute_op
