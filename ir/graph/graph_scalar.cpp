// What is done to host scalars before they are known, done when they are.
#include <algorithm>
#include <array>

#include "ir/graph/task_graph.hpp"

namespace taskspec {

std::string GraphScalar::text() const { return written; }

Value GraphScalar::value(FunctionRef<Value(std::uint32_t)> input_at) const {
  if (input != UINT32_MAX) return input_at(input);
  std::array<Value, 3> few;  // those of nearly all ops: no memory is taken where a task runs
  std::vector<Value> many;
  if (operands.size() > few.size()) many.resize(operands.size());
  const std::span<Value> given = many.empty() ? std::span(few).first(operands.size()) : std::span(many);
  std::ranges::transform(operands, given.begin(), [&](const Value& operand) {
    auto* open = operand.as<GraphScalar>();
    return open ? open->value(input_at) : operand;
  });
  if (given.empty()) bug(written + " is asked for, which nobody knows");
  return op ? op->scalar(given) : Value(given[0].real());
}

}  // namespace taskspec
