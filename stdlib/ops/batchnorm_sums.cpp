// batchnorm_sums: what the reverse of batchnorm needs to know of each channel.
#include <array>
#include <optional>

#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/standardising.hpp"

namespace taskspec::batchnorm_sums_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {"dy"},
                                {.name = "eps", .kind = OperandKind::real, .standard = 1e-5},
                                {.name = "mean", .standard = Default::absent()},
                                {.name = "variance", .standard = Default::absent()},
                                {.name = "training", .kind = OperandKind::integer, .standard = 1, .at_run = true}};
constexpr std::size_t eps = 2, mean = 3, variance = 4;

bool given(const RuleContext& c, std::size_t operand) { return !c.type(operand).is(Type::Kind::none); }

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "batchnorm_sums", 0, Takes::floats);
  if (x.rank() < 2) refuse(c, "E2001", "'batchnorm_sums' takes at least 2 axes, not " + x.text(), 0);
  require_like_x(c, "batchnorm_sums", 1);
  if (given(c, mean) != given(c, variance)) refuse(c, "E1003", "'batchnorm_sums' takes mean and variance, or neither");
  for (std::size_t kept : {mean, variance})
    if (given(c, kept)) require_per_channel(c, "batchnorm_sums", kept);
  return Type::tensor(sums_precision(x.precision), {Dim(static_cast<std::int64_t>(sum_rows)), x.dims[1]});
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return standardise_sums_kernel(channels_plan(call.in[0], call.attributes[eps].real()), call.in.size() == 5);
}

// One below the other, by sums with zeros.
CallBuilder::Var rows_of(CallBuilder& b, const std::array<CallBuilder::Var, sum_rows>& rows) {
  const Value first(std::int64_t{0}), zero(std::int64_t{0});
  std::optional<CallBuilder::Var> all;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const CallBuilder::Var row =
        b.emit(op_reshape, {rows[r], Value(std::int64_t{1}), Value(b.type(rows[r]).extents[1])});
    const Value before(static_cast<std::int64_t>(r)), after(static_cast<std::int64_t>(rows.size() - 1 - r));
    const CallBuilder::Var placed = b.emit(op_pad, {row, first, before, after, zero});
    all = all ? b.emit(op_add, {*all, placed}) : placed;
  }
  return *all;
}

// Each row is a sum over the batch, or made of some. f16 is summed as f32.
std::vector<CallBuilder::Var> made_of(CallBuilder& b) {
  using Var = CallBuilder::Var;
  const Precision precision = b.call().out[0].precision;
  auto wide = [&](std::size_t input) {
    const Var var = b.input(input);
    return b.type(var).precision == precision ? var
                                              : b.emit(op_cast, {var, Value(Type::of(Type::tensor(precision, {})))});
  };
  const Var x = wide(0), dy = wide(1);
  const ArrayType type = b.type(x);
  const std::size_t rank = type.extents.size();
  Moments by = batch_moments(b, x);
  Var share = b.emit(op_fill, {Value(Type::of(Type::tensor(precision, {Dim(1), Dim(type.extents[1])}))),
                               Value(static_cast<double>(type.extents[1]) / static_cast<double>(type.elements()))});
  if (b.call().in.size() == 5) {  // kept ones, unless a step trains
    const Var trains = b.emit(op_ne, {b.input(4), Value(std::int64_t{0})});
    by.mean = b.emit(op_where, {trains, by.mean, beside(b, wide(2), rank)});
    by.variance = b.emit(op_where, {trains, by.variance, beside(b, wide(3), rank)});
    share = b.emit(op_where, {trains, share, Value(0.0)});
  }
  const Var deviation = per_deviation(b, by.variance, b.call().attributes[eps].real());
  const Var weighted = channel_sums(b, b.emit(op_mul, {dy, b.emit(op_sub, {x, by.mean})}));
  return {rows_of(b, {by.mean, deviation, b.emit(op_mul, {weighted, deviation}), channel_sums(b, dy), share})};
}

std::vector<Split> splits(const OpInstance& call) { return channel_splits(call, made_of); }

}  // namespace

extern constinit const OpDef record =
    OpFields{.name = "batchnorm_sums",
             .operands = operands,
             .doc =
                 "Of each channel of x [B, C, ...], for the reverse of batchnorm: mean, one by the deviation, sum of "
                 "dy n and sum "
                 "of dy (the gradients of scale and shift; n is x with mean 0 and variance 1), and one by the number "
                 "of elements. "
                 "With `mean` and `variance` and a `training` of 0 those are meant, and the last row is 0. Floats; f16 "
                 "gives f32. "
                 "Shapes that differ are E2001, precisions E2002.",
             .example =
                 "let x = [[1.0], [3.0]] as f64[2, 1]\n"
                 "print(batchnorm_sums(x, [[10.0], [20.0]] as f64[2, 1], eps: 0.0).array)\n"
                 "// expect: [[2], [1], [10], [30], [0.5]]\n",
             .type = type,
             .kernel = kernel,
             .gradient = Gradient::none(no_second_derivative),
             .lower = Lowering::none("a chip does not train"),
             .sharding = splits,
             .work = [](const OpInstance& call) -> Work {
               return {8 * static_cast<double>(call.in[0].elements()),
                       2 * static_cast<double>(call.in[0].bytes()) + static_cast<double>(call.out[0].bytes())};
             },
             .tolerance = standardising_tolerance,
             .fusion = Fusion::opaque};

}  // namespace taskspec::batchnorm_sums_op
