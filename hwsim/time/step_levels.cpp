#include "hwsim/time/step_levels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {

struct LevelEdge {
  std::int32_t from = 0, to = 0;
  std::int64_t steps = 0;  // that the receiver is behind the sender, at least
};

// Steps between the one in which an item comes and the one that computes on it: it is received in phase k, for the
// phase behind it, or in mode A2S2 for the phase behind that.
std::int64_t steps_ahead(const ChipCore& core, std::int64_t k) {
  const auto phases = static_cast<std::int64_t>(core.phases.size());
  const std::int64_t used = (k + 1) % phases, received = used - 1 - (core.a2s2 ? 1 : 0);
  return received >= 0 ? 0 : (phases - 1 - received) / phases;
}

std::vector<LevelEdge> level_edges(const ChipProgram& program) {
  std::vector<LevelEdge> edges;
  for (const ChipCore& core : program.cores)
    for (std::size_t k = 0; k < core.phases.size(); ++k)
      for (const std::int32_t number : core.phases[k].receives) {
        const ChipMessage& message = program.messages[static_cast<std::size_t>(number)];
        if (message.from_core == host_core) continue;
        const std::int32_t from = program.cores[static_cast<std::size_t>(message.from_core)].phases[0].group;
        const std::int32_t to = core.phases[0].group;
        if (from == to ||
            program.step_groups[static_cast<std::size_t>(from)] != program.step_groups[static_cast<std::size_t>(to)])
          continue;
        edges.push_back({from, to, steps_ahead(core, static_cast<std::int64_t>(k)) - message.delay});
      }
  return edges;
}

}  // namespace

Result<std::vector<std::int64_t>> step_levels(const ChipProgram& program) {
  const auto groups = static_cast<std::size_t>(program.groups);
  std::vector<std::int64_t> levels(groups);
  if (program.step_groups.empty()) return levels;
  const std::vector<LevelEdge> edges = level_edges(program);
  std::vector<std::int32_t> before(groups, -1);
  std::int32_t raised = -1;
  for (std::size_t round = 0; round <= groups; ++round) {
    raised = -1;
    for (const LevelEdge& edge : edges) {
      const std::int64_t least = levels[static_cast<std::size_t>(edge.from)] + edge.steps;
      if (levels[static_cast<std::size_t>(edge.to)] >= least) continue;
      levels[static_cast<std::size_t>(edge.to)] = least;
      before[static_cast<std::size_t>(edge.to)] = edge.from;
      raised = edge.to;
    }
    if (raised < 0) return levels;
  }
  // Still rising: back along the edges that raised them lies a circle.
  for (std::size_t i = 0; i < groups; ++i) raised = before[static_cast<std::size_t>(raised)];
  std::string circle = fmt::format("group {}", raised);
  for (std::int32_t at = before[static_cast<std::size_t>(raised)]; at != raised;
       at = before[static_cast<std::size_t>(at)])
    circle = fmt::format("group {}, ", at) + circle;
  Diags diags;
  diags
      .error("E5012", {}, "groups of cores that start each step together wait for one another within a step: " + circle)
      .help("one step group for each of them, or none");
  return diags;
}

}  // namespace taskspec
