// lift: puts axes of extent 1 into the shape.
#include <algorithm>

#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::lift_op {

namespace {

constexpr Operand operands[] = {{"x"}, {.name = "axis", .kind = OperandKind::axes}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "lift", 0);
  std::size_t added = given_axes(ctx, 1);
  std::optional<std::vector<std::size_t>> axes = axes_operand(ctx, 1, x.rank() + added);
  if (!axes) return Type::tensor(x.precision, unknown_dims(ctx, x.rank() + added));
  std::vector<Dim> dims;
  auto next = x.dims.begin();
  for (std::size_t i = 0; i < x.rank() + added; ++i)
    dims.push_back(std::binary_search(axes->begin(), axes->end(), i) ? Dim(1) : *next++);
  return Type::tensor(x.precision, dims);
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) { return same_bytes_kernel(call.out[0].bytes()); }

void gradient(GradientBuilder& g) { g.add(0, g.emit(op_drop, {g.upstream(), g.call().attributes[1]})); }

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "lift",
    .operands = operands,
    .doc =
        "Adds an axis of extent 1 that becomes axis `axis` of the result, or several for a tuple; the reverse of "
        "drop. No element moves. All precisions.",
    .example =
        "let x = [1, 2, 3] as i32[3]\n"
        "print(x.lift(0).shape, x.lift(1).shape)\n"
        "// expect: [1, 3] [3, 1]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding = same_bytes_splits,
    .work = movement_work,
    .fusion = Fusion::movement,
    .sharing = Sharing::same_bytes};

}  // namespace taskspec::lift_op
