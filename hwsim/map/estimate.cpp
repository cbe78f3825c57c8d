#include "hwsim/map/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hwsim/map/shared_inputs.hpp"
#include "hwsim/report/account.hpp"
#include "hwsim/time/slowest_step.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_known = 20'000;  // entries; an optimiser tries many

std::string grid_key(const PieceGrid& grid) { return fmt::format("{},{},{}", grid.y, grid.x, grid.f); }

std::int32_t whole_number(std::int64_t number) { return static_cast<std::int32_t>(number); }

Diag first_error(const Diags& diags) {
  for (const Diag& diag : diags.items())
    if (diag.severity == Severity::error) return diag;
  bug("no error among diagnostics");
}

ChipProgram empty_program(ChipNet net, const std::shared_ptr<const Chip>& chip, ChipExtent chips) {
  ChipProgram program;
  program.chip = chip;
  program.chips = chips;
  program.net = std::move(net);
  return program;
}

template <class Map>
void bound(Map& known) {
  if (known.size() > most_known) known.clear();
}

}  // namespace

std::string MapEstimate::text() const {
  return fmt::format(
      "latency {} clk, interval {} clk, {} a step, fullest core {} B, {} cores, {} packets, {} hops, busiest link {} "
      "clk",
      latency, interval, energy_pj(energy), memory, cores, packets, packet_hops, busiest_link);
}

MapEstimator::MapEstimator(ChipNet net, std::shared_ptr<const Chip> chip, ChipExtent chips, std::int32_t there)
    : scratch_(empty_program(std::move(net), chip, chips)),
      units_(unit_net(scratch_.net)),
      places_{.width = whole_number(chip->grid.cores.x * chips.x),
              .height = whole_number(chip->grid.cores.y * chips.y),
              .there = there},
      routes_(noc_figures(*chip, chips)),
      sums_(units_.units.size()),
      servers_(routes_.servers()) {
  scratch_.width = places_.width;
  scratch_.cores_there = there;
  unit_of_block_.assign(scratch_.net.graph->blocks.size(), SIZE_MAX);
  for (std::size_t u = 0; u < units_.units.size(); ++u)
    for (const std::size_t work : {units_.units[u].axon, units_.units[u].soma})
      if (work != no_work) unit_of_block_[scratch_.net.works[work].block.index()] = u;
  now_.units.resize(units_.units.size());
  for (MapUnit& unit : now_.units) unit.grid = {0, 0, 0};
}

// ---- parts of a program ----------------------------------------------------------------------------

std::shared_ptr<const std::vector<UnitPiece>> MapEstimator::pieces(std::size_t unit, const PieceGrid& grid,
                                                                   std::optional<Diag>& fault) const {
  const std::pair key(unit, grid_key(grid));
  if (const auto found = known_pieces_.find(key); found != known_pieces_.end()) return found->second;
  fault = grid_fault(scratch_.net, units_.units[unit], grid);
  if (fault) return nullptr;
  Result<std::vector<UnitPiece>> made = cut_unit(scratch_.net, units_.units[unit], grid);
  if (!made) {
    fault = first_error(made.diags());
    return nullptr;
  }
  bound(known_pieces_);
  return known_pieces_[key] = std::make_shared<const std::vector<UnitPiece>>(*std::move(made));
}

// The unit and all that it reads, each piece on a core of its own: what they send one another does not depend on where
// they are.
ChipPlan MapEstimator::unit_plan(std::size_t unit, const MapDecisions& of,
                                 std::vector<std::pair<std::size_t, std::size_t>>& who) {
  std::set<std::size_t> all(units_.reads_ever[unit].begin(), units_.reads_ever[unit].end());
  all.insert(unit);
  ChipPlan plan;
  for (std::size_t u : all) {
    std::optional<Diag> fault;
    UnitPlan planned{.unit = units_.units[u],
                     .grid = of.units[u].grid,
                     .pieces = *pieces(u, of.units[u].grid, fault),
                     .group = whole_number(static_cast<std::int64_t>(plan.group_phases.size())),
                     .phase = 0,
                     .cores = {},
                     .pipeline_rows = of.units[u].pipeline_rows};
    for (std::size_t i = 0; i < planned.pieces.size(); ++i) {
      planned.cores.push_back(whole_number(static_cast<std::int64_t>(who.size())));
      plan.places.push_back(planned.cores.back());
      plan.group_of_core.push_back(planned.group);
      who.emplace_back(u, i);
    }
    plan.group_phases.push_back(1);
    plan.units.push_back(std::move(planned));
  }
  return plan;
}

std::shared_ptr<const MapEstimator::Edges> MapEstimator::edges(std::size_t unit, const MapDecisions& of) {
  std::string key = fmt::format("{}:{}/{}", unit, grid_key(of.units[unit].grid), of.units[unit].pipeline_rows);
  for (std::size_t from : units_.reads_ever[unit])
    key += fmt::format(";{}/{}", grid_key(of.units[from].grid), of.units[from].pipeline_rows);
  if (const auto found = known_edges_.find(key); found != known_edges_.end()) return found->second;
  auto made = std::make_shared<Edges>();
  std::vector<std::pair<std::size_t, std::size_t>> who;  // by position
  const ChipPlan plan = unit_plan(unit, of, who);
  Diags diags;
  lay_out_part(scratch_, plan, diags, true);
  if (diags.has_errors()) made->fault = first_error(diags);
  for (const ChipMessage& message : scratch_.messages) {
    auto end = [&](std::int32_t core) {
      return core == host_core ? std::pair(SIZE_MAX, std::size_t{0}) : who[static_cast<std::size_t>(core)];
    };
    const auto [from, from_piece] = end(message.from_core);
    const auto [to, to_piece] = end(message.to_core);
    const bool is_own = to == unit || (to == SIZE_MAX && from == unit);
    if (is_own)
      made->list.push_back({from, from_piece, to, to_piece, message.packets, message.heads,
                            to == unit ? input_of(unit, message) : SIZE_MAX});
  }
  bound(known_edges_);
  return known_edges_[key] = std::move(made);
}

// Which input of a unit, alone on its core, a message is for.
std::size_t MapEstimator::input_of(std::size_t unit, const ChipMessage& message) const {
  const ChipUnit& own = units_.units[unit];
  const std::size_t of_axon = own.axon == no_work ? 0 : scratch_.net.works[own.axon].in.size();
  for (const ChipPhase& phase : scratch_.cores[static_cast<std::size_t>(message.to_core)].phases)
    for (const ChipMove& move : phase.moves) {
      if (move.from != message.to_buffer) continue;
      for (const bool of_soma : {false, true}) {
        const std::optional<ChipCall>& call = of_soma ? phase.soma : phase.axon;
        if (!call) continue;
        const auto found = std::ranges::find(call->in, move.to);
        if (found != call->in.end())
          return static_cast<std::size_t>(found - call->in.begin()) + (of_soma ? of_axon : 0);
      }
    }
  return SIZE_MAX;
}

bool MapEstimator::comes_already(const MapDecisions& of, const Edge& edge) const {
  if (edge.input == SIZE_MAX || of.share.empty()) return false;
  const ChipUnit& own = units_.units[edge.to];
  const MapUnit& unit = of.units[edge.to];
  std::optional<Diag> fault;
  const UnitPiece& piece = (*pieces(edge.to, unit.grid, fault))[edge.to_piece];
  const std::size_t of_axon = own.axon == no_work ? 0 : scratch_.net.works[own.axon].in.size();
  const bool of_soma = edge.input >= of_axon;
  const std::size_t c = of_soma ? edge.input - of_axon : edge.input;
  const NetCluster& cluster = scratch_.net.works[of_soma ? own.soma : own.axon].in[c];
  const Box& box = (of_soma ? piece.soma : piece.axon)->in[c];
  return std::ranges::any_of(of.share, [&](const UnitPair& pair) {
    if (pair.first != edge.to && pair.second != edge.to) return false;
    const std::size_t u = pair.first == edge.to ? pair.second : pair.first;
    const MapUnit& other = of.units[u];
    const auto there = std::ranges::find(other.cores, unit.cores[edge.to_piece]);
    if (there == other.cores.end() || other.phase >= unit.phase) return false;
    const auto its = static_cast<std::size_t>(there - other.cores.begin());
    std::optional<Diag> none;
    return reads_as_well(scratch_.net, units_.units[u], (*pieces(u, other.grid, none))[its], cluster, box);
  });
}

// All that a core does, on a chip of this core alone.
ChipPlan MapEstimator::core_plan(std::int32_t core, const MapDecisions& of, std::vector<Part>& parts) const {
  ChipPlan plan;
  plan.depth = of.depth;
  plan.places = {core};
  plan.group_of_core = {0};
  std::map<std::size_t, std::size_t> place_in_plan;
  std::vector<std::size_t> by_phase(of.units.size());
  for (std::size_t u = 0; u < by_phase.size(); ++u) by_phase[u] = u;
  // What comes once comes for the first that reads it.
  if (!of.share.empty()) std::ranges::stable_sort(by_phase, {}, [&](std::size_t u) { return of.units[u].phase; });
  for (const std::size_t u : by_phase) {
    const MapUnit& unit = of.units[u];
    const auto found = std::ranges::find(unit.cores, core);
    if (found == unit.cores.end()) continue;
    const auto piece = static_cast<std::size_t>(found - unit.cores.begin());
    if (plan.group_phases.empty()) plan.group_phases = {phases_of(of, unit.group)};
    std::optional<Diag> fault;
    const auto cut = pieces(u, unit.grid, fault);
    place_in_plan[u] = plan.units.size();
    plan.units.push_back({.unit = units_.units[u],
                          .grid = unit.grid,
                          .pieces = {(*cut)[piece]},
                          .group = 0,
                          .phase = unit.phase,
                          .cores = {0},
                          .pipeline_rows = unit.pipeline_rows});
    parts.push_back({.unit = u, .piece = piece, .phase = unit.phase});
  }
  for (const auto& [a, b] : of.share)
    if (place_in_plan.contains(a) && place_in_plan.contains(b))
      plan.share.emplace_back(place_in_plan[a], place_in_plan[b]);
  return plan;
}

std::shared_ptr<const MapEstimator::CoreCost> MapEstimator::cost(std::int32_t core, const MapDecisions& of) {
  auto made = std::make_shared<CoreCost>();
  const ChipPlan plan = core_plan(core, of, made->parts);
  std::string key = fmt::format("{}*{}", plan.group_phases[0], plan.depth);
  for (std::size_t i = 0; i < plan.units.size(); ++i)
    key += fmt::format(";{}:{}:{}@{}/{}", made->parts[i].unit, grid_key(plan.units[i].grid), made->parts[i].piece,
                       plan.units[i].phase, plan.units[i].pipeline_rows);
  for (const auto& [a, b] : plan.share) key += fmt::format("+{}+{}", a, b);
  if (const auto found = known_costs_.find(key); found != known_costs_.end()) return found->second;
  Diags diags;
  lay_out_part(scratch_, plan, diags, false);
  if (diags.has_errors()) made->fault = first_error(diags);
  const ChipCore& laid = scratch_.cores[0];
  made->bytes = laid.bytes;
  std::map<std::size_t, std::size_t> pieces;
  for (const Part& part : made->parts) pieces[part.unit] = part.piece;
  if (!made->fault) tell_parts(laid, pieces, *made);
  if (!made->fault) made->counts = account_of(scratch_, {}).counts.total();  // packets come with the links
  bound(known_costs_);
  return known_costs_[key] = std::move(made);
}

// `pieces`: by unit, that the core has.
void MapEstimator::tell_parts(const ChipCore& laid, const std::map<std::size_t, std::size_t>& pieces,
                              CoreCost& made) const {
  made.parts.clear();
  made.busy = 0;
  std::map<std::size_t, std::int64_t> phases;
  for (std::size_t k = 0; k < laid.phases.size(); ++k) {
    const ChipPhase& phase = laid.phases[k];
    if (!phase.axon && !phase.soma) continue;
    const ChipCall& call = phase.axon ? *phase.axon : *phase.soma;
    Part part;
    part.unit = unit_of_block_[call.whole.index()];
    part.piece = pieces.at(part.unit);
    part.phase = whole_number(static_cast<std::int64_t>(k));
    part.axon = phase.axon ? phase.axon->cycles : 0;
    part.soma = phase.soma ? phase.soma->cycles : 0;
    part.computed = computed_at(phase, chip().cycles.start);
    part.move = laid.phases[(k + laid.phases.size() - 1) % laid.phases.size()].move_cycles;
    made.busy += part.computed + part.move;
    ++phases[part.unit];
    made.parts.push_back(part);
  }
  for (Part& part : made.parts) part.of = phases.at(part.unit);
}

std::optional<Diag> MapEstimator::lay_out_all(const MapDecisions& of, const std::vector<std::size_t>& order,
                                              WholeProgram& made) {
  Result<ChipPlan> plan = plan_of(scratch_.net, units_, of, order);
  if (!plan) return first_error(plan.diags());
  Diags diags;
  lay_out_part(scratch_, *plan, diags, true);
  if (diags.has_errors()) return first_error(diags);
  std::map<std::pair<std::int32_t, std::size_t>, std::size_t> piece;  // of a unit on a core
  for (std::size_t u = 0; u < of.units.size(); ++u)
    for (std::size_t i = 0; i < of.units[u].cores.size(); ++i) piece[{of.units[u].cores[i], u}] = i;
  std::vector<Edges> edges(of.units.size());
  for (const ChipMessage& message : scratch_.messages) {
    Edge edge;
    edge.packets = message.packets;
    edge.heads = message.heads;
    auto end = [&](std::int32_t core, std::int32_t buffer, std::size_t& unit, std::size_t& number) {
      if (core == host_core) return;
      const ChipCore& there = scratch_.cores[static_cast<std::size_t>(core)];
      unit = unit_of_buffer(there, there.buffers[static_cast<std::size_t>(buffer)]);
      number = piece.at({there.core, unit});
    };
    end(message.from_core, message.from_buffer, edge.from, edge.from_piece);
    end(message.to_core, message.to_buffer, edge.to, edge.to_piece);
    if (edge.from == SIZE_MAX && edge.to == SIZE_MAX) continue;
    edges[edge.to != SIZE_MAX ? edge.to : edge.from].list.push_back(edge);
  }
  for (Edges& list : edges) made.edges.push_back(std::make_shared<const Edges>(std::move(list)));
  for (ChipCore& core : scratch_.cores)
    for (ChipPhase& phase : core.phases) phase.sends.clear(), phase.receives.clear();
  scratch_.messages.clear();  // packets come with the links
  const ChipAccount account = account_of(scratch_, {});
  for (std::size_t c = 0; c < scratch_.cores.size(); ++c) {
    const ChipCore& core = scratch_.cores[c];
    auto cost = std::make_shared<CoreCost>();
    cost->bytes = core.bytes;
    cost->counts = account.counts.cores()[c];
    std::map<std::size_t, std::size_t> pieces;
    for (std::size_t u = 0; u < of.units.size(); ++u)
      if (const auto found = piece.find({core.core, u}); found != piece.end()) pieces[u] = found->second;
    tell_parts(core, pieces, *cost);
    made.costs[core.core] = std::move(cost);
  }
  return std::nullopt;
}

// A result is that of its block; what arrives is for the call that reads what it is moved to.
std::size_t MapEstimator::unit_of_buffer(const ChipCore& core, const ChipBuffer& buffer) const {
  if (buffer.use == BufferUse::result) return unit_of_block_[buffer.block.index()];
  const auto number = static_cast<std::int32_t>(&buffer - core.buffers.data());
  for (const ChipPhase& phase : core.phases)
    for (const ChipMove& move : phase.moves) {
      if (move.from != number) continue;
      for (const ChipPhase& reads : core.phases)
        for (const auto* call : {&reads.axon, &reads.soma})
          if (*call && std::ranges::find((*call)->in, move.to) != (*call)->in.end())
            return unit_of_block_[(*call)->whole.index()];
    }
  bug("packets for nobody");
}

ChipCore MapEstimator::core(std::int32_t number) const {
  Diags diags;
  if (has_streams(now_)) {
    ChipPlan plan = plan_of(scratch_.net, units_, now_, order_).value_or_throw();
    lay_out_part(scratch_, plan, diags, false);
    for (const ChipCore& core : scratch_.cores)
      if (core.core == number) return core;
  }
  std::vector<Part> parts;
  lay_out_part(scratch_, core_plan(number, now_, parts), diags, false);
  return scratch_.cores[0];
}

bool MapEstimator::saves_by_sharing(std::size_t a, std::size_t b) const {
  if (has_streams(now_)) {
    MapDecisions with = now_;
    with.share.emplace_back(std::minmax(a, b));
    ChipPlan plan = plan_of(scratch_.net, units_, with, order_).value_or_throw();
    Diags diags;
    lay_out_part(scratch_, plan, diags, false);
    return std::ranges::any_of(scratch_.cores, [&](const ChipCore& core) { return core.bytes < bytes_of(core.core); });
  }
  for (std::int32_t core : now_.units[a].cores) {
    if (std::ranges::find(now_.units[b].cores, core) == now_.units[b].cores.end()) continue;
    std::vector<Part> parts;
    MapDecisions with = now_;
    with.share.emplace_back(std::minmax(a, b));
    Diags diags;
    lay_out_part(scratch_, core_plan(core, with, parts), diags, false);
    if (scratch_.cores[0].bytes < bytes_of(core)) return true;
  }
  return false;
}

// ---- sums -----------------------------------------------------------------------------------------

std::vector<MapEstimator::Flow> MapEstimator::flows(const MapDecisions& of, const Edges& edges) const {
  std::vector<Flow> made;
  auto core = [&](std::size_t u, std::size_t piece) { return u == SIZE_MAX ? -1 : of.units[u].cores[piece]; };
  for (const Edge& edge : edges.list) {
    if (comes_already(of, edge)) continue;
    std::int32_t from = core(edge.from, edge.from_piece), to = core(edge.to, edge.to_piece);
    if (edge.from == SIZE_MAX) from = host_of(to);
    if (edge.to == SIZE_MAX) to = host_of(from);
    made.push_back({from, to, edge});
  }
  return made;
}

void MapEstimator::carry(const std::vector<Flow>& flows, std::int64_t sign) {
  const bool is_mesh = routes_.figures().shape == NocShape::mesh;
  for (const Flow& flow : flows) {
    const Edge& edge = flow.edge;
    const std::int64_t packets = sign * edge.packets;
    const int from = routes_.endpoint(flow.from), to = routes_.endpoint(flow.to), hops = routes_.hops(from, to);
    estimate_.packets += packets;
    estimate_.packet_hops += packets * hops;
    if (edge.from != SIZE_MAX) {
      sums_[edge.from].out[edge.from_piece] += packets;
      counts_[EnergyEvent::out] += packets;
    }
    if (edge.to != SIZE_MAX) {
      sums_[edge.to].in[edge.to_piece] += packets;
      counts_[EnergyEvent::in] += packets;
    }
    if (routes_.is_host(from) || routes_.is_host(to)) counts_[EnergyEvent::hop_x] += packets;
    for (int i = 0; i <= hops; ++i) {
      const NocHop hop = routes_.hop(from, to, i);
      const std::int64_t service = routes_.server(hop.server).service;
      std::int64_t& load = servers_[hop.server];
      if (load > 0)
        if (const auto held = held_.find(load * service); --held->second == 0) held_.erase(held);
      load += packets;
      if (load > 0) ++held_[load * service];
      if (routes_.is_border(hop.server)) counts_[EnergyEvent::chip] += packets;
      if (i == hops) continue;
      const bool is_x =
          is_mesh ? hop.link % 4 < 2 : !routes_.is_border(hop.server) || (hop.server - routes_.links()) % 4 < 2;
      counts_[is_x ? EnergyEvent::hop_x : EnergyEvent::hop_y] += packets;
    }
  }
}

NocPlace MapEstimator::busiest_place() const {
  for (std::size_t server = 0; server < servers_.size(); ++server)
    if (servers_[server] > 0 && servers_[server] * routes_.server(server).service == estimate_.busiest_link)
      return place_of(routes_, server);
  return {};
}

std::optional<Diag> MapEstimator::set(const MapDecisions& next, By by) {
  std::vector<std::size_t> order;
  if (auto fault = structure_fault(units_, next, chip(), places_, order)) return fault;
  const std::size_t count = next.units.size();
  std::optional<Diag> fault;
  const bool is_whole = by == By::program || has_streams(next) || has_streams(now_);
  WholeProgram program;
  if (is_whole) {
    for (std::size_t u = 0; u < count; ++u)
      if (!pieces(u, next.units[u].grid, fault)) return fault;
    if (auto found = lay_out_all(next, order, program)) return found;
  }
  std::vector<bool> is_cut(count), is_elsewhere(count);
  std::set<std::int32_t> dirty, groups;  // cores; groups of `next`
  std::map<std::int32_t, std::int32_t> phases_before, phases_now;
  for (const MapUnit& unit : now_.units)
    if (!unit.cores.empty()) phases_before[unit.group] = std::max(phases_before[unit.group], unit.phase + 1);
  for (const MapUnit& unit : next.units) phases_now[unit.group] = std::max(phases_now[unit.group], unit.phase + 1);
  for (std::size_t u = 0; u < count; ++u) {
    const MapUnit &before = now_.units[u], &after = next.units[u];
    is_cut[u] = before.grid != after.grid;
    is_elsewhere[u] = is_whole || is_cut[u] || before.cores != after.cores;
    if (is_cut[u] && !pieces(u, after.grid, fault)) return fault;
    const bool is_same = !is_whole && before == after && now_.depth == next.depth &&
                         phases_before[before.group] == phases_now[after.group];
    if (!is_same)
      dirty.insert(before.cores.begin(), before.cores.end()), dirty.insert(after.cores.begin(), after.cores.end());
  }
  for (const MapDecisions* of : {&std::as_const(now_), &next})
    if (now_.share != next.share)
      for (const UnitPair& pair : of->share)
        for (const std::size_t u : {pair.first, pair.second})
          dirty.insert(of->units[u].cores.begin(), of->units[u].cores.end());
  // What is new; a fault leaves all as it was.
  std::map<std::int32_t, CoreSum> made;
  for (const MapUnit& unit : next.units)
    for (std::int32_t core : unit.cores) {
      if (!dirty.contains(core) || made.contains(core)) continue;
      made[core] = {unit.group, is_whole ? program.costs.at(core) : cost(core, next)};
      if (made[core].cost->fault) {
        Diag why = *made[core].cost->fault;
        why.note(fmt::format("core {}", core));
        return why;
      }
    }
  std::map<std::size_t, UnitSum> changed;
  std::set<std::size_t> sharing;  // whose inputs may come once, or did
  for (const MapDecisions* of : {&std::as_const(now_), &next})
    for (const UnitPair& pair : of->share) sharing.insert({pair.first, pair.second});
  for (std::size_t u = 0; u < count; ++u) {
    bool cut = is_cut[u], moved = is_elsewhere[u] || sharing.contains(u);
    for (std::size_t from : units_.reads_ever[u]) cut = cut || is_cut[from], moved = moved || is_elsewhere[from];
    if (!moved) continue;
    UnitSum& sum = changed[u];
    sum.edges = is_whole ? program.edges[u] : cut || !sums_[u].edges ? edges(u, next) : sums_[u].edges;
    if (sum.edges->fault) return sum.edges->fault;
    sum.flows = flows(next, *sum.edges);
  }
  // From here on nothing can fail.
  for (const auto& [u, sum] : changed) carry(sums_[u].flows, -1);
  for (std::size_t u = 0; u < count; ++u)
    if (is_cut[u]) {
      sums_[u].out.assign(next.units[u].cores.size(), 0);
      sums_[u].in.assign(next.units[u].cores.size(), 0);
    }
  for (auto& [u, sum] : changed) {
    sums_[u].edges = std::move(sum.edges);
    sums_[u].flows = std::move(sum.flows);
    carry(sums_[u].flows, 1);
  }
  for (std::int32_t core : dirty) {
    const auto found = cores_.find(core);
    if (found == cores_.end()) continue;
    counts_ += found->second.cost->counts * -1;
    busy_ -= found->second.cost->busy;
    cores_.erase(found);
  }
  for (auto& [core, sum] : made) {
    counts_ += sum.cost->counts;
    busy_ += sum.cost->busy;
    cores_[core] = std::move(sum);
  }
  now_ = next;
  order_ = std::move(order);
  for (auto& [core, sum] : cores_) sum.group = now_.units[sum.cost->parts[0].unit].group;
  sum_up();
  return std::nullopt;
}

PieceLoad MapEstimator::load(std::size_t unit, std::size_t piece) const {
  PieceLoad all;
  all.out = sums_[unit].out[piece];
  all.in = sums_[unit].in[piece];
  for (const Part& part : cores_.at(now_.units[unit].cores[piece]).cost->parts) {
    if (part.unit != unit || part.piece != piece) continue;
    all.axon += part.axon;
    all.soma += part.soma;
    all.computed += part.computed;
    all.move += part.move;
  }
  return all;
}

std::int64_t MapEstimator::packets_of(std::size_t unit) const {
  std::int64_t sum = 0;
  for (std::int64_t packets : sums_[unit].out) sum += packets;
  return sum;
}

void MapEstimator::sum_up() {
  std::int32_t groups = 0;
  for (const MapUnit& unit : now_.units) groups = std::max(groups, unit.group + 1);
  std::vector<std::vector<std::int64_t>> longest(static_cast<std::size_t>(groups));
  for (std::int32_t g = 0; g < groups; ++g)
    longest[static_cast<std::size_t>(g)].resize(static_cast<std::size_t>(phases_of(now_, g)));
  estimate_.memory = 0;
  for (const auto& [core, sum] : cores_) {
    std::vector<std::int64_t>& phases = longest[static_cast<std::size_t>(sum.group)];
    for (const Part& part : sum.cost->parts)  // a stream has more of them than its unit says
      phases.resize(std::max(phases.size(), static_cast<std::size_t>(part.phase) + 1));
    std::vector<std::int64_t> work(phases.size()), in(phases.size()), move(phases.size());
    for (const Part& part : sum.cost->parts) {
      const auto phase = static_cast<std::size_t>(part.phase), before = (phase + phases.size() - 1) % phases.size();
      work[phase] = std::max(part.computed, part.axon + sums_[part.unit].out[part.piece] / part.of);
      in[before] = sums_[part.unit].in[part.piece] / part.of * chip().noc.link_clk;
      move[before] = part.move;
    }
    for (std::size_t p = 0; p < phases.size(); ++p) phases[p] = std::max(phases[p], std::max(work[p], in[p]) + move[p]);
    estimate_.memory = std::max(estimate_.memory, sum.cost->bytes);
  }
  steps_.clear();
  for (const std::vector<std::int64_t>& phases : longest) steps_.push_back(taskspec::step_of(phases, chip().sync));
  estimate_.busiest_link = held_.empty() ? 0 : held_.rbegin()->first;
  estimate_.interval = estimate_.busiest_link;
  for (std::int64_t clk : steps_) estimate_.interval = std::max(estimate_.interval, clk);
  estimate_.latency = latency();
  estimate_.cores = static_cast<std::int64_t>(cores_.size());
  estimate_.energy = energy_of(counts(), chip());
}

PerEvent MapEstimator::counts() const {
  const std::int64_t all = chip().grid.cores.area() * chips().area();
  PerEvent counts = clock_counts(all, std::min(busy_, all * estimate_.interval), estimate_.interval);
  return counts += counts_;
}

// Along what units read, and along the phases of their cores.
std::int64_t MapEstimator::latency() const {
  std::vector<std::int64_t> end(now_.units.size());
  std::map<std::int32_t, std::pair<std::int32_t, std::int64_t>> group;  // phase that was last, and its end
  std::int64_t last = 0;
  for (std::size_t u : order_) {
    const MapUnit& unit = now_.units[u];
    std::int64_t begin = 0, work = 0, move = 0, in = 0;
    for (std::size_t piece = 0; piece < unit.cores.size(); ++piece) {
      const PieceLoad here = load(u, piece);
      work = std::max(work, here.work());
      move = std::max(move, here.move);
      in = std::max(in, here.in * chip().noc.link_clk);
    }
    begin = in;  // from the host, all of it
    for (const Flow& flow : sums_[u].flows) {
      const Edge& edge = flow.edge;
      const std::int64_t way = routes_.latency(routes_.endpoint(flow.from), routes_.endpoint(flow.to));
      if (edge.to != u) continue;
      const bool is_before = edge.from != SIZE_MAX && std::ranges::binary_search(units_.reads[u], edge.from);
      if (is_before) begin = std::max(begin, end[edge.from] + way);
      if (edge.from == SIZE_MAX) begin = std::max(begin, edge.packets * chip().noc.link_clk + way);
    }
    begin += move;
    const auto [known, is_first] = group.try_emplace(unit.group, unit.phase, std::int64_t{0});
    if (!is_first && known->second.first != unit.phase) begin = std::max(begin, known->second.second);
    end[u] = begin + work;
    known->second = {unit.phase, std::max(known->second.second, end[u])};
    std::int64_t out = end[u];
    for (const Flow& flow : sums_[u].flows)
      if (flow.edge.from == u && flow.edge.to == SIZE_MAX)
        out = std::max(out, end[u] + routes_.latency(routes_.endpoint(flow.from), routes_.endpoint(flow.to)));
    last = std::max(last, out);
  }
  return last;
}

}  // namespace taskspec
