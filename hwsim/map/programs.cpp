// From a plan to a program whose cores have their places: placement, ways, step groups, what is fetched ahead.
#include <fmt/format.h>

#include <algorithm>

#include "hwsim/map/chains.hpp"
#include "hwsim/map/mapper.hpp"
#include "hwsim/map/refusals.hpp"
#include "hwsim/place/place.hpp"
#include "hwsim/time/clock.hpp"
#include "hwsim/time/step_levels.hpp"

namespace taskspec {

namespace {

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
  problem.host.resize(program.cores.size());
  for (const ChipMessage& message : program.messages) {
    if (message.from_core == host_core && message.to_core != host_core)
      problem.host[static_cast<std::size_t>(message.to_core)].in += message.packets;
    else if (message.from_core != host_core && message.to_core == host_core)
      problem.host[static_cast<std::size_t>(message.from_core)].out += message.packets;
    else if (message.from_core != message.to_core)
      problem.edges.push_back({message.from_core, message.to_core, message.packets});
  }
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

bool has_batches(const ChipProgram& program) {
  return std::ranges::any_of(program.cores, [](const ChipCore& core) {
    return std::ranges::any_of(core.buffers, [](const ChipBuffer& buffer) {
      return buffer.use == BufferUse::receive && buffer.kept_rows > 0;
    });
  });
}

// Where rows stream: cores that get rows alone, all of them double, and from groups before theirs. A core then waits
// for what comes a tick later, and whoever sends that waits for nobody behind it; the clock is asked whether that
// holds.
void fetch_batches_ahead(ChipProgram& program) {
  bool any = false;
  for (ChipCore& core : program.cores) {
    bool may = true, reads = false;
    for (const ChipPhase& phase : core.phases)
      for (const std::int32_t number : phase.receives) {
        const ChipMessage& message = program.messages[static_cast<std::size_t>(number)];
        const ChipBuffer& buffer = core.buffers[static_cast<std::size_t>(message.to_buffer)];
        reads = true;
        may &= message.delay == 0 && buffer.kept_rows > 0 && buffer.slots > 1 &&
               (message.from_core == host_core ||
                program.cores[static_cast<std::size_t>(message.from_core)].phases[0].group < phase.group);
      }
    core.a2s2 = may && reads;
    any |= core.a2s2;
  }
  if (!any || time_program(program, {.noc = NocModel::ideal, .frames = 3})) return;
  for (ChipCore& core : program.cores) core.a2s2 = false;
  program.notes.push_back(
      "no core fetches ahead: cores that wait for rows of the next phase would wait for one another");
}

// Of a program whose cores have their places: multicasts and relays, step groups, what is fetched ahead.
Diags send_on_ways(ChipProgram& program, const ChipPlan& plan) {
  Diags faults = find_ways(program);
  make_step_groups(program, plan.step_groups, faults);
  if (faults.has_errors() || !plan.fetches_ahead) return faults;
  has_batches(program) ? fetch_batches_ahead(program) : fetch_ahead(program);
  return faults;
}

std::optional<std::string> options_fault(const ChipNet& net, const MapOptions& options) {
  if (options.slabs)
    if (auto fault = slabs_fault(*options.slabs, input_rows(net))) return fault;
  return items_fault(options.depth, options.step_groups, options.fetches_ahead);
}

}  // namespace

std::optional<std::string> items_fault(std::int64_t depth, std::int64_t step_groups, bool fetches_ahead) {
  if (depth < 1 || depth > 2)
    return fmt::format("a receive buffer has room for 1 item or for 2 (depth), not for {}", depth);
  if (step_groups < 0) return fmt::format("step groups are 0 or more, not {}", step_groups);
  if (fetches_ahead && depth == 1) return "cores fetch ahead (a2s2) into double receive buffers: with a depth of 2";
  return std::nullopt;
}

Diags check_options(const ChipNet& net, const MapOptions& options) {
  Diags diags;
  if (std::optional<std::string> fault = options_fault(net, options)) diags.error("E4040", {}, *std::move(fault));
  diags.append(room_refusals(*options.chip, chips_of(options), options.cores));
  return diags;
}

ChipExtent chips_of(const MapOptions& options) {
  return options.chips.area() > 0 ? options.chips : options.chip->grid.chips;
}

std::int64_t cores_of(const MapOptions& options) {
  const std::int64_t there = options.chip->grid.cores.area() * chips_of(options).area();
  return options.cores ? std::min<std::int64_t>(there, *options.cores) : there;
}

Result<FittedNet> fitted_net(const ChipNet& net, const MapOptions& options, CutsWhen when) {
  if (Diags faults = check_options(net, options); faults.has_errors()) return faults;
  if (!options.blocks) return FittedNet{net, {}};
  SumCuts cuts = sum_cuts(net, *options.chip, cores_of(options), when);
  Result<ChipNet> made = cut_sums(net, cuts, *options.blocks);
  if (!made) return made.diags();
  return FittedNet{*std::move(made), std::move(cuts)};
}

namespace {

Result<MappedNet> on_cores(const ChipNet& net, const MapOptions& options, std::int64_t most) {
  Result<ChipPlan> plan = plan_on(net, options, most);
  if (!plan) return plan.diags();
  Result<ChipProgram> program = lay_out(options.chip, chips_of(options), net, *plan);
  if (!program) return program.diags();
  program->cores_there = static_cast<std::int32_t>(cores_of(options));
  place_cores(*program, cores_of(options));
  if (Diags faults = send_on_ways(*program, *plan); faults.has_errors()) return faults;
  for (std::size_t i = 0; i < plan->places.size(); ++i) plan->places[i] = program->cores[i].core;
  return MappedNet{*std::move(plan), *std::move(program)};
}

}  // namespace

Result<MappedNet> plan_and_lay_out(const ChipNet& net, const MapOptions& options) {
  Result<MappedNet> made = on_cores(net, options, cores_of(options));
  const std::int64_t one_chip = options.chip->grid.cores.area();
  if (!made || made->plan.slabs != 1 || static_cast<std::int64_t>(made->program.cores.size()) <= one_chip) return made;
  // More cores shorten phases, and the way over a border is slow: the clock knows what is better.
  MapOptions whole = options;
  whole.slabs = 1;
  Result<MappedNet> small = on_cores(net, whole, one_chip);
  if (!small) return made;
  const Result<ChipTiming> large_time = time_program(made->program, {}), small_time = time_program(small->program, {});
  if (!large_time || !small_time) return made;
  return small_time->interval <= large_time->interval ? std::move(small) : std::move(made);
}

Result<ChipProgram> program_of(const ChipNet& net, const MapOptions& options, ChipExtent chips, std::int32_t there,
                               const ChipPlan& plan) {
  Result<ChipProgram> program = lay_out(options.chip, chips, net, plan);
  if (!program) return program;
  program->cores_there = there;
  if (Diags faults = send_on_ways(*program, plan); faults.has_errors()) return faults;
  return program;
}

Result<ChipPlan> plan_net(const ChipNet& net, const MapOptions& options) {
  Result<MappedNet> mapped = plan_and_lay_out(net, options);
  if (!mapped) return mapped.diags();
  return std::move(mapped->plan);
}

}  // namespace taskspec
