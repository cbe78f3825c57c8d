// What softmax and log_softmax have in common.
#pragma once
#include "ir/records/rules.hpp"
#include "stdlib/kernels/softmax.hpp"

namespace taskspec {

inline constexpr Operand softmax_operands[] = {
    {"x"}, {.name = "axis", .kind = OperandKind::integer, .standard = Default::absent()}};

Type softmax_type(RuleContext& ctx, std::string_view symbol);
SoftmaxPlan softmax_plan(const OpInstance& call, bool logarithm);

// The axis of a call: the last one when it is left out.
Value softmax_axis(const OpInstance& call);

// The other axes.
std::vector<Split> softmax_splits(const OpInstance& call);

Work softmax_work(const OpInstance& call);

}  // namespace taskspec
