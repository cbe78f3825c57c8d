#include "hwsim/time/slowest_step.hpp"

#include <algorithm>

#include "hwsim/map/chains.hpp"
#include "hwsim/time/clock.hpp"

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

BusiestPort busiest_port(const ChipProgram& program, NocModel noc) {
  const NocRoutes routes(noc_figures(*program.chip, program.chips));
  const NocTraffic traffic = traffic_of(program);
  BusiestPort most;
  // The first of those that are held for equally long.
  const auto look_at = [&](std::int64_t clk, const auto& place) {
    if (clk > most.clk) most = {clk, place()};
  };
  const auto look_at_server = [&](std::int64_t packets, std::size_t server) {
    look_at(packets * routes.server(server).service, [&] { return place_of(routes, server); });
  };
  const auto cores = static_cast<std::size_t>(routes.cores());
  for (const auto* ports : {&traffic.injected, &traffic.from_host})
    for (std::size_t i = 0; i < ports->size(); ++i)
      look_at((*ports)[i] * program.chip->noc.link_clk,
              [&] { return injection_of(routes, static_cast<int>(ports == &traffic.from_host ? cores + i : i)); });
  if (noc == NocModel::ideal) return most;
  const bool is_mesh = routes.figures().shape == NocShape::mesh;
  for (std::size_t link = 0; link < traffic.links.size(); ++link)
    if (const std::size_t server = is_mesh ? routes.server_of_link(link) : link; !routes.is_border(server))
      look_at_server(traffic.links[link], server);
  for (std::size_t i = 0; i < traffic.borders.size(); ++i) look_at_server(traffic.borders[i], routes.links() + i);
  for (const auto* ports : {&traffic.ejected, &traffic.to_host})
    for (std::size_t i = 0; i < ports->size(); ++i)
      look_at_server((*ports)[i], routes.ejection(static_cast<int>(ports == &traffic.to_host ? cores + i : i)));
  return most;
}

}  // namespace taskspec
