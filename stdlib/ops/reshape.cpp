// reshape: the same elements in another shape.
#include <fmt/format.h>

#include <algorithm>

#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::reshape_op {

namespace {

constexpr Operand operands[] = {{"x"}, {.name = "extents", .kind = OperandKind::integer, .variadic = true}};

// `total` elements over `given` extents leave this for the last one. Symbols cancel where the same extent
// stands on both sides, which is what programs do: [N, 4, 6] to (N, -1).
Dim rest(RuleContext& ctx, std::vector<Dim> total, const std::vector<Dim>& given, int operand) {
  Dim over(1);
  for (const Dim& dim : given) {
    auto found = std::find(total.begin(), total.end(), dim);
    if (found != total.end())
      total.erase(found);
    else
      over = over * dim;
  }
  Dim symbols(1), number(1);
  for (const Dim& dim : total) (dim.is_constant() ? number : symbols) = (dim.is_constant() ? number : symbols) * dim;
  if (over == Dim(1)) return symbols * number;
  if (!over.is_constant()) return ctx.unknown(fmt::format("{} / ({})", (symbols * number).text(), over.text()));
  std::int64_t n = *number.constant(), d = *over.constant();
  if (d != 0 && n % d == 0) return symbols * Dim(n / d);
  if (!symbols.is_constant()) return ctx.unknown(fmt::format("{} / {}", (symbols * number).text(), over.text()));
  refuse(ctx, "E2001",
         fmt::format("{} not divide by {}", n == 1 ? "1 element does" : number.text() + " elements do", over.text()),
         operand);
}

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "reshape", 0);
  std::vector<Dim> dims, given;
  int open = -1;
  for (std::size_t i = 1; i < ctx.count(); ++i) {
    Dim dim = *ctx.dim(i);
    if (dim == Dim(-1)) {
      if (open >= 0) refuse(ctx, "E1003", "only one extent may be -1", static_cast<int>(i));
      open = static_cast<int>(i);
      dims.push_back(dim);
    } else {
      dims.push_back(extent_operand(ctx, i));
      given.push_back(dim);
    }
  }
  if (open >= 0) {
    dims[static_cast<std::size_t>(open) - 1] = rest(ctx, x.dims, given, open);
    return Type::tensor(x.precision, dims);
  }
  Type result = Type::tensor(x.precision, dims);
  Dim before = x.elements(), after = result.elements();
  ctx.require_same(before, after,
                   fmt::format("shapes differ: {} has {} {}, {} has {}", x.text(), before.text(),
                               before == Dim(1) ? "element" : "elements", shape_text(dims), after.text()));
  return result;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) { return same_bytes_kernel(call.out[0].bytes()); }

void gradient(GradientBuilder& g) {
  std::vector<std::variant<GradientBuilder::Var, Value>> back{g.upstream()};
  for (std::int64_t extent : g.call().in[0].extents) back.push_back(Value(extent));
  g.add(0, g.emit(op_reshape, back));
}

std::vector<Split> splits(const OpInstance& call) {
  std::vector<Split> splits = same_bytes_splits(call);
  for (Split& split : splits) split.extent = split.out[0] + 1;
  return splits;
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "reshape",
    .serves = Serves::reshapes,
    .operands = operands,
    .doc =
        "Gives the elements of x, in their order, another shape with as many of them (E2001). One extent may be -1: "
        "it takes what is left. No extent at all makes rank 0. No element moves. All precisions.",
    .example =
        "let x = [1, 2, 3, 4, 5, 6] as i32[6]\n"
        "print(x.reshape(2, -1).array)\n"
        "// expect: [[1, 2, 3], [4, 5, 6]]\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding = splits,
    .work = movement_work,
    .fusion = Fusion::movement,
    .sharing = Sharing::same_bytes};

}  // namespace taskspec::reshape_op
