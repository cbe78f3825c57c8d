// rotate: quarter turns of a plane.
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/windows.hpp"

namespace taskspec::rotate_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {.name = "quarter_turns", .kind = OperandKind::integer},
                                {.name = "axes", .kind = OperandKind::pair, .standard = Default::absent()}};

Pair axes_of_turn(const Value& given) { return given.is_none() ? Pair{0, 1} : pair_value(given); }

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  Type x = tensor_operand(c, "rotate", 0);
  const Value *turns = c.constant(1), *given = c.constant(2);
  if (!turns || (!given && !c.type(2).is(Type::Kind::none)))
    return Type::tensor(x.precision, unknown_dims(c, x.rank()));
  const Pair axes = axes_of_turn(given ? *given : Value());
  for (std::int64_t axis : axes)
    if (axis < 0 || static_cast<std::size_t>(axis) >= x.rank())
      refuse(c, "E2004", "axis " + std::to_string(axis) + " is outside " + x.text(), given ? 2 : 0);
  if (axes[0] == axes[1]) refuse(c, "E2004", "a plane has two axes, not " + std::to_string(axes[0]) + " twice", 2);
  if (turns->integer() % 2 != 0)
    std::swap(x.dims[static_cast<std::size_t>(axes[0])], x.dims[static_cast<std::size_t>(axes[1])]);
  return x;
}

// Counter-clockwise, y downwards: after one turn row Y, column X is what was at row X, column n - 1 - Y.
std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const Pair axes = axes_of_turn(call.attributes[2]);
  auto y = static_cast<std::size_t>(axes[0]), x = static_cast<std::size_t>(axes[1]);
  const Extents &from = call.in[0].extents, &to = call.out[0].extents;
  std::vector<std::int64_t> steps = steps_of(from), out_steps = steps_of(to);
  const std::int64_t turns = (call.attributes[1].integer() % 4 + 4) % 4;
  CopyPart part;
  for (std::size_t d = 0; d < to.size(); ++d) {
    std::size_t source = d != y && d != x ? d : turns % 2 == 0 ? d : d == y ? x : y;
    const bool mirrored = (d == y && (turns == 1 || turns == 2)) || (d == x && (turns == 2 || turns == 3));
    if (mirrored) part.from += (from[source] - 1) * steps[source];
    part.loops.push_back({to[d], mirrored ? -steps[source] : steps[source], out_steps[d]});
  }
  return copy_kernel(element_bytes(call), {part});
}

void gradient(GradientBuilder& g) {
  const std::vector<Value>& given = g.call().attributes;
  g.add(0, g.emit(op_rotate, {g.upstream(), Value(-given[1].integer()), given[2]}));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "rotate",
    .operands = operands,
    .doc =
        "Turns a plane of x counter-clockwise by quarter turns, clockwise where they are negative: the plane of axes "
        "0 and 1 (y and x), or of the pair `axes`. The edge ROTATE of Task IR. All precisions.",
    .example =
        "print(([[1, 2, 3], [4, 5, 6]] as i32[2, 3]).rotate(1).array)\n"
        "// expect: [[3, 6], [2, 5], [1, 4]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding = Sharding::none(with_planner),
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::rotate_op
