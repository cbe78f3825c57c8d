#include "hwsim/map/mapper.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hwsim/map/chains.hpp"
#include "hwsim/map/refusals.hpp"
#include "hwsim/place/place.hpp"
#include "hwsim/time/step_levels.hpp"

namespace taskspec {

std::optional<MapObjective> map_objective(std::string_view name) {
  if (name == "throughput") return MapObjective::throughput;
  if (name == "latency") return MapObjective::latency;
  if (name == "energy") return MapObjective::energy;
  if (name == "cores") return MapObjective::cores;
  return std::nullopt;
}

namespace {

// Units that share cores, one phase each.
struct SharedCores {
  std::size_t first = 0, last = 0;  // of units
  std::vector<std::size_t> choice;  // of each
  std::int64_t cores = 0, cycles = 0;
};

class Mapper {
 public:
  Mapper(const ChipNet& net, const MapOptions& options) : net_(net), options_(options), chip_(*options.chip) {}

  Diags diags;

  std::optional<ChipPlan> plan() {
    chips_ = options_.chips.area() > 0 ? options_.chips : chip_.grid.chips;
    there_ = chip_.grid.cores.area() * chips_.area();
    if (options_.cores) there_ = std::min<std::int64_t>(there_, *options_.cores);
    units_ = units_of(net_);
    check_chip();
    if (diags.has_errors()) return std::nullopt;  // a chip of another kind has no figures to go on with
    for (const ChipUnit& unit : units_) choices_.push_back(choices_of(net_, unit, chip_));
    for (std::size_t u = 0; u < units_.size(); ++u) begin_with_fewest(u);
    if (diags.has_errors()) return std::nullopt;
    share_cores();
    if (diags.has_errors()) return std::nullopt;
    if (options_.objective == MapObjective::throughput || options_.objective == MapObjective::latency) use_more_cores();
    return made();
  }

  ChipExtent chips() const { return chips_; }
  std::int64_t cores() const { return there_; }  // in row order

 private:
  // ---- what the chip has not ----------------------------------------------------------------------
  void check_chip() {
    diags.append(chip_refusals(net_, chip_));
    if (std::optional<Diag> refusal = chips_refusal(chip_, chips_)) diags.add(*std::move(refusal));
  }

  // ---- one unit -----------------------------------------------------------------------------------
  void begin_with_fewest(std::size_t u) {
    for (std::size_t i = 0; i < choices_[u].size(); ++i) {
      if (!choices_[u][i].cost.fits) continue;
      groups_.push_back({.first = u,
                         .last = u,
                         .choice = {i},
                         .cores = choices_[u][i].grid.pieces(),
                         .cycles = choices_[u][i].cost.cycles});
      return;
    }
    diags.add(unit_refusal(net_, units_[u], choices_[u], chip_));
  }

  // ---- sharing ------------------------------------------------------------------------------------
  std::int64_t cores_used() const {
    std::int64_t used = 0;
    for (const SharedCores& group : groups_) used += group.cores;
    return used;
  }

  bool has_too_many_groups() const {
    return chip_.limits.phase_groups && static_cast<std::int64_t>(groups_.size()) > *chip_.limits.phase_groups;
  }

  void share_cores() {
    const bool wants_few = options_.objective == MapObjective::cores;
    std::vector<UnitCores> alone;
    for (const SharedCores& group : groups_) alone.push_back({units_[group.first].name, group.cores});
    while (groups_.size() > 1 && (wants_few || cores_used() > there_ || has_too_many_groups())) {
      std::size_t best = groups_.size();
      std::optional<SharedCores> best_merged;
      for (std::size_t g = 0; g + 1 < groups_.size(); ++g) {
        std::optional<SharedCores> merged = merge(groups_[g], groups_[g + 1]);
        if (!merged) continue;
        if (best_merged && merged->cycles >= best_merged->cycles) continue;
        best_merged = std::move(merged);
        best = g;
      }
      if (!best_merged) break;
      groups_[best] = *std::move(best_merged);
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    if (cores_used() <= there_) return;
    diags.add(cores_refusal(chip_, chips_, there_, options_.cores, cores_used(), std::move(alone)));
  }

  // Both on the cores of one of them, one after another; none: their memory does not suffice.
  std::optional<SharedCores> merge(const SharedCores& a, const SharedCores& b) const {
    SharedCores both{.first = a.first,
                     .last = b.last,
                     .choice = a.choice,
                     .cores = std::max(a.cores, b.cores),
                     .cycles = a.cycles + b.cycles};
    both.choice.insert(both.choice.end(), b.choice.begin(), b.choice.end());
    if (chip_.limits.phases && static_cast<std::int64_t>(both.choice.size()) > *chip_.limits.phases)
      return std::nullopt;
    return is_possible(both) ? std::optional(both) : std::nullopt;
  }

  // Every core with another set of pieces than those before it.
  bool is_possible(const SharedCores& group) const {
    const auto phases = static_cast<std::int32_t>(group.choice.size());
    std::vector<std::vector<UnitPiece>> pieces;
    for (std::size_t i = 0; i < group.choice.size(); ++i)
      pieces.push_back(*cut_unit(net_, units_[group.first + i], choices_[group.first + i][group.choice[i]].grid));
    std::set<std::vector<std::vector<Extents>>> seen;
    for (std::size_t core = 0; core < static_cast<std::size_t>(group.cores); ++core) {
      std::vector<std::vector<Extents>> sizes;
      for (const std::vector<UnitPiece>& of : pieces)
        sizes.push_back(core < of.size() ? sizes_of(of[core]) : std::vector<Extents>());
      if (!seen.insert(std::move(sizes)).second) continue;
      std::vector<ChipBuffer> buffers;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (core >= pieces[i].size()) continue;
        PieceBuffers made =
            buffers_of(net_, units_[group.first + i], pieces[i][core], static_cast<std::int32_t>(i), phases);
        for (ChipBuffer& buffer : made.buffers) buffers.push_back(std::move(buffer));
      }
      if (!fits(buffers, phases)) return false;
    }
    return true;
  }

  bool fits(std::vector<ChipBuffer>& buffers, std::int32_t phases) const {
    std::int64_t received = 0;
    for (const ChipBuffer& buffer : buffers) received += buffer.use == BufferUse::receive ? buffer.bytes : 0;
    if (chip_.limits.receive_bytes && received > *chip_.limits.receive_bytes) return false;
    return place_buffers(chip_, buffers, phases).fits;
  }

  // ---- more cores for the slowest -----------------------------------------------------------------
  void use_more_cores() {
    for (;;) {
      auto slowest = std::ranges::max_element(groups_, {}, &SharedCores::cycles);
      if (slowest == groups_.end() || slowest->choice.size() > 1) return;
      const std::vector<UnitChoice>& choices = choices_[slowest->first];
      const std::int64_t left = there_ - cores_used() + slowest->cores;
      std::size_t next = choices.size();
      for (std::size_t i = 0; i < choices.size(); ++i) {
        if (!choices[i].cost.fits || choices[i].grid.pieces() > left || choices[i].cost.cycles >= slowest->cycles)
          continue;
        if (next == choices.size() || choices[i].grid.pieces() < choices[next].grid.pieces() ||
            (choices[i].grid.pieces() == choices[next].grid.pieces() &&
             choices[i].cost.cycles < choices[next].cost.cycles))
          next = i;
      }
      if (next == choices.size()) return;
      slowest->choice = {next};
      slowest->cores = choices[next].grid.pieces();
      slowest->cycles = choices[next].cost.cycles;
    }
  }

  // ---- the plan -----------------------------------------------------------------------------------
  std::optional<ChipPlan> made() {
    ChipPlan plan;
    std::int32_t first_core = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const SharedCores& group = groups_[g];
      plan.group_phases.push_back(static_cast<std::int32_t>(group.choice.size()));
      for (std::size_t i = 0; i < group.choice.size(); ++i) {
        const std::size_t u = group.first + i;
        UnitPlan unit{.unit = units_[u],
                      .grid = choices_[u][group.choice[i]].grid,
                      .pieces = {},
                      .group = static_cast<std::int32_t>(g),
                      .phase = static_cast<std::int32_t>(i),
                      .cores = {}};
        unit.pieces = *cut_unit(net_, units_[u], unit.grid);
        for (std::size_t k = 0; k < unit.pieces.size(); ++k)
          unit.cores.push_back(first_core + static_cast<std::int32_t>(k));
        plan.units.push_back(std::move(unit));
      }
      for (std::int64_t k = 0; k < group.cores; ++k) plan.group_of_core.push_back(static_cast<std::int32_t>(g));
      first_core += static_cast<std::int32_t>(group.cores);
    }
    for (std::size_t i = 0; i < plan.group_of_core.size(); ++i) plan.places.push_back(static_cast<std::int32_t>(i));
    return plan;
  }

  const ChipNet& net_;
  const MapOptions& options_;
  const Chip& chip_;
  ChipExtent chips_;
  std::int64_t there_ = 0;
  std::vector<ChipUnit> units_;
  std::vector<std::vector<UnitChoice>> choices_;
  std::vector<SharedCores> groups_;
};

// Cores that send each other much become neighbours.
void place_cores(ChipProgram& program, std::int64_t cores) {
  const Chip& chip = *program.chip;
  auto whole = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
  PlaceProblem problem{.width = program.width,
                       .height = whole(chip.grid.cores.y * program.chips.y),
                       .chip_width = whole(chip.grid.cores.x),
                       .chip_height = whole(chip.grid.cores.y),
                       .router_width = whole(chip.grid.cores_per_router),
                       .y_first = chip.noc.order == RouteOrder::y_first,
                       .vertices = whole(static_cast<std::int64_t>(program.cores.size()))};
  if (cores < std::int64_t{problem.width} * problem.height)
    for (std::int32_t core = 0; core < cores; ++core) problem.cores.push_back(core);
  for (const ChipMessage& message : program.messages)
    if (message.from_core != host_core && message.to_core != host_core && message.from_core != message.to_core)
      problem.edges.push_back({message.from_core, message.to_core, message.packets});
  const Placement placed = place(problem);
  if (placed.core_of.size() != program.cores.size()) bug("a mapped program finds no place: " + placed.fault);
  for (std::size_t i = 0; i < program.cores.size(); ++i) program.cores[i].core = placed.core_of[i];
}

// Groups in their order, in so many step groups.
void make_step_groups(ChipProgram& program, std::int32_t count, Diags& diags) {
  const std::optional<std::int64_t>& most = program.chip->limits.step_groups;
  count = std::min(count, program.groups);
  if (most && count > *most)
    diags.error("E4043", {}, fmt::format("{}: {} step groups, {} are possible", program.chip->name, count, *most))
        .help(fmt::format("in the chip's file limits/step_groups of {} suffices", count));
  for (std::int32_t g = 0; count > 0 && g < program.groups; ++g)
    program.step_groups.push_back(static_cast<std::int32_t>(std::int64_t{g} * count / program.groups));
}

// Mode A2S2 for cores whose inputs are double, and made by groups before theirs, as far as those that read the same
// have room for what they are behind by then.
void fetch_ahead(ChipProgram& program) {
  if (!has_room_for_steps(program)) return;
  for (ChipCore& core : program.cores) {
    bool may = true, reads = false;
    for (const ChipPhase& phase : core.phases)
      for (const std::int32_t number : phase.receives) {
        const ChipMessage& message = program.messages[static_cast<std::size_t>(number)];
        reads = true;
        may &= message.delay == 0 && core.buffers[static_cast<std::size_t>(message.to_buffer)].slots > 1 &&
               (message.from_core == host_core ||
                program.cores[static_cast<std::size_t>(message.from_core)].phases[0].group < phase.group);
      }
    core.a2s2 = may && reads;
    if (core.a2s2 && !has_room_for_steps(program)) core.a2s2 = false;
  }
}

// Of a program whose cores have their places: multicasts and relays, step groups, what is fetched ahead.
Diags send_on_ways(ChipProgram& program, const MapOptions& options) {
  Diags faults = find_ways(program);
  make_step_groups(program, options.step_groups, faults);
  if (!faults.has_errors() && options.fetches_ahead) fetch_ahead(program);
  return faults;
}

}  // namespace

Result<MappedNet> plan_and_lay_out(const ChipNet& net, const MapOptions& options) {
  Mapper mapper(net, options);
  std::optional<ChipPlan> plan = mapper.plan();
  if (!plan) return mapper.diags;
  plan->depth = options.depth;
  Result<ChipProgram> program = lay_out(options.chip, mapper.chips(), net, *plan);
  if (!program) return program.diags();
  program->cores_there = static_cast<std::int32_t>(mapper.cores());
  place_cores(*program, mapper.cores());
  if (Diags faults = send_on_ways(*program, options); faults.has_errors()) return faults;
  for (std::size_t i = 0; i < plan->places.size(); ++i) plan->places[i] = program->cores[i].core;
  return MappedNet{*std::move(plan), *std::move(program)};
}

Result<ChipProgram> program_of(const ChipNet& net, const MapOptions& options, ChipExtent chips, std::int32_t there,
                               ChipPlan plan) {
  plan.depth = options.depth;
  Result<ChipProgram> program = lay_out(options.chip, chips, net, plan);
  if (!program) return program;
  program->cores_there = there;
  if (Diags faults = send_on_ways(*program, options); faults.has_errors()) return faults;
  return program;
}

Result<ChipPlan> plan_net(const ChipNet& net, const MapOptions& options) {
  Result<MappedNet> mapped = plan_and_lay_out(net, options);
  if (!mapped) return mapped.diags();
  return std::move(mapped->plan);
}

}  // namespace taskspec
