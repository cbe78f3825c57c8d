// matmul: the operator @.
#include <fmt/format.h>

#include <algorithm>

#include "stdlib/kernels/copy.hpp"
#include "stdlib/kernels/dense.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/products.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::matmul_op {

namespace {

constexpr Operand operands[] = {{"a"}, {"b"}};

// Extents of the two matrices at the end of a shape; a rank-1 side is a row (left) or a column (right).
template <class T>
std::array<T, 2> matrix(const std::vector<T>& dims, bool left) {
  if (dims.size() > 1) return {dims[dims.size() - 2], dims.back()};
  return left ? std::array<T, 2>{T(1), dims[0]} : std::array<T, 2>{dims[0], T(1)};
}

template <class T>
std::vector<T> batch(const std::vector<T>& dims) {
  return {dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(dims.size(), 2))};
}

// Leading dimensions broadcast as shapes do.
std::vector<Dim> broadcast_batch(RuleContext& ctx, const std::string& text, std::vector<Dim> a, std::vector<Dim> b) {
  std::size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), Dim(1));
  b.insert(b.begin(), rank - b.size(), Dim(1));
  for (std::size_t i = 0; i < rank; ++i) {
    if (a[i] == Dim(1))
      a[i] = b[i];
    else if (!(b[i] == Dim(1)))
      ctx.require_same(
          a[i], b[i],
          fmt::format("shapes differ: {}; batch dimension {} is {} against {}", text, i, a[i].text(), b[i].text()));
  }
  return a;
}

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type &a = tensor_operand(ctx, "@", 0), &b = tensor_operand(ctx, "@", 1);
  for (int i : {0, 1})
    if (ctx.type(static_cast<std::size_t>(i)).rank() == 0)
      refuse(ctx, "E2001", "@ multiplies vectors and matrices; this has rank 0", i, "use * to scale");
  Precision precision = product_precision(ctx, "@", 0, 1);
  std::array<Dim, 2> left = matrix(a.dims, true), right = matrix(b.dims, false);
  std::string text = call_text(ctx, "@");
  ctx.require_same(
      left[1], right[0],
      fmt::format("shapes differ: {}; inner dimension is {} against {}", text, left[1].text(), right[0].text()));
  std::vector<Dim> dims = broadcast_batch(ctx, text, batch(a.dims), batch(b.dims));
  if (a.rank() > 1) dims.push_back(left[0]);
  if (b.rank() > 1) dims.push_back(right[1]);
  return Type::tensor(precision, dims);
}

// Where each matrix of a broadcast batch begins, in elements.
std::vector<std::int64_t> starts(const Extents& own, const Extents& all, std::int64_t matrix_elements) {
  std::vector<std::int64_t> steps = steps_of(own), out{0};
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool missing = i + own.size() < all.size();
    std::size_t axis = missing ? 0 : i + own.size() - all.size();
    std::int64_t step = missing || own[axis] == 1 ? 0 : steps[axis] * matrix_elements;
    std::vector<std::int64_t> longer;
    for (std::int64_t start : out)
      for (std::int64_t k = 0; k < all[i]; ++k) longer.push_back(start + k * step);
    out = std::move(longer);
  }
  return out;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const Extents &a = call.in[0].extents, &b = call.in[1].extents, &out = call.out[0].extents;
  auto [rows, depth] = matrix(a, true);
  std::int64_t columns = matrix(b, false)[1];
  Extents a_batch = batch(a), b_batch = batch(b);
  Extents all(out.begin(), out.end() - (a.size() > 1) - (b.size() > 1));
  if (b_batch.empty()) {  // one right side for all: the batch is only more rows
    for (std::int64_t extent : a_batch) rows *= extent;
    a_batch = all = {};
  }
  ProductPlan plan{.rows = rows,
                   .columns = columns,
                   .depth = depth,
                   .left = MatrixLines{.line_step = depth},
                   .right = MatrixLines{.line_step = 1, .step = columns},
                   .left_precision = call.in[0].precision,
                   .right_precision = call.in[1].precision,
                   .out_precision = call.out[0].precision,
                   .items = {}};
  std::vector<std::int64_t> left = starts(a_batch, all, rows * depth), right = starts(b_batch, all, depth * columns);
  for (std::size_t i = 0; i < left.size(); ++i)
    plan.items.push_back({left[i], right[i], static_cast<std::int64_t>(i) * rows * columns});
  return best_product_kernel(plan);
}

// v with its last two axes exchanged.
GradientBuilder::Var turned(GradientBuilder& g, GradientBuilder::Var v) {
  auto rank = static_cast<std::int64_t>(g.type(v).extents.size());
  std::vector<std::variant<GradientBuilder::Var, Value>> operands{v};
  for (std::int64_t i = 0; i < rank - 2; ++i) operands.push_back(Value(i));
  operands.push_back(Value(rank - 1));
  operands.push_back(Value(rank - 2));
  return g.emit(op_permute, operands);
}

// Everything as matrices: da = dc b', db = a' dc, summed over the batch dimensions that were stretched.
void gradient(GradientBuilder& g) {
  bool row = g.call().in[0].extents.size() == 1, column = g.call().in[1].extents.size() == 1;
  auto lift = [&](GradientBuilder::Var v, std::size_t axis) {
    return g.emit(op_lift, {v, Value(static_cast<std::int64_t>(axis))});
  };
  GradientBuilder::Var a = row ? lift(g.input(0), 0) : g.input(0);
  GradientBuilder::Var b = column ? lift(g.input(1), 1) : g.input(1);
  GradientBuilder::Var c = g.upstream();
  if (column) c = lift(c, g.type(c).extents.size());
  if (row) c = lift(c, g.type(c).extents.size() - 1);
  GradientBuilder::Var da = reduce_to(g, g.emit(op_matmul, {c, turned(g, b)}), g.type(a));
  GradientBuilder::Var db = reduce_to(g, g.emit(op_matmul, {turned(g, a), c}), g.type(b));
  g.add(0, row ? g.emit(op_drop, {da, Value(std::int64_t{0})}) : da);
  g.add(1, column ? g.emit(op_drop, {db, Value(std::int64_t{1})}) : db);
}

Work work(const OpInstance& call) { return product_work(call, matrix(call.in[0].extents, true)[1]); }

// Matrices of the batch, rows of the left one, columns of the right one, and what is summed over.
std::vector<Split> splits(const OpInstance& call) {
  const int left = static_cast<int>(call.in[0].extents.size()), right = static_cast<int>(call.in[1].extents.size()),
            out = static_cast<int>(call.out[0].extents.size());
  const int batch = out - (left > 1) - (right > 1), columns = right > 1 ? right - 1 : Split::whole;
  auto extent = [&](std::size_t input, int axis) { return call.in[input].extents[static_cast<std::size_t>(axis)]; };
  std::vector<Split> splits;
  for (int d = 0; d < batch; ++d) {
    Split split{{Split::whole, Split::whole}, {d}};
    for (std::size_t input : {0, 1}) {
      const int axis = d - batch + static_cast<int>(call.in[input].extents.size()) - 2;
      if (axis >= 0 && extent(input, axis) > 1) split.in[input] = axis;
    }
    if (split.in != std::vector<int>{Split::whole, Split::whole}) splits.push_back(std::move(split));
  }
  if (left > 1 && extent(0, left - 2) > 1) splits.push_back({{left - 2, Split::whole}, {batch}});
  if (right > 1 && extent(1, columns) > 1) splits.push_back({{Split::whole, columns}, {out - 1}});
  if (extent(0, left - 1) > 1)
    splits.push_back({.in = {left - 1, right > 1 ? right - 2 : 0}, .out = {Split::whole}, .sums = true});
  return splits;
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "matmul",
    .symbol = "@",
    .operands = operands,
    .doc =
        "The matrix product a @ b of [M, K] and [K, N]. A rank-1 side is a row on the left and a column on the right "
        "and its dimension is dropped from the result; further dimensions in front are a batch and broadcast. "
        "tern u4 i8 u8 i9 i28 and mixes of them give i32, any other precision but bool its own (E2002). Integers "
        "are exact and wrap.",
    .example =
        "let a = [[1, 2], [3, 4]] as i32[2, 2]\n"
        "let x = [10, 1] as i32[2]\n"
        "print((a @ a).array, (a @ x).array, (x @ x).scalar)\n"
        "// expect: [[7, 10], [15, 22]] [12, 34] 101\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b11}},
    .lower = +[](BlockBuilder& b, const OpInstance&) { b.matrix_product(); },
    .sharding = splits,
    .work = work,
    .tolerance = product_tolerance,
    .fusion = Fusion::opaque};

}  // namespace taskspec::matmul_op
