// scale: every element several times, one beside the other.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::scale_op {

namespace {

constexpr Operand operands[] = {
    {"x"}, {.name = "axis", .kind = OperandKind::integer}, {.name = "k", .kind = OperandKind::integer}};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  Type x = tensor_operand(c, "scale", 0);
  Dim copies = extent_operand(c, 2);
  std::optional<std::size_t> axis = axis_operand(c, 1, x.rank());
  if (axis)
    x.dims[*axis] = x.dims[*axis] * copies;
  else
    x.dims = unknown_dims(c, x.rank());
  return x;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  auto axis = static_cast<std::size_t>(call.attributes[1].integer());
  const std::int64_t k = call.attributes[2].integer();
  const Extents& extents = call.in[0].extents;
  std::vector<std::int64_t> from = steps_of(extents), to = steps_of(call.out[0].extents);
  CopyPart part;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    part.loops.push_back({extents[d], from[d], d == axis ? k * to[d] : to[d]});
    if (d == axis) part.loops.push_back({k, 0, to[d]});
  }
  return copy_kernel(element_bytes(call), {part});
}

// The copies of an element become an axis of their own, along which the gradient is summed.
void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  const std::int64_t axis = call.attributes[1].integer();
  std::vector<std::variant<GradientBuilder::Var, Value>> apart{g.upstream()};
  for (std::size_t d = 0; d < call.in[0].extents.size(); ++d) {
    apart.push_back(Value(call.in[0].extents[d]));
    if (static_cast<std::int64_t>(d) == axis) apart.push_back(call.attributes[2]);
  }
  Value copies(axis + 1);
  g.add(0, g.emit(op_drop, {g.emit(op_sum, {g.emit(op_reshape, apart), copies}), copies}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "scale",
    .operands = operands,
    .doc =
        "Makes an axis k times as long, each element k times in a row: element Y is what was at Y / k. The edge SCALE "
        "of Task IR. All precisions.",
    .example =
        "print(([1, 2] as i32[2]).scale(0, 3).array)\n"
        "// expect: [1, 1, 1, 2, 2, 2]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding = Sharding::none(with_planner),
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::scale_op
