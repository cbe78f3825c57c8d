// What a net is mapped for. Throughput and few cores the mapper knows itself; the least latency and the least energy
// are looked for from its mappings on, by a search that makes the same moves every time.
#include <algorithm>

#include "hwsim/map/optimise.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t moves_per_unit = 30, most_search_moves = 2000;

// By the clock, as far as it knows better: sums of an estimate take rows that stream for whole maps.
std::int64_t cost_of(const ChipMapping& mapping, MapObjective objective) {
  if (objective == MapObjective::energy) return mapping.estimate().energy;
  const Result<ChipProgram> program = mapping.program();
  if (!program) return INT64_MAX;
  const Result<ChipTiming> timing = time_program(*program, {.frames = 1});
  return timing ? timing->latency : INT64_MAX;
}

// Where rows stream, each move would lay all of the net out anew: what is tried are other numbers of batches.
ChipMapping with_best_batches(const ChipNet& net, const MapOptions& options, ChipMapping best) {
  if (options.slabs) return best;
  std::int64_t least = cost_of(best, options.objective);
  for (const MapObjective begin : {MapObjective::throughput, MapObjective::energy})
    for (const std::int64_t slabs : {2, 4, 7, 8, 14, 16, 24, 28, 32}) {
      if (begin == MapObjective::energy && options.objective == MapObjective::latency) continue;  // on fewer cores
      if (slabs > input_rows(net)) continue;
      MapOptions from = options;
      from.objective = begin;
      from.slabs = slabs;
      const Result<ChipPlan> plan = plan_net(net, from);
      if (!plan) continue;
      Result<ChipMapping> made = ChipMapping::with(net, options, decisions_of(net, *plan));
      if (!made) continue;
      const std::int64_t cost = cost_of(*made, options.objective);
      if (cost >= least) continue;
      least = cost;
      best = *std::move(made);
    }
  return best;
}

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
  if (has_streams(best->decisions())) return with_best_batches(net, options, *std::move(best));
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
