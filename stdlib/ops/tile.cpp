// tile: an axis repeated.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::tile_op {

namespace {

constexpr Operand operands[] = {
    {"x"}, {.name = "axis", .kind = OperandKind::integer}, {.name = "n", .kind = OperandKind::integer}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  Type x = tensor_operand(ctx, "tile", 0);
  Dim copies = extent_operand(ctx, 2);
  std::optional<std::size_t> axis = axis_operand(ctx, 1, x.rank());
  if (axis)
    x.dims[*axis] = x.dims[*axis] * copies;
  else
    x.dims = unknown_dims(ctx, x.rank());
  return x;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  auto axis = static_cast<std::size_t>(call.attributes[1].integer());
  const Extents& extents = call.in[0].extents;
  std::vector<std::int64_t> from = steps_of(extents), to = steps_of(call.out[0].extents);
  CopyPart part;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i == axis) part.loops.push_back({call.attributes[2].integer(), 0, extents[i] * to[i]});
    part.loops.push_back({extents[i], from[i], to[i]});
  }
  return copy_kernel(element_bytes(call), {part});
}

// The copies become an axis of their own, along which the gradient is summed.
void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  auto axis = static_cast<std::size_t>(call.attributes[1].integer());
  std::vector<std::variant<GradientBuilder::Var, Value>> split{g.upstream()};
  for (std::size_t i = 0; i < call.in[0].extents.size(); ++i) {
    if (i == axis) split.push_back(call.attributes[2]);
    split.push_back(Value(call.in[0].extents[i]));
  }
  g.add(0, g.emit(op_drop, {g.emit(op_sum, {g.emit(op_reshape, split), call.attributes[1]}), call.attributes[1]}));
}

}  // namespace

extern constinit const OpDef record =
    OpFields{.name = "tile",
             .operands = operands,
             .doc = "Repeats x `n` times along an axis, one copy after the other. All precisions.",
             .example =
                 "print(([1, 2] as i32[2]).tile(0, 3).array)\n"
                 "// expect: [1, 2, 1, 2, 1, 2]\n",
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

}  // namespace taskspec::tile_op
