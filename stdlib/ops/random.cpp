#include "stdlib/ops/random.hpp"

#include <fmt/format.h>

namespace taskspec {

Type random_type(RuleContext& c, std::string_view name, bool any) {
  if (already_reported(c)) return Type::Kind::error;
  Type result = written_tensor(c, name, 0);
  if (!any && !is_float(result.precision))
    refuse(c, "E2002", fmt::format("'{}' makes floats, not {}", name, result.text()), 0);
  check_source(c);
  return result;
}

void check_source(RuleContext& c, std::size_t seed, std::optional<std::size_t> said) {
  const std::size_t stream = said.value_or(c.count() - 2), call = stream + 1;
  for (std::size_t operand : {seed, stream, call}) {
    const std::string_view name = operand == seed ? "seed" : operand == stream ? "stream" : "call";
    const int guilty = static_cast<int>(operand);
    const Type& type = c.type(operand);
    if (type.is_tensor()) {
      if (type.precision != Precision::i64)
        refuse(c, "E2002", fmt::format("{} is an int or a tensor of one i64, not {}", name, type.text()), guilty);
      c.require_same(type.elements(), Dim(1), fmt::format("{} is {}: it takes one element", name, type.text()));
    }
    const Value* value = c.constant(operand);
    if (operand != seed && value && value->is_integer() && !is_random_word(value->integer()))
      refuse(c, "E1003", random_word_misfit(name, value->integer()), guilty);
  }
}

Type weight_type(RuleContext& c, std::string_view name) {
  Type result = random_type(c, name);
  if (!result.is(Type::Kind::error) && result.rank() < 2)
    refuse(c, "E2001", fmt::format("'{}' takes weights [outputs, inputs, ...], not {}", name, result.text()), 0);
  return result;
}

Fans fans_of(const ArrayType& weights) {
  double window = 1;
  for (std::size_t d = 2; d < weights.extents.size(); ++d) window *= static_cast<double>(weights.extents[d]);
  return {static_cast<double>(weights.extents[1]) * window, static_cast<double>(weights.extents[0]) * window};
}

Work random_work(const OpInstance& call) {
  return {30 * static_cast<double>(call.out[0].elements()), static_cast<double>(call.out[0].bytes())};
}

}  // namespace taskspec
