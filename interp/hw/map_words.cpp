#include "interp/hw/map_words.hpp"

#include <algorithm>

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

std::int32_t small(const Value& number) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number.integer(), INT32_MIN, INT32_MAX));
}

bool is_extent(const Value& chips) {
  return chips.is_list() && chips.list().size() == 2 &&
         std::ranges::all_of(chips.list(), [](const Value& n) { return n.is_integer() && n.integer() >= 1; });
}

}  // namespace

MapOptions map_options(const MapWords& words, Span span) {
  MapOptions options;
  if (!words.chips.is_none()) {
    if (!is_extent(words.chips))
      throw failure("E5003", span, "chips are two numbers, how many side by side and how many rows: [2, 1]");
    options.chips = {words.chips.list()[0].integer(), words.chips.list()[1].integer()};
  }
  if (!words.cores.is_none()) {
    if (words.cores.integer() < 1) throw failure("E5003", span, "a chip is used with one core or more");
    if (words.cores.integer() > INT32_MAX)
      throw failure("E5003", span, "no chip has " + std::to_string(words.cores.integer()) + " cores");
    options.cores = small(words.cores);
  }
  const std::optional<MapObjective> objective = map_objective(words.objective.string());
  if (!objective)
    throw failure("E5003", span,
                  "no objective " + in_quotes(words.objective.string()) + ": throughput, latency, energy or cores");
  options.objective = *objective;
  if (!words.slabs.is_none()) options.slabs = words.slabs.integer();
  options.depth = small(words.depth);
  options.step_groups = small(words.step_groups);
  options.fetches_ahead = words.a2s2.boolean();
  return options;
}

void want_objective(RuleContext& c, std::size_t operand) {
  builtins::want(c, operand, Type::Kind::string, "an objective");
  if (const Value* name = c.constant(operand); name && !map_objective(name->string()))
    c.fail("E1003", "no objective " + in_quotes(name->string()), operand, "throughput, latency, energy or cores");
}

}  // namespace taskspec
