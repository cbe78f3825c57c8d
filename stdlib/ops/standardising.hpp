// What layernorm and batchnorm have in common: x, a scale and a shift of one axis of it, and eps.
#pragma once
#include "ir/records/rules.hpp"
#include "stdlib/kernels/standardise.hpp"

namespace taskspec {

inline constexpr Operand standardising_operands[] = {
    {"x"}, {"scale"}, {"shift"}, {.name = "eps", .kind = OperandKind::real, .standard = 1e-5}};

// x, floats of at least `rank` axes; scale and shift are as long as its axis `axis` (counted from the end for -1).
Type standardising_type(RuleContext& c, std::string_view name, std::size_t rank, int axis);

// The reverse, for mean and variance over `axes`; `shape` is what scale and shift look like beside x.
void standardising_gradient(GradientBuilder& g, const Value& axes, const Extents& shape);

Work standardising_work(const OpInstance& call);

inline constexpr double standardising_tolerance = 1e-5;

}  // namespace taskspec
