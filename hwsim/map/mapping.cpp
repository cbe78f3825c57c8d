#include "hwsim/map/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

Diags as_diags(Diag diag) {
  Diags diags;
  diags.add(std::move(diag));
  return diags;
}

}  // namespace

ChipMapping::ChipMapping(ChipNet given, FittedNet fitted, const MapOptions& options)
    : options_(options),
      given_(std::make_shared<const ChipNet>(std::move(given))),
      estimator_(estimator_of(std::move(fitted.net))),
      cuts_(std::move(fitted.cuts)) {}

std::shared_ptr<MapEstimator> ChipMapping::estimator_of(ChipNet net) const {
  return std::make_shared<MapEstimator>(std::move(net), options_.chip, chips_of(options_),
                                        static_cast<std::int32_t>(cores_of(options_)));
}

Result<ChipMapping> ChipMapping::with(ChipNet given, FittedNet fitted, const MapOptions& options,
                                      const MapDecisions& decisions) {
  ChipMapping made(std::move(given), std::move(fitted), options);
  if (auto fault = made.estimator_->set(decisions)) return as_diags(*std::move(fault));
  return made;
}

Result<ChipMapping> ChipMapping::with(ChipNet net, const MapOptions& options, const MapDecisions& decisions) {
  FittedNet same{net, {}};
  return with(std::move(net), std::move(same), options, decisions);
}

Result<ChipMapping> ChipMapping::make(ChipNet given, const MapOptions& options) {
  return of_fitted(given, options, [&](FittedNet fitted) -> Result<ChipMapping> {
    const Result<ChipPlan> plan = plan_for(fitted.net, options);
    if (!plan) return plan.diags();
    const MapDecisions decisions = decisions_of(fitted.net, *plan);
    return with(given, std::move(fitted), options, decisions);
  });
}

MapEstimate ChipMapping::from_scratch() const {
  MapEstimator whole(net(), options_.chip, estimator_->chips(), estimator_->places().there);
  if (whole.set(decisions(), MapEstimator::By::program)) bug("what was possible step by step is not so at once");
  return whole.estimate();
}

Result<ChipProgram> ChipMapping::program() const {
  Result<ChipPlan> plan = plan_of(net(), units(), decisions(), estimator_->order());
  if (!plan) return plan.diags();
  return program_of(net(), options_, estimator_->chips(), estimator_->places().there, *std::move(plan));
}

// ---- history --------------------------------------------------------------------------------------

ChipMapping::Done ChipMapping::act(MapDecisions next) { return act(estimator_, cuts_, std::move(next)); }

ChipMapping::Done ChipMapping::act(std::shared_ptr<MapEstimator> estimator, SumCuts cuts, MapDecisions next) {
  tidy(next);
  const Past now = past();
  if (cuts == now.cuts && next == now.decisions) return estimate();
  if (auto fault = estimator->set(next)) return as_diags(*std::move(fault));
  if (Diags faults = waits_of(*estimator); faults.has_errors()) {
    if (estimator_->set(now.decisions)) bug("what was there before is no longer possible");
    return faults;
  }
  estimator_ = std::move(estimator);
  cuts_ = std::move(cuts);
  before_.push_back(now);
  behind_.clear();
  return estimate();
}

// Whether groups that start together, or fetch ahead, would wait for one another the clock alone knows.
Diags ChipMapping::waits_of(const MapEstimator& estimator) const {
  const MapDecisions& next = estimator.decisions();
  if (next.step_groups == 0 && !next.fetches_ahead) return {};
  const Result<ChipPlan> plan = plan_of(estimator.net(), estimator.units(), next, estimator.order());
  if (!plan) return plan.diags();
  const Result<ChipProgram> made =
      program_of(estimator.net(), options_, estimator.chips(), estimator.places().there, *plan);
  if (!made) return made.diags();
  constexpr std::int64_t frames = 3;
  const Result<ChipTiming> timing = time_program(*made, {.noc = NocModel::ideal, .frames = frames});
  return timing ? Diags() : timing.diags();
}

ChipMapping::Done ChipMapping::take(const MapDecisions& decisions) { return act(decisions); }

ChipMapping::Done ChipMapping::take(FittedNet fitted, const MapDecisions& decisions) {
  if (fitted.cuts == cuts_) return act(decisions);
  return act(estimator_of(std::move(fitted.net)), std::move(fitted.cuts), decisions);
}

// Estimators remember what they have laid out, and several past states may be of one.
ChipMapping ChipMapping::copy() const {
  ChipMapping made = *this;
  std::map<const MapEstimator*, std::shared_ptr<MapEstimator>> copies;
  const auto own = [&](std::shared_ptr<MapEstimator>& estimator) {
    std::shared_ptr<MapEstimator>& known = copies[estimator.get()];
    if (!known) known = std::make_shared<MapEstimator>(*estimator);
    estimator = known;
  };
  own(made.estimator_);
  for (std::vector<Past>* side : {&made.before_, &made.behind_})
    for (Past& past : *side) own(past.estimator);
  return made;
}

void ChipMapping::go_to(const Past& past) {
  estimator_ = past.estimator;
  cuts_ = past.cuts;
  if (estimator_->set(past.decisions)) bug("what was there before is no longer possible");
}

ChipMapping::Done ChipMapping::undo() {
  if (before_.empty()) return as_diags(Diag("E4049", Severity::error, {}, "there is nothing to undo"));
  behind_.push_back(past());
  go_to(before_.back());
  before_.pop_back();
  return estimate();
}

ChipMapping::Done ChipMapping::redo() {
  if (behind_.empty()) return as_diags(Diag("E4049", Severity::error, {}, "there is nothing to do again"));
  before_.push_back(past());
  go_to(behind_.back());
  behind_.pop_back();
  return estimate();
}

void ChipMapping::forget_since(std::size_t history, const MapDecisions& first, const MapDecisions& last) {
  if (estimator_->set(last)) bug("what was there before is no longer possible");
  before_.resize(history);
  if (last != first) before_.push_back({estimator_, cuts_, first}), behind_.clear();
}

// ---- as text --------------------------------------------------------------------------------------

namespace {

// "3-6 17": runs of neighbours.
std::string cores_text(const std::vector<std::int32_t>& cores) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    runs.push_back(end - i > 1 ? fmt::format("{}-{}", cores[i], cores[end - 1]) : std::to_string(cores[i]));
    i = end;
  }
  if (runs.size() > 6) runs.resize(6), runs.emplace_back("...");
  return joined(runs, " ");
}

}  // namespace

std::string ChipMapping::text() const {
  const MapDecisions& now = decisions();
  std::string text = fmt::format("{} on {}: {} on {} of {} cores\n", net().graph->name, chip().name,
                                 plural(now.units.size(), "unit"), estimate().cores, estimator_->places().there);
  text += fmt::format("{:<20} {:>12} {:>6} {:>6} {:>6} {:>9} {:>8} {:>8}  {}\n", "unit", "y x x x f", "pieces", "group",
                      "phase", "cycles", "bytes", "packets", "cores");
  for (std::size_t u = 0; u < now.units.size(); ++u) {
    const MapUnit& unit = now.units[u];
    std::int64_t cycles = 0, bytes = 0;
    for (std::size_t piece = 0; piece < unit.cores.size(); ++piece) {
      const PieceLoad load = estimator_->load(u, piece);
      cycles = std::max(cycles, load.axon + load.soma + load.move);
      bytes = std::max(bytes, estimator_->bytes_of(unit.cores[piece]));
    }
    text += fmt::format("{:<20} {:>12} {:>6} {:>6} {:>6} {:>9} {:>8} {:>8}  {}\n", name_of(u), unit.grid.text(),
                        unit.grid.pieces(), unit.group, unit.phase, cycles, bytes, estimator_->packets_of(u),
                        cores_text(unit.cores));
  }
  for (const auto& [a, b] : now.share) text += fmt::format("{} and {} share storage\n", name_of(a), name_of(b));
  return text + estimate().text() + "\n";
}

namespace {

std::string split_stage(const ChipMapping& m) {
  std::string text;
  for (std::size_t u = 0; u < m.units().units.size(); ++u)
    text += fmt::format("{:<20} {:>12} {:>6} pieces  {}\n", m.name_of(u), m.decisions().units[u].grid.text(),
                        m.decisions().units[u].grid.pieces(), unit_text(m.net(), m.units().units[u]));
  return text;
}

std::string phases_stage(const ChipMapping& m) {
  std::string text;
  for (std::size_t g = 0; g < m.estimator().steps().size(); ++g) {
    text += fmt::format("group {}: {} clk a step\n", g, m.estimator().steps()[g]);
    const std::int32_t phases = phases_of(m.decisions(), static_cast<std::int32_t>(g));
    for (std::int32_t phase = 0; phase < phases; ++phase)
      for (std::size_t u = 0; u < m.decisions().units.size(); ++u) {
        const MapUnit& unit = m.decisions().units[u];
        if (unit.group != static_cast<std::int32_t>(g) || unit.phase != phase) continue;
        PieceLoad most;
        for (std::size_t piece = 0; piece < unit.cores.size(); ++piece)
          if (const PieceLoad load = m.estimator().load(u, piece); load.work() > most.work()) most = load;
        text += fmt::format("  phase {}: {:<20} axon {}, soma {}, {} packets out, {} in, move {}\n", phase,
                            m.name_of(u), most.axon, most.soma, most.out, most.in, most.move);
      }
  }
  return text;
}

std::string place_stage(const ChipMapping& m) {
  const std::int32_t width = m.estimator().places().width;
  std::string text;
  for (std::size_t u = 0; u < m.decisions().units.size(); ++u) {
    text += fmt::format("{:<20}", m.name_of(u));
    for (std::int32_t core : m.decisions().units[u].cores)
      text += fmt::format(" {} ({}, {})", core, core % width, core / width);
    text += "\n";
  }
  const MapEstimate& now = m.estimate();
  return text +
         fmt::format("{} packets, {} hops, busiest link {} clk\n", now.packets, now.packet_hops, now.busiest_link);
}

std::string memory_stage(const ChipMapping& m) {
  std::set<std::int32_t> cores;
  for (const MapUnit& unit : m.decisions().units) cores.insert(unit.cores.begin(), unit.cores.end());
  std::string text;
  for (std::int32_t number : cores) {
    const ChipCore core = m.estimator().core(number);
    text += fmt::format("core {}: {} bytes\n", number, core.bytes);
    for (const ChipBuffer& buffer : core.buffers) {
      const ChipBank* bank = m.chip().bank_at(buffer.address);
      const std::string lives = buffer.is_persistent ? std::string("always")
                                : buffer.first_phase == buffer.last_phase
                                    ? fmt::format("phase {}", buffer.first_phase)
                                    : fmt::format("phases {} to {}", buffer.first_phase, buffer.last_phase);
      text += fmt::format("  {:#07x} {:>7} {:<5} {:<24} {}\n", buffer.address, buffer.bytes, bank ? bank->name : "",
                          buffer.name, lives);
    }
  }
  return text;
}

}  // namespace

std::string ChipMapping::stage_text(std::string_view stage) const {
  if (stage == "split") return split_stage(*this);
  if (stage == "phases") return phases_stage(*this);
  if (stage == "place") return place_stage(*this);
  return memory_stage(*this);
}

}  // namespace taskspec
