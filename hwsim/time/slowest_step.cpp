#include "hwsim/time/slowest_step.hpp"

#include <algorithm>

#include "hwsim/map/chains.hpp"

namespace taskspec {

std::int64_t slowest_step(const ChipProgram& program) {
  std::vector<std::vector<std::int64_t>> groups(static_cast<std::size_t>(program.groups));
  for (const ChipCore& core : program.cores) {
    std::vector<std::int64_t>& phases = groups[static_cast<std::size_t>(core.phases[0].group)];
    phases.resize(std::max(phases.size(), core.phases.size()));
    for (std::size_t k = 0; k < core.phases.size(); ++k) {
      const ChipPhase& phase = core.phases[k];
      const std::int64_t computed = computed_at(phase, program.chip->cycles.start);
      std::int64_t sent = computed - (phase.soma ? phase.soma->cycles : 0);
      for (const std::int32_t message : phase.sends)
        sent += program.messages[static_cast<std::size_t>(message)].packets;
      phases[k] = std::max({phases[k], computed + phase.move_cycles, sent - 1});
    }
  }
  std::int64_t slowest = 0;
  for (const std::vector<std::int64_t>& phases : groups)
    slowest = std::max(slowest, step_of(phases, program.chip->sync));
  return slowest;
}

std::int64_t busiest_port(const ChipProgram& program, NocModel noc) {
  const NocTraffic traffic = traffic_of(program);
  std::int64_t most = 0;
  for (const auto* ports : {&traffic.injected, &traffic.from_host})
    for (const std::int64_t packets : *ports) most = std::max(most, packets * program.chip->noc.link_clk);
  return noc == NocModel::ideal ? most : std::max(most, traffic.busiest);
}

}  // namespace taskspec
