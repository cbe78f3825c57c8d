// broadcast: extents of 1 stretched, axes added on the left.
#include <fmt/format.h>

#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::broadcast_op {

namespace {

constexpr Operand operands[] = {{"x"}, {.name = "extents", .kind = OperandKind::integer, .variadic = true}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "broadcast", 0);
  std::vector<Dim> dims;
  for (std::size_t i = 1; i < ctx.count(); ++i) dims.push_back(extent_operand(ctx, i));
  if (dims.size() < x.rank()) refuse(ctx, "E2001", fmt::format("{} has more axes than {}", x.text(), shape_text(dims)));
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const Dim& wanted = dims[dims.size() - x.rank() + i];
    if (!(x.dims[i] == Dim(1)))
      ctx.require_same(x.dims[i], wanted,
                       fmt::format("dimension {} of {} does not stretch to {}", i, x.text(), wanted.text()));
  }
  return Type::tensor(x.precision, dims);
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const Extents &x = call.in[0].extents, &out = call.out[0].extents;
  std::vector<std::int64_t> from = steps_of(x), to = steps_of(out);
  CopyPart part;
  for (std::size_t i = 0; i < out.size(); ++i) {
    bool added = i < out.size() - x.size();
    std::size_t axis = added ? 0 : i - (out.size() - x.size());
    part.loops.push_back({out[i], added || x[axis] == 1 ? 0 : from[axis], to[i]});
  }
  return copy_kernel(element_bytes(call), {part});
}

void gradient(GradientBuilder& g) { g.add(0, reduce_to(g, g.upstream(), g.call().in[0])); }

// Axes of the result; those that are stretched need x whole.
std::vector<Split> splits(const OpInstance& call) {
  std::vector<Split> splits = pointwise_splits(call);
  for (Split& split : splits) split.extent = split.out[0] + 1;
  return splits;
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "broadcast",
    .operands = operands,
    .doc =
        "Stretches x to the given extents, aligned from the right: an extent of 1 and a missing axis are repeated, "
        "any other must be equal (E2001). All precisions.",
    .example =
        "print(([[1], [2]] as i32[2, 1]).broadcast(2, 3).array)\n"
        "// expect: [[1, 1, 1], [2, 2, 2]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding = splits,
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::broadcast_op
