// running_batchnorm: batchnorm with a mean and a variance that are kept from batch to batch.
#include <fmt/format.h>

#include <algorithm>

#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"
#include "stdlib/ops/standardising.hpp"

namespace taskspec::running_batchnorm_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {.name = "mean", .privilege = Privilege::inout},
                                {.name = "variance", .privilege = Privilege::inout},
                                {"scale"},
                                {"shift"},
                                {.name = "eps", .kind = OperandKind::real, .standard = 1e-5},
                                {.name = "momentum", .kind = OperandKind::real, .standard = 0.1},
                                {.name = "training", .kind = OperandKind::integer, .standard = 0, .at_run = true}};
constexpr std::size_t mean = 1, variance = 2, scale = 3, shift = 4, eps = 5, momentum = 6;
constexpr std::size_t training_input = 5;  // among the tensors
constexpr std::string_view outputs[] = {"y", "mean", "variance"};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type& x = tensor_operand(c, "running_batchnorm", 0, Takes::floats);
  if (x.rank() < 2) refuse(c, "E2001", "'running_batchnorm' takes at least 2 axes, not " + x.text(), 0);
  for (std::size_t operand : {mean, variance, scale, shift}) require_per_channel(c, "running_batchnorm", operand);
  if (const Value* known = c.constant(momentum); known && !(known->real() >= 0 && known->real() <= 1))
    refuse(c, "E1003", fmt::format("a momentum lies in 0..1, not {}", print(*known)), static_cast<int>(momentum));
  Type result(Type::Kind::invocation);
  result.parts = {x, c.type(mean), c.type(variance)};
  result.names.assign(std::begin(outputs), std::end(outputs));
  return result;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return running_standardise_kernel(channels_plan(call.in[0], call.attributes[eps].real()),
                                    call.attributes[momentum].real());
}

// Where the kept ones are used they are constants; they are the new versions then, too. In training none is used.
void gradient(GradientBuilder& g) {
  if (!g.has_upstream(0)) return;
  add_channel_gradients(g,
                        g.emit(op_batchnorm_sums, {g.input(0), g.upstream(0), g.call().attributes[eps], g.output(mean),
                                                   g.output(variance), g.input(training_input)}),
                        scale);
}

Work work(const OpInstance& call) {
  Work work = standardising_work(call);
  work.bytes += 6 * static_cast<double>(call.in[1].bytes());
  return work;
}

// Parts of a batch have its mean and variance in common, and move the kept ones once.
std::vector<CallBuilder::Var> made_of(CallBuilder& b) {
  using Var = CallBuilder::Var;
  const Var x = b.input(0), trains = b.emit(op_ne, {b.input(training_input), Value(std::int64_t{0})});
  const ArrayType type = b.type(x);
  const std::size_t rank = type.extents.size();
  const auto elements = static_cast<double>(type.elements() / type.extents[1]);
  const double share = b.call().attributes[momentum].real();
  const Moments batch = batch_moments(b, x);
  auto used = [&](Var now, std::size_t kept) {
    return b.emit(op_where, {trains, now, beside(b, b.input(kept), rank)});
  };
  auto moved = [&](Var now, std::size_t kept) {
    const Var some = b.emit(op_mul, {per_channel(b, now), Value(share)});
    return b.emit(op_where,
                  {trains, b.emit(op_add, {b.emit(op_mul, {b.input(kept), Value(1 - share)}), some}), b.input(kept)});
  };
  const Var unbiased = b.emit(op_mul, {batch.variance, Value(elements / std::max(1.0, elements - 1))});
  return {standardised(b, x, {used(batch.mean, mean), used(batch.variance, variance)}, b.input(scale), b.input(shift),
                       b.call().attributes[eps].real()),
          moved(batch.mean, mean), moved(unbiased, variance)};
}

std::vector<Split> splits(const OpInstance& call) { return channel_splits(call, made_of); }

// With kept statistics a factor and a summand for each channel, which the layer before takes into its weights.
void lower(BlockBuilder& b, const OpInstance& call) {
  for (std::size_t input = 1; input < call.in.size(); ++input) lowering::known(b, input, "statistics");
  if (b.fixed(training_input).number(0) != 0)
    b.refuse("it takes mean and variance of the batch at hand", "the kept ones: a net that is not in training");
  std::vector<double> factor, summand;
  for (std::int64_t c = 0; c < b.fixed(mean).elements(); ++c) {
    factor.push_back(b.fixed(scale).number(c) / std::sqrt(b.fixed(variance).number(c) + call.attributes[eps].real()));
    summand.push_back(b.fixed(shift).number(c) - b.fixed(mean).number(c) * factor.back());
  }
  b.affine(1, factor, summand);
  b.keeps(1, mean), b.keeps(2, variance);
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "running_batchnorm",
    .operands = operands,
    .outputs = outputs,
    .doc =
        "As `batchnorm`, with kept statistics: `mean` and `variance`, places of one number for each channel. Where "
        "`training` is 0 they are what x is brought to mean 0 and variance 1 by, and stay. Else the batch at hand has "
        "its own, and they move towards those: kept * (1 - momentum) + batch * momentum, with the variance of the "
        "batch "
        "by its elements less one (by one for a single element). No gradient goes through kept statistics. Floats of "
        "one "
        "precision (E2002), shapes that differ are E2001, a momentum outside 0..1 is E1003.",
    .example =
        "var mean = [0.0] as f64[1]\n"
        "var variance = [1.0] as f64[1]\n"
        "let one = [1.0] as f64[1]\n"
        "let x = [[1.0], [3.0]] as f64[2, 1]\n"
        "let y = running_batchnorm(x, mean, variance, one, one - 1.0, eps: 0.0, momentum: 0.5, training: 1)\n"
        "print(y.array, mean.array, variance.array)\n"
        "// expect: [[-1], [1]] [1] [1.5]\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b101001, .outputs = 0b110}},
    .lower = lower,
    .sharding = splits,
    .work = work,
    .tolerance = standardising_tolerance,
    .fusion = Fusion::opaque,
    .sharing = Sharing::in_place};

}  // namespace taskspec::running_batchnorm_op
