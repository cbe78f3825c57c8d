// linear: a dense layer, x @ w.permute(1, 0) + b.
#include <fmt/format.h>

#include "stdlib/kernels/dense.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/products.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::linear_op {

namespace {

constexpr Operand operands[] = {{"x"}, {"w"}, {.name = "b", .standard = Default::absent()}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type &x = tensor_operand(ctx, "linear", 0), &w = tensor_operand(ctx, "linear", 1);
  if (x.rank() == 0) refuse(ctx, "E2001", "linear takes x as [..., I], not " + x.text(), 0);
  if (w.rank() != 2) refuse(ctx, "E2001", "linear takes w as [O, I], not " + w.text(), 1);
  Type result = Type::tensor(product_precision(ctx, "linear", 0, 1), x.dims);
  ctx.require_same(x.dims.back(), w.dims[1],
                   fmt::format("shapes differ: linear of {} and {}; the inputs are {} against {}", x.text(), w.text(),
                               x.dims.back().text(), w.dims[1].text()));
  result.dims.back() = w.dims[0];
  require_bias(ctx, "linear", 2, result.precision, w.dims[0]);
  return result;
}

std::int64_t row_count(const Extents& x) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) rows *= x[i];
  return rows;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  std::int64_t inputs = call.in[1].extents[1];
  ProductPlan plan{.rows = row_count(call.in[0].extents),
                   .columns = call.in[1].extents[0],
                   .depth = inputs,
                   .left = MatrixLines{.line_step = inputs},
                   .right = MatrixLines{.line_step = inputs},
                   .left_precision = call.in[0].precision,
                   .right_precision = call.in[1].precision,
                   .out_precision = call.out[0].precision,
                   .bias = call.in.size() > 2 ? Bias::per_column : Bias::none};
  return best_product_kernel(plan);
}

// The rows of x and of the upstream gradient as two matrices: dx = dy w, dw = dy' x, db = sums of columns.
void gradient(GradientBuilder& g) {
  const ArrayType &x = g.call().in[0], &w = g.call().in[1];
  Value zero(std::int64_t{0}), one(std::int64_t{1}), rows(row_count(x.extents));
  GradientBuilder::Var dy = g.emit(op_reshape, {g.upstream(), rows, Value(w.extents[0])});
  GradientBuilder::Var flat = g.emit(op_reshape, {g.input(0), rows, Value(w.extents[1])});
  std::vector<std::variant<GradientBuilder::Var, Value>> back{g.emit(op_matmul, {dy, g.input(1)})};
  for (std::int64_t extent : x.extents) back.push_back(Value(extent));
  g.add(0, g.emit(op_reshape, back));
  g.add(1, g.emit(op_matmul, {g.emit(op_permute, {dy, one, zero}), flat}));
  if (g.call().in.size() > 2) g.add(2, g.emit(op_drop, {g.emit(op_sum, {dy, zero}), zero}));
}

Work work(const OpInstance& call) { return product_work(call, call.in[1].extents[1]); }

// Rows of x, and rows of w with their numbers of b.
std::vector<Split> splits(const OpInstance& call) {
  std::vector<Split> splits = splits_beside(call, {call.in[0].extents.size() - 1});
  Split columns{std::vector<int>(call.in.size(), 0), {static_cast<int>(call.out[0].extents.size()) - 1}};
  columns.in[0] = Split::whole;
  if (call.in[1].extents[0] > 1) splits.push_back(std::move(columns));
  return splits;
}

// A vector is multiplied by a matrix, rows of a sequence are pixels of a convolution.
void lower(BlockBuilder& b, const OpInstance& call) {
  const Array w = lowering::known(b, 1, "weights");
  const std::size_t last = call.in[0].extents.size() - 1;
  BlockLayout layout{.f = last};
  for (std::size_t axis = 0; axis < last; ++axis)
    if (call.in[0].extents[axis] != 1) (layout.x == no_axis ? layout.x : layout.y) = axis;
  b.weigh({.input = 0,
           .weights = Array::wrap({w.precision(), {w.extents()[0], w.extents()[1], 1, 1}}, w.storage()),
           .bias = lowering::known_bias(b, call),
           .layout = layout,
           .result = layout});
}

}  // namespace

extern constinit const OpDef record =
    OpFields{.name = "linear",
             .operands = operands,
             .doc =
                 "A dense layer: x @ w.permute(1, 0) + b with x [..., I], w [O, I] and b [O], which may be left out. "
                 "Precisions as for @; b has that of the result.",
             .example =
                 "let w = [[1, 2], [3, 4], [5, 6]] as f32[3, 2]\n"
                 "let b = [0.5, 0.5, 0.5] as f32[3]\n"
                 "print(linear([1.0, 10.0] as f32[2], w, b).array)\n"
                 "// expect: [21.5, 43.5, 65.5]\n",
             .type = type,
             .kernel = kernel,
             .gradient = {gradient, {.inputs = 0b11}},
             .lower = lower,
             .sharding = splits,
             .work = work,
             .tolerance = product_tolerance,
             .fusion = Fusion::opaque};

}  // namespace taskspec::linear_op
