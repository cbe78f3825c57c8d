#include "hwsim/time/step_levels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {

struct LevelEdge {
  std::int32_t from = 0, to = 0;
  std::int64_t steps = 0;  // that the receiver is behind the sender, at least
  std::int64_t room = 0;   // at most: items that its receive buffer holds
};

// Steps between the one in which an item comes and the one that computes on it: it is received in phase k, for the
// phase behind it, or in mode A2S2 for the phase behind that.
std::int64_t steps_ahead(const ChipCore& core, std::int64_t k) {
  const auto phases = static_cast<std::int64_t>(core.phases.size());
  const std::int64_t used = (k + 1) % phases, received = used - 1 - (core.a2s2 ? 1 : 0);
  return received >= 0 ? 0 : (phases - 1 - received) / phases;
}

// `all`: as if there were one step group.
std::vector<LevelEdge> level_edges(const ChipProgram& program, bool all) {
  std::vector<LevelEdge> edges;
  for (const ChipCore& core : program.cores)
    for (std::size_t k = 0; k < core.phases.size(); ++k)
      for (const std::int32_t number : core.phases[k].receives) {
        const ChipMessage& message = program.messages[static_cast<std::size_t>(number)];
        if (message.from_core == host_core) continue;
        const std::int32_t from = program.cores[static_cast<std::size_t>(message.from_core)].phases[0].group;
        const std::int32_t to = core.phases[0].group;
        if (from == to) continue;
        if (!all &&
            program.step_groups[static_cast<std::size_t>(from)] != program.step_groups[static_cast<std::size_t>(to)])
          continue;
        const ChipBuffer& buffer = core.buffers[static_cast<std::size_t>(message.to_buffer)];
        const std::int64_t waits = steps_waiting(program.cores, message);
        edges.push_back({from, to, steps_ahead(core, static_cast<std::int64_t>(k)) - waits, buffer.slots - waits});
      }
  return edges;
}

struct Levels {
  std::vector<std::int64_t> level;
  std::vector<std::int32_t> before;  // by group: the one that raised it last
  std::int32_t raised = -1;          // still rising; -1: none is
};

Levels levels_of(std::size_t groups, const std::vector<LevelEdge>& edges) {
  Levels made{std::vector<std::int64_t>(groups), std::vector<std::int32_t>(groups, -1)};
  for (std::size_t round = 0; round <= groups; ++round) {
    made.raised = -1;
    for (const LevelEdge& edge : edges) {
      const std::int64_t least = made.level[static_cast<std::size_t>(edge.from)] + edge.steps;
      if (made.level[static_cast<std::size_t>(edge.to)] >= least) continue;
      made.level[static_cast<std::size_t>(edge.to)] = least;
      made.before[static_cast<std::size_t>(edge.to)] = edge.from;
      made.raised = edge.to;
    }
    if (made.raised < 0) break;
  }
  return made;
}

}  // namespace

bool has_room_for_steps(const ChipProgram& program) {
  const std::vector<LevelEdge> edges = level_edges(program, true);
  const Levels made = levels_of(static_cast<std::size_t>(program.groups), edges);
  return made.raised < 0 && std::ranges::all_of(edges, [&](const LevelEdge& edge) {
           return made.level[static_cast<std::size_t>(edge.to)] - made.level[static_cast<std::size_t>(edge.from)] <=
                  edge.room;
         });
}

Result<std::vector<std::int64_t>> step_levels(const ChipProgram& program) {
  const auto groups = static_cast<std::size_t>(program.groups);
  if (program.step_groups.empty()) return std::vector<std::int64_t>(groups);
  Levels made = levels_of(groups, level_edges(program, false));
  if (made.raised < 0) return std::move(made.level);
  const std::vector<std::int32_t>& before = made.before;
  std::int32_t raised = made.raised;
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
