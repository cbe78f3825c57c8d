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

void check_source(RuleContext& c) {
  for (std::size_t operand : {c.count() - 2, c.count() - 1}) {
    const Value* value = c.constant(operand);
    if (value && (value->integer() < 0 || value->integer() > UINT32_MAX))
      refuse(c, "E1003",
             fmt::format("{} is a number of 32 bits, not {}", operand + 1 == c.count() ? "call" : "stream",
                         value->integer()),
             static_cast<int>(operand));
  }
}

RandomSource random_source(const OpInstance& call, std::size_t seed) {
  const std::size_t count = call.attributes.size();
  return {philox_key(static_cast<std::uint64_t>(call.attributes[seed].integer())),
          static_cast<std::uint32_t>(call.attributes[count - 2].integer()),
          static_cast<std::uint32_t>(call.attributes[count - 1].integer())};
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
