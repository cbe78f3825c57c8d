// drop: takes axes of extent 1 out of the shape.
#include <fmt/format.h>

#include <algorithm>

#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::drop_op {

namespace {

constexpr Operand operands[] = {{"x"}, {.name = "axis", .kind = OperandKind::axes}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "drop", 0);
  std::optional<std::vector<std::size_t>> axes = axes_operand(ctx, 1, x.rank());
  if (!axes) return Type::tensor(x.precision, unknown_dims(ctx, x.rank() - std::min(x.rank(), given_axes(ctx, 1))));
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (!std::binary_search(axes->begin(), axes->end(), i))
      dims.push_back(x.dims[i]);
    else
      ctx.require_same(
          x.dims[i], Dim(1),
          fmt::format("only an extent of 1 can be dropped; dimension {} of {} is {}", i, x.text(), x.dims[i].text()));
  }
  return Type::tensor(x.precision, dims);
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) { return same_bytes_kernel(call.out[0].bytes()); }

void gradient(GradientBuilder& g) { g.add(0, g.emit(op_lift, {g.upstream(), g.call().attributes[1]})); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "drop",
    .operands = operands,
    .doc =
        "Removes one axis, or a tuple of axes, of extent 1 from the shape; another extent is E2001. No element "
        "moves. All precisions.",
    .example =
        "let row = [[1, 2, 3]] as i32[1, 3]\n"
        "print(row.drop(0).array)\n"
        "// expect: [1, 2, 3]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding = same_bytes_splits,
    .work = movement_work,
    .fusion = Fusion::movement,
    .sharing = Sharing::same_bytes};

}  // namespace taskspec::drop_op
