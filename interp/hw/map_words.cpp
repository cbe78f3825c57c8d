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
  if (!words.objective.is_none()) {
    const std::optional<MapObjective> objective = map_objective(words.objective.string());
    if (!objective)
      throw failure("E5003", span,
                    "no objective " + in_quotes(words.objective.string()) + ": throughput, latency, energy or cores");
    options.objective = *objective;
  }
  if (!words.slabs.is_none()) options.slabs = words.slabs.integer();
  if (!words.depth.is_none()) options.depth = small(words.depth);
  if (!words.step_groups.is_none()) options.step_groups = small(words.step_groups);
  if (!words.a2s2.is_none()) options.fetches_ahead = words.a2s2.boolean();
  return options;
}

namespace {

void require(bool is_alike, std::string_view option, const std::string& help) {
  if (is_alike) return;
  Diag diag("E5003", Severity::error, {},
            "the mapping was made with another '" + std::string(option) + "' than what stands beside it here");
  diag.help_text = help;
  throw Error(std::move(diag));
}

}  // namespace

void require_alike(const MapOptions& asked, const WrittenWords& written, const ChipMapping& mapping) {
  const MapOptions& made = mapping.options();
  const Chip& chip = *made.chip;
  const ChipExtent chips = made.chips.area() > 0 ? made.chips : chip.grid.chips;
  const std::int64_t cores = made.cores.value_or(chips.area() * chip.grid.cores.area());
  const auto check = [](bool is_written, bool is_alike, const std::string& option) {
    require(!is_written || is_alike, option, "give " + option + " to map(...), which makes the mapping");
  };
  check(written.chip, asked.chip->name == made.chip->name, "chip");
  check(written.chips, asked.chips == chips, "chips");
  check(written.cores, asked.cores == cores, "cores");
  check(written.objective, asked.objective == made.objective, "objective");
  check(written.slabs, asked.slabs == mapping.decisions().slabs, "slabs");
  check(written.depth, asked.depth == made.depth, "depth");
  check(written.step_groups, asked.step_groups == made.step_groups, "step_groups");
  check(written.a2s2, asked.fetches_ahead == made.fetches_ahead, "a2s2");
}

void require_alike(const MapOptions& asked, const WrittenWords& written, const MapFile& made, bool searches) {
  const MapDecisions& has = made.decisions;
  const MapDecisions silent;  // a file that does not tell leaves it to the options
  const auto check = [](bool is_alike, const std::string& option, std::int64_t value) {
    require(is_alike, option, "leave it out: the file says " + option + ": " + std::to_string(value));
  };
  check(!written.slabs || asked.slabs == has.slabs, "slabs", has.slabs);
  check(!written.depth || has.depth == silent.depth || asked.depth == has.depth, "depth", has.depth);
  check(!written.step_groups || has.step_groups == silent.step_groups || asked.step_groups == has.step_groups,
        "step_groups", has.step_groups);
  require(!written.a2s2 || asked.fetches_ahead || !has.fetches_ahead, "a2s2", "leave it out: the file says a2s2: true");
  if (!written.objective || searches) return;
  Diag diag("E5003", Severity::error, {}, "an objective changes nothing beside a mapping that is there already");
  diag.help_text = "leave it out, or let a search for a better mapping go by it: optimise: \"20000\"";
  throw Error(std::move(diag));
}

void want_objective(RuleContext& c, std::size_t operand) {
  builtins::want(c, operand, Type::Kind::string, "an objective");
  if (const Value* name = c.constant(operand); name && !map_objective(name->string()))
    c.fail("E1003", "no objective " + in_quotes(name->string()), operand, "throughput, latency, energy or cores");
}

}  // namespace taskspec
