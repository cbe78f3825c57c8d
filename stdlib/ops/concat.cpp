// concat: tensors one after another along an axis.
#include <fmt/format.h>

#include <algorithm>

#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::concat_op {

namespace {

constexpr Operand operands[] = {{.name = "tensors", .kind = OperandKind::tensors},
                                {.name = "axis", .kind = OperandKind::integer}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const std::vector<Type>& parts = ctx.type(0).parts;
  if (parts.empty()) refuse(ctx, "E1003", "concat needs at least one tensor", 0);
  for (const Type& part : parts)
    if (!part.is_tensor()) refuse(ctx, "E1004", "concat joins tensors, not " + part.text(), 0);
  Type result = parts[0];
  std::optional<std::size_t> axis = axis_operand(ctx, 1, result.rank());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Type& part = parts[i];
    if (part.precision != result.precision)
      refuse(ctx, "E2002",
             fmt::format("precision differs: {} and {} in concat; convert one side with 'as'",
                         info(result.precision).name, info(part.precision).name),
             0);
    if (part.rank() != result.rank())
      refuse(ctx, "E2001", fmt::format("shapes differ: {} and {} in concat", parts[0].text(), part.text()), 0);
    for (std::size_t d = 0; d < part.rank(); ++d)
      if (axis && d != *axis)
        ctx.require_same(result.dims[d], part.dims[d],
                         fmt::format("shapes differ: {} and {} in concat; dimension {} is {} against {}",
                                     parts[0].text(), part.text(), d, result.dims[d].text(), part.dims[d].text()));
    if (axis) result.dims[*axis] = result.dims[*axis] + part.dims[*axis];
  }
  if (!axis) result.dims = unknown_dims(ctx, result.rank());
  return result;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  auto axis = static_cast<std::size_t>(call.attributes[1].integer());
  std::vector<CopyPart> parts;
  std::int64_t place = 0;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    std::int64_t count = call.in[i].extents[axis];
    parts.push_back(axis_part(call.in[i], call.out[0], {.axis = axis, .count = count, .from = 0, .to = place}, i));
    place += count;
  }
  return copy_kernel(element_bytes(call), parts);
}

// Each tensor gets its own slice of the upstream gradient.
void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  auto axis = static_cast<std::size_t>(call.attributes[1].integer());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    std::int64_t end = begin + call.in[i].extents[axis];
    g.add(i, slice_along(g, g.upstream(), axis, begin, end));
    begin = end;
  }
}

std::vector<Split> splits(const OpInstance& call) {
  std::vector<Split> splits = splits_beside(call, {static_cast<std::size_t>(call.attributes[1].integer())});
  for (Split& split : splits) std::ranges::fill(split.in, split.in[0]);
  return splits;
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "concat",
    .serves = Serves::joins,
    .operands = operands,
    .doc =
        "Joins a list of tensors along an axis, in order. Their precisions and all their other extents must be "
        "equal (E2002, E2001). All precisions.",
    .example =
        "let a = [[1], [2]] as i32[2, 1]\n"
        "let b = [[3, 4], [5, 6]] as i32[2, 2]\n"
        "print(concat([a, b], 1).array)\n"
        "// expect: [[1, 3, 4], [2, 5, 6]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding = splits,
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::concat_op
