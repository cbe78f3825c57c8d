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

Work standardising_work(const OpInstance& call);

inline constexpr double standardising_tolerance = 1e-5;
inline constexpr std::string_view no_second_derivative = "second derivatives of norms are not offered";

}  // namespace taskspec
