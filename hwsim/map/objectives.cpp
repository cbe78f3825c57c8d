// What a net is mapped for. Throughput and few cores the mapper knows itself; the least latency and the least energy
// are looked for from its mappings on, by a search that makes the same moves every time.
#include <algorithm>

#include "hwsim/map/optimise.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t moves_per_unit = 30, most_search_moves = 2000;

// Of two mappings the one that begins better, then improved.
Result<ChipMapping> searched(const ChipNet& net, const MapOptions& options) {
  std::optional<ChipMapping> best;
  Diags diags;
  for (const MapObjective begin : {MapObjective::throughput, MapObjective::energy}) {
    MapOptions from = options;
    from.objective = begin;
    const Result<ChipPlan> plan = plan_net(net, from);
    if (!plan) {
      diags = plan.diags();
      continue;
    }
    Result<ChipMapping> made = ChipMapping::with(net, options, decisions_of(net, *plan));
    if (!made) return made.diags();
    if (!best || is_better(made->estimate(), best->estimate(), options.objective)) best = *std::move(made);
  }
  if (!best) return diags;
  // Where rows stream, each move lays all of the net out anew: the better begin is what there is.
  const MapDecisions& decisions = best->decisions();
  if (decisions.slabs != 1 || std::ranges::any_of(decisions.units, &MapUnit::streams)) return *std::move(best);
  const auto units = static_cast<std::int64_t>(best->units().units.size());
  optimise(*best, {.moves = std::min(most_search_moves, moves_per_unit * units)}, nullptr, false);
  return *std::move(best);
}

bool is_searched(MapObjective objective) {
  return objective == MapObjective::latency || objective == MapObjective::energy;
}

}  // namespace

Result<ChipPlan> plan_for(const ChipNet& net, const MapOptions& options) {
  if (!is_searched(options.objective)) return plan_net(net, options);
  const Result<ChipMapping> mapping = searched(net, options);
  if (!mapping) return mapping.diags();
  return plan_of(net, mapping->units(), mapping->decisions(), mapping->estimator().order());
}

Result<ChipProgram> map_net(const ChipNet& given, const MapOptions& options) {
  return of_fitted(given, options, [&](const FittedNet& fitted) -> Result<ChipProgram> {
    if (!is_searched(options.objective)) {
      Result<MappedNet> mapped = plan_and_lay_out(fitted.net, options);
      if (!mapped) return mapped.diags();
      return std::move(mapped->program);
    }
    const Result<ChipMapping> mapping = searched(fitted.net, options);
    if (!mapping) return mapping.diags();
    return mapping->program();
  });
}

}  // namespace taskspec
