// slice: the op behind x[i], x[a..b] and their mixtures.
#include <fmt/format.h>

#include <algorithm>

#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::slice_op {

namespace {

// `spec` has one letter per indexed axis, `bounds` a begin and an end: 'i' an index (end = begin + 1, the axis
// is dropped), 'r' a range, '*' the whole axis.
constexpr Operand operands[] = {{"x"},
                                {.name = "spec", .kind = OperandKind::string},
                                {.name = "bounds", .kind = OperandKind::integer, .variadic = true}};

const std::string& checked_spec(RuleContext& ctx, const Type& x) {
  const Value* value = ctx.constant(1);
  if (!value || value->string().find_first_not_of("ir*") != std::string::npos)
    refuse(ctx, "E1003", "the spec of a slice is a constant string of the letters i, r and *", 1);
  const std::string& spec = value->string();
  if (spec.size() > x.rank())
    refuse(ctx, "E2004", fmt::format("{} indices for {}, which has {}", spec.size(), x.text(), x.rank()));
  if (ctx.count() != 2 + 2 * spec.size())
    refuse(ctx, "E1003", "a slice has a begin and an end for each letter of its spec");
  return spec;
}

// Whether a <= b is known to be false.
bool surely_greater(const Dim& a, const Dim& b) {
  Dim difference = a - b;
  return difference.is_constant() && *difference.constant() > 0;
}

void require_inside(RuleContext& ctx, const Type& x, std::size_t axis, bool index, const Dim& begin, const Dim& end) {
  const Dim& extent = x.dims[axis];
  bool negative = surely_greater(Dim(0), begin) || surely_greater(Dim(0), end);
  bool begins_outside = surely_greater(Dim(0), begin) || surely_greater(begin, extent);
  if (!begins_outside && !negative && !surely_greater(end, extent)) return;
  refuse(ctx, "E2004",
         fmt::format("{} is outside dimension {} of {}", index ? begin.text() : begin.text() + ".." + end.text(), axis,
                     x.text()),
         static_cast<int>((index || begins_outside ? 2 : 3) + 2 * axis),
         negative ? fmt::format("indices count from 0, in ranges too; from the end: x.shape[{}] - 1", axis) : "");
}

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "slice", 0);
  const std::string& spec = checked_spec(ctx, x);
  std::vector<Dim> dims;
  for (std::size_t axis = 0; axis < spec.size(); ++axis) {
    if (spec[axis] == '*') {
      dims.push_back(x.dims[axis]);
      continue;
    }
    bool index = spec[axis] == 'i';
    Dim begin = *ctx.dim(2 + 2 * axis), end = index ? begin + Dim(1) : *ctx.dim(3 + 2 * axis);
    require_inside(ctx, x, axis, index, begin, end);
    if (!index) dims.push_back(surely_greater(begin, end) ? Dim(0) : end - begin);
  }
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(spec.size()), x.dims.end());
  return Type::tensor(x.precision, dims);
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const Extents& extents = call.in[0].extents;
  const std::string& spec = call.attributes[1].string();
  std::vector<std::int64_t> from = steps_of(extents), to = steps_of(call.out[0].extents);
  CopyPart part;
  std::size_t kept = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    char letter = axis < spec.size() ? spec[axis] : '*';
    if (letter != '*') part.from += call.attributes[2 + 2 * axis].integer() * from[axis];
    if (letter == 'i') continue;
    part.loops.push_back({call.out[0].extents[kept], from[axis], to[kept]});
    ++kept;
  }
  return copy_kernel(element_bytes(call), {part});
}

// Dropped axes come back, then zeros stand where the slice did not reach.
void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  const std::string& spec = call.attributes[1].string();
  List dropped;
  for (std::size_t axis = 0; axis < spec.size(); ++axis)
    if (spec[axis] == 'i') dropped.push_back(static_cast<std::int64_t>(axis));
  GradientBuilder::Var back = g.upstream();
  if (!dropped.empty()) back = g.emit(op_lift, {back, Value(Tuple{dropped})});
  for (std::size_t axis = 0; axis < spec.size(); ++axis) {
    if (spec[axis] == '*') continue;
    std::int64_t begin = call.attributes[2 + 2 * axis].integer(), extent = call.in[0].extents[axis];
    std::int64_t after = extent - begin - g.type(back).extents[axis];
    back = g.emit(op_pad,
                  {back, Value(static_cast<std::int64_t>(axis)), Value(begin), Value(after), Value(std::int64_t{0})});
  }
  g.add(0, back);
}

// Axes that are taken whole.
std::vector<Split> splits(const OpInstance& call) {
  const std::string& spec = call.attributes[1].string();
  std::vector<Split> splits;
  int kept = 0;
  for (std::size_t axis = 0; axis < call.in[0].extents.size(); ++axis) {
    const char letter = axis < spec.size() ? spec[axis] : '*';
    if (letter == '*' && call.in[0].extents[axis] > 1) splits.push_back({{static_cast<int>(axis)}, {kept}});
    kept += letter != 'i';
  }
  return splits;
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "slice",
    .symbol = "[]",
    .operands = operands,
    .doc =
        "A part of x, written with brackets: x[i] drops the axis, x[a..b], x[a..], x[..b] and x[..] keep it, axes "
        "that are not mentioned stay whole. Bounds lie inside the shape (E2004 where they are known, else E5003). "
        "All precisions.",
    .example =
        "let m = [[1, 2, 3], [4, 5, 6]] as i32[2, 3]\n"
        "print(m[1].array, m[.., 1..].array, m[0, 2].scalar)\n"
        "// expect: [4, 5, 6] [[2, 3], [5, 6]] 3\n",
    .type = type,
    .kernel = kernel,
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding = splits,
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::slice_op
