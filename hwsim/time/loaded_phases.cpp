#include "hwsim/time/loaded_phases.hpp"

#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "hwsim/map/chains.hpp"
#include "hwsim/noc/routes.hpp"
#include "hwsim/time/clock.hpp"

namespace taskspec {

namespace {

// Places where packets meet: servers, and behind them the injection ports.
class MeetingPlaces {
 public:
  explicit MeetingPlaces(const NocFigures& figures)
      : routes_(figures), joined_(routes_.servers() + static_cast<std::size_t>(routes_.endpoints())) {
    std::iota(joined_.begin(), joined_.end(), std::size_t{0});
  }

  // All that the packets of a flow pass is one from now on.
  void join(const NocFlow& flow) {
    int from = routes_.endpoint(flow.source);
    const std::size_t first = injection(from);
    auto leg = [&](int to) {
      unite(first, injection(from));
      for (int i = 0; i <= routes_.hops(from, to); ++i) unite(first, routes_.hop(from, to, i).server);
      from = to;
    };
    leg(routes_.endpoint(flow.target));
    for (const int copy : flow.copies) leg(routes_.endpoint(copy));
  }
  std::size_t of(const NocFlow& flow) { return root(injection(routes_.endpoint(flow.source))); }

 private:
  std::size_t injection(int endpoint) const { return routes_.servers() + static_cast<std::size_t>(endpoint); }
  std::size_t root(std::size_t place) {
    while (joined_[place] != place) place = joined_[place] = joined_[joined_[place]];
    return place;
  }
  void unite(std::size_t a, std::size_t b) { joined_[root(b)] = root(a); }

  NocRoutes routes_;
  std::vector<std::size_t> joined_;
};

}  // namespace

LoadedPhases loaded_phases(const ChipProgram& program) {
  LoadedPhases made;
  made.by_flits.assign(program.messages.size(), false);
  const NocFigures figures = noc_figures(*program.chip, program.chips);
  if (figures.shape != NocShape::mesh) return made;
  const std::vector<ChipWay> ways = ways_of(program);
  const ChipFlows all = flows_of(program);
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::size_t>> phases;  // by group and phase of the sender
  MeetingPlaces places(figures);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const ChipMessage& message = program.messages[static_cast<std::size_t>(ways[i].message)];
    const bool from_host = message.from_core == host_core;
    const std::int32_t group =
        from_host ? -1 : program.cores[static_cast<std::size_t>(message.from_core)].phases[0].group;
    phases[{group, from_host ? 0 : message.from_phase}].push_back(i);
    places.join(all.flows[i]);
  }
  made.sending = static_cast<std::int64_t>(phases.size());
  std::set<std::size_t> loaded_places;
  std::vector<bool> is_loaded;
  for (const auto& [key, members] : phases) {
    std::vector<NocFlow> flows;
    for (const std::size_t i : members) flows.push_back(all.flows[i]);
    is_loaded.push_back(solve_noc(figures, flows, NocModel::contended).is_loaded());
    made.loaded += is_loaded.back() ? 1 : 0;
    if (is_loaded.back())
      for (const NocFlow& flow : flows) loaded_places.insert(places.of(flow));
  }
  std::size_t phase = 0;
  for (const auto& [key, members] : phases) {
    bool any = false;
    for (const std::size_t i : members) {
      if (!loaded_places.contains(places.of(all.flows[i]))) continue;
      any = true;
      made.by_flits[static_cast<std::size_t>(ways[i].message)] = true;
    }
    made.beside += any && !is_loaded[phase] ? 1 : 0;
    ++phase;
  }
  return made;
}

}  // namespace taskspec
