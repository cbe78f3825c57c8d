// pad: elements of one value before and after along an axis.
#include <cstring>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::pad_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {.name = "axis", .kind = OperandKind::integer},
                                {.name = "before", .kind = OperandKind::integer},
                                {.name = "after", .kind = OperandKind::integer},
                                {.name = "value", .kind = OperandKind::value, .standard = 0}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  Type x = tensor_operand(ctx, "pad", 0);
  require_fit(ctx, "pad", 4, x.precision);
  Dim added = extent_operand(ctx, 2) + extent_operand(ctx, 3);
  std::optional<std::size_t> axis = axis_operand(ctx, 1, x.rank());
  if (axis)
    x.dims[*axis] = x.dims[*axis] + added;
  else
    x.dims = unknown_dims(ctx, x.rank());
  return x;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const ArrayType& out = call.out[0];
  auto axis = static_cast<std::size_t>(call.attributes[1].integer());
  std::int64_t before = call.attributes[2].integer(), count = call.in[0].extents[axis];
  Array value = scalar_array(call.attributes[4], out.precision);
  std::array<std::byte, 8> filling{};
  std::memcpy(filling.data(), value.raw(), value.bytes());
  return copy_kernel(element_bytes(call),
                     {filled_part(out, axis, 0, before),
                      axis_part(call.in[0], out, {.axis = axis, .count = count, .from = 0, .to = before}),
                      filled_part(out, axis, before + count, out.extents[axis])},
                     filling);
}

void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  auto axis = static_cast<std::size_t>(call.attributes[1].integer());
  std::int64_t before = call.attributes[2].integer();
  g.add(0, slice_along(g, g.upstream(), axis, before, before + call.in[0].extents[axis]));
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "pad",
    .operands = operands,
    .doc =
        "Adds `before` and `after` elements of one value at both ends of an axis. The value takes the precision of x "
        "(E2002, E2003). All precisions.",
    .example =
        "let x = [1, 2] as i32[2]\n"
        "print(x.pad(0, 1, 2).array, x.pad(0, 0, 1, value: 7).array)\n"
        "// expect: [0, 1, 2, 0, 0] [1, 2, 7]\n",
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

}  // namespace taskspec::pad_op
