#include "stdlib/ops/normalising.hpp"

#include "stdlib/ops/splits.hpp"

namespace taskspec {

Type softmax_type(RuleContext& ctx, std::string_view symbol) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, symbol, 0, Takes::floats);
  if (x.rank() == 0)
    refuse(ctx, "E2004", std::string(symbol) + " goes along an axis, and " + x.text() + " has none", 0);
  if (!ctx.type(1).is(Type::Kind::none)) axis_operand(ctx, 1, x.rank());
  return x;
}

Value softmax_axis(const OpInstance& call) {
  const Value& given = call.attributes[1];
  return given.is_none() ? Value(static_cast<std::int64_t>(call.in[0].extents.size()) - 1) : given;
}

SoftmaxPlan softmax_plan(const OpInstance& call, bool logarithm) {
  const Extents& extents = call.in[0].extents;
  auto axis = static_cast<std::size_t>(softmax_axis(call).integer());
  SoftmaxPlan plan{.precision = call.in[0].precision, .extent = extents[axis], .logarithm = logarithm};
  for (std::size_t i = 0; i < axis; ++i) plan.outer *= extents[i];
  for (std::size_t i = axis + 1; i < extents.size(); ++i) plan.inner *= extents[i];
  return plan;
}

std::vector<Split> softmax_splits(const OpInstance& call) {
  return splits_beside(call, {static_cast<std::size_t>(softmax_axis(call).integer())});
}

Work softmax_work(const OpInstance& call) {
  // An exponential counts as ten operations, the rest as four; as everywhere, only the order matters.
  return {14 * static_cast<double>(call.in[0].elements()), 2 * static_cast<double>(call.in[0].bytes())};
}

}  // namespace taskspec
