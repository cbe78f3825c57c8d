// What the norms and their reverses have in common: x, a scale and a shift of one axis of it, and eps.
#pragma once
#include "ir/records/rules.hpp"
#include "stdlib/kernels/standardise.hpp"

namespace taskspec {

inline constexpr Operand standardising_operands[] = {
    {"x"}, {"scale"}, {"shift"}, {.name = "eps", .kind = OperandKind::real, .standard = 1e-5}};

// x, floats of at least `rank` axes; scale and shift are as long as its axis `axis` (counted from the end for -1).
Type standardising_type(RuleContext& c, std::string_view name, std::size_t rank, int axis);

// Groups of batchnorm, which are channels, and of layernorm, which are rows.
StandardisePlan channels_plan(const ArrayType& x, double epsilon);
StandardisePlan rows_plan(const ArrayType& x, double epsilon);

// An operand of the reverses: of the shape and precision of x.
void require_like_x(RuleContext& c, std::string_view name, std::size_t operand);

// An operand of one number for each channel of x.
void require_per_channel(RuleContext& c, std::string_view name, std::size_t operand);

// The precision of batchnorm_sums.
Precision sums_precision(Precision x);

// What `sums` of batchnorm_sums say: contributes to x, and to the inputs `scale` and the next one, the shift.
void add_channel_gradients(GradientBuilder& g, GradientBuilder::Var sums, std::size_t scale);

// Mean and variance of each channel of x over the batch, [1, C, 1, ...], in ops that parts of a batch can share: the
// means are sums, divided. And x by them, a scale and a shift of [C].
struct Moments {
  CallBuilder::Var mean, variance;
};
Moments batch_moments(CallBuilder& b, CallBuilder::Var x);
CallBuilder::Var standardised(CallBuilder& b, CallBuilder::Var x, Moments by, CallBuilder::Var scale,
                              CallBuilder::Var shift, double epsilon);
CallBuilder::Var per_deviation(CallBuilder& b, CallBuilder::Var variance, double epsilon);

// Sums over all axes but the channels; a tensor [C] beside such sums, and back.
CallBuilder::Var channel_sums(CallBuilder& b, CallBuilder::Var x);
CallBuilder::Var beside(CallBuilder& b, CallBuilder::Var per_channel, std::size_t rank);
CallBuilder::Var per_channel(CallBuilder& b, CallBuilder::Var sums);

// Channels by themselves: what has several axes has them as axis 1, the others of one axis as that. And rows, of what
// has as many axes as x, in other calls.
std::vector<Split> channel_splits(const OpInstance& call, std::vector<CallBuilder::Var> (*made_of)(CallBuilder&));

Work standardising_work(const OpInstance& call);

inline constexpr double standardising_tolerance = 1e-5;
inline constexpr std::string_view no_second_derivative = "second derivatives of norms are not offered";

}  // namespace taskspec
