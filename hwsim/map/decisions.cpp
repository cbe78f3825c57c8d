#include "hwsim/map/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "hwsim/map/mapper.hpp"

namespace taskspec {

// ---- units ----------------------------------------------------------------------------------------

UnitNet unit_net(const ChipNet& net) {
  UnitNet made;
  made.units = units_of(net);
  std::vector<std::size_t> unit_of(net.works.size());
  for (std::size_t u = 0; u < made.units.size(); ++u)
    for (std::size_t work : {made.units[u].axon, made.units[u].soma})
      if (work != no_work) unit_of[work] = u;
  std::vector<std::size_t> unit_of_block(net.graph->blocks.size(), SIZE_MAX);
  for (std::size_t w = 0; w < net.works.size(); ++w) unit_of_block[net.works[w].block.index()] = unit_of[w];
  for (std::size_t u = 0; u < made.units.size(); ++u) {
    std::set<std::size_t> reads, ever;
    for (std::size_t work : {made.units[u].axon, made.units[u].soma}) {
      if (work == no_work) continue;
      for (const NetCluster& cluster : net.works[work].in)
        for (const NetSource& source : cluster.sources) {
          const std::size_t from = unit_of_block[source.block.index()];
          if (from == SIZE_MAX || (from == u && source.delay == 0)) continue;
          ever.insert(from);
          if (source.delay == 0) reads.insert(from);
        }
    }
    made.reads.emplace_back(reads.begin(), reads.end());
    made.reads_ever.emplace_back(ever.begin(), ever.end());
    made.stream_faults.push_back(stream_fault(net, made.units[u]));
  }
  made.input_rows = input_rows(net);
  made.gives.resize(made.units.size());
  for (const NetOutput& output : net.outputs)
    for (const NetSource& source : output.in.sources)
      if (const std::size_t from = unit_of_block[source.block.index()]; from != SIZE_MAX) made.gives[from] = true;
  return made;
}

namespace {

std::string block_text(const TaskBlock& block) {
  const BlockShape& s = block.shape;
  std::string text = std::string(block.def->name);
  if (s.y > 0) text += fmt::format(" {} x {} x {}", s.y, s.x, s.f);
  if (s.y <= 0) text += fmt::format(" {}", s.f);
  if (s.r > 0) text += fmt::format(", r {}", s.r);
  if (s.ky > 1 || s.kx > 1) text += fmt::format(", {} x {}", s.ky, s.kx);
  return text;
}

}  // namespace

std::string unit_text(const ChipNet& net, const ChipUnit& unit) {
  std::string text;
  for (std::size_t work : {unit.axon, unit.soma}) {
    if (work == no_work) continue;
    text += (text.empty() ? "" : " + ") + block_text((*net.graph)[net.works[work].block]);
  }
  return text;
}

std::optional<Diag> grid_fault(const ChipNet& net, const ChipUnit& unit, const PieceGrid& grid) {
  const TaskBlock& last = (*net.graph)[net.works[unit.last()].block];
  struct Axis {
    const char* name;
    std::int64_t parts, extent, step;
  };
  const Axis axes[] = {{"y", grid.y, last.shape.y, 1},
                       {"x", grid.x, last.shape.x, column_group},
                       {"f", grid.f, last.shape.f, feature_group}};
  for (const Axis& axis : axes) {
    const std::int64_t extent = std::max<std::int64_t>(1, axis.extent), most = (extent + axis.step - 1) / axis.step;
    if (axis.parts < 1 || axis.parts > most)
      return Diag("E4049", Severity::error, {},
                  fmt::format("'{}' is cut into 1 to {} parts along {}, not {}: {} of them, in steps of {}", unit.name,
                              most, axis.name, axis.parts, extent, axis.step));
  }
  return std::nullopt;
}

// ---- decisions ------------------------------------------------------------------------------------

void tidy(MapDecisions& decisions) {
  std::map<std::int32_t, std::int32_t> groups;
  std::map<std::int32_t, std::set<std::int32_t>> phases;
  for (MapUnit& unit : decisions.units) {
    unit.group = groups.try_emplace(unit.group, static_cast<std::int32_t>(groups.size())).first->second;
    phases[unit.group].insert(unit.phase);
  }
  for (MapUnit& unit : decisions.units) {
    const std::set<std::int32_t>& used = phases[unit.group];
    unit.phase = static_cast<std::int32_t>(std::distance(used.begin(), used.find(unit.phase)));
  }
  std::ranges::sort(decisions.share);
  decisions.share.erase(std::unique(decisions.share.begin(), decisions.share.end()), decisions.share.end());
}

std::int32_t clamped(std::int64_t number) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, INT32_MIN, INT32_MAX));
}

bool has_streams(const MapDecisions& decisions) {
  return decisions.slabs != 1 || std::ranges::any_of(decisions.units, &MapUnit::streams);
}

std::int32_t phases_of(const MapDecisions& decisions, std::int32_t group) {
  std::int32_t phases = 0;
  for (const MapUnit& unit : decisions.units)
    if (unit.group == group) phases = std::max(phases, unit.phase + 1);
  return phases;
}

namespace {

class StructureCheck {
 public:
  StructureCheck(const UnitNet& net, const MapDecisions& decisions, const Chip& chip, const MapPlaces& places)
      : net_(net), decisions_(decisions), chip_(chip), places_(places) {}

  std::optional<Diag> fault(std::vector<std::size_t>& order) {
    if (auto found = slabs_fault(decisions_.slabs, net_.input_rows)) return refusal("E4049", *std::move(found));
    if (auto found = items_fault(decisions_.depth, decisions_.step_groups, decisions_.fetches_ahead))
      return refusal("E4049", *std::move(found));
    if (auto found = cores_fault()) return found;
    if (auto found = limits_fault()) return found;
    return order_fault(order);
  }

 private:
  const std::string& name(std::size_t unit) const { return net_.units[unit].name; }
  static Diag refusal(Code code, std::string text, std::string help = "") {
    Diag diag(code, Severity::error, {}, std::move(text));
    diag.help(std::move(help));
    return diag;
  }

  std::optional<Diag> cores_fault() const {
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> busy;  // core, phase
    std::map<std::int32_t, std::size_t> first;                          // on each core
    for (std::size_t u = 0; u < decisions_.units.size(); ++u) {
      const MapUnit& unit = decisions_.units[u];
      if (const auto fault = rows_fault(u)) return fault;
      if (static_cast<std::int64_t>(unit.cores.size()) != unit.grid.pieces())
        return refusal("E4049",
                       fmt::format("'{}' has {} pieces and {} cores", name(u), unit.grid.pieces(), unit.cores.size()));
      for (std::int32_t core : unit.cores) {
        if (core < 0 || core >= places_.there)
          return refusal("E4048", fmt::format("there is no core {}: {} are there", core, places_.there),
                         core < 0 ? "cores count from 0" : "more of them: chips: [x, y] or cores: n, given to map");
        const std::size_t before = first.try_emplace(core, u).first->second;
        if (decisions_.units[before].group != unit.group)
          return refusal("E4049",
                         fmt::format("core {} would be of two groups, by '{}' and '{}'", core, name(before), name(u)));
        const auto [there, is_free] = busy.try_emplace({core, unit.phase}, u);
        if (!is_free)
          return refusal("E4049", fmt::format("core {} would compute '{}' and '{}' in phase {}", core,
                                              name(there->second), name(u), unit.phase));
      }
    }
    return std::nullopt;
  }

  std::optional<Diag> rows_fault(std::size_t u) const {
    const MapUnit& unit = decisions_.units[u];
    if (!unit.streams) return std::nullopt;
    if (net_.stream_faults[u])
      return refusal("E4049", fmt::format("'{}' cannot stream: {}", name(u), *net_.stream_faults[u]));
    if (unit.grid.y != 1) return refusal("E4049", fmt::format("'{}' streams, and so its rows are not cut", name(u)));
    return std::nullopt;
  }

  std::optional<Diag> limits_fault() {
    for (const MapUnit& unit : decisions_.units) {
      const auto group = static_cast<std::size_t>(unit.group);
      if (phases_.size() <= group) phases_.resize(group + 1);
      phases_[group] = std::max(phases_[group], unit.phase + 1);
    }
    for (std::size_t u = 0; u < decisions_.units.size() && chip_.limits.phases; ++u)
      if (const std::int32_t phases = phases_[static_cast<std::size_t>(decisions_.units[u].group)];
          phases > *chip_.limits.phases)
        return refusal("E4043",
                       fmt::format("the cores of '{}' would have {} phases, {} has {}", name(u), phases, chip_.name,
                                   *chip_.limits.phases),
                       fmt::format("in the chip's file limits/phases of {} suffices, or take_out gives some of their "
                                   "units other cores",
                                   phases));
    const std::int64_t chips =  // each has its own groups
        std::max<std::int64_t>(1, std::int64_t{places_.width} * places_.height / chip_.grid.cores.area());
    if (chip_.limits.phase_groups && static_cast<std::int64_t>(phases_.size()) > *chip_.limits.phase_groups * chips)
      return refusal("E4043",
                     fmt::format("there would be {} groups of cores, {} has {}", phases_.size(), chip_.name,
                                 *chip_.limits.phase_groups * chips),
                     fmt::format("in the chip's file limits/phase_groups of {} suffices, or fuse makes one of two",
                                 (static_cast<std::int64_t>(phases_.size()) + chips - 1) / chips));
    const std::int64_t step_groups =
        std::min<std::int64_t>(decisions_.step_groups, static_cast<std::int64_t>(phases_.size()));
    if (chip_.limits.step_groups && step_groups > *chip_.limits.step_groups)
      return refusal(
          "E4043",
          fmt::format("there would be {} step groups, {} has {}", step_groups, chip_.name, *chip_.limits.step_groups),
          fmt::format("step_groups of {}, or in the chip's file limits/step_groups of {} suffices",
                      *chip_.limits.step_groups, step_groups));
    return std::nullopt;
  }

  // A phase begins when the one before it has ended, and that only when all has come that this one reads. So phases are
  // in order along their groups and along what units read; a circle would wait for ever. Of what streams row_schedule
  // puts the phases in order, by ticks; here it only stands between what it reads and those that read it.
  std::optional<Diag> order_fault(std::vector<std::size_t>& order) {
    std::vector<std::size_t> begin;               // of the phases of each group
    std::size_t count = decisions_.units.size();  // the first ones are those of streams
    for (std::int32_t phases : phases_) {
      begin.push_back(count);
      count += static_cast<std::size_t>(phases);
    }
    auto node = [&](std::size_t u) {
      const MapUnit& unit = decisions_.units[u];
      return unit.streams ? u : begin[static_cast<std::size_t>(unit.group)] + static_cast<std::size_t>(unit.phase);
    };
    std::vector<std::set<std::size_t>> after(count);
    for (std::size_t g = 0; g < phases_.size(); ++g)
      for (std::size_t p = 0; p + 1 < static_cast<std::size_t>(phases_[g]); ++p)
        after[begin[g] + p].insert(begin[g] + p + 1);
    std::vector<std::pair<std::size_t, std::size_t>> why;
    for (std::size_t u = 0; u < decisions_.units.size(); ++u)
      for (std::size_t from : net_.reads[u]) {
        if (node(from) == node(u))
          return refusal("E4049",
                         fmt::format("'{}' and '{}', which reads it, would compute at the same time, in phase {}",
                                     name(from), name(u), decisions_.units[u].phase));
        after[node(from)].insert(node(u));
      }
    std::vector<std::size_t> waits(count), position(count, SIZE_MAX);
    for (const auto& list : after)
      for (std::size_t to : list) ++waits[to];
    std::set<std::size_t> ready;
    for (std::size_t n = 0; n < count; ++n)
      if (waits[n] == 0) ready.insert(n);
    std::size_t done = 0;
    while (!ready.empty()) {
      const std::size_t n = *ready.begin();
      ready.erase(ready.begin());
      position[n] = done++;
      for (std::size_t to : after[n])
        if (--waits[to] == 0) ready.insert(to);
    }
    for (std::size_t u = 0; u < decisions_.units.size(); ++u)
      for (std::size_t from : net_.reads[u])
        if (position[node(from)] == SIZE_MAX && position[node(u)] == SIZE_MAX)
          return refusal("E4049",
                         fmt::format("phases would wait for one another in a circle: '{}' reads '{}', which would wait "
                                     "for a phase behind",
                                     name(u), name(from)));
    if (done < count) return refusal("E4049", "phases would wait for one another in a circle");
    order.resize(decisions_.units.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t u) { return position[node(u)]; });
    return std::nullopt;
  }

  const UnitNet& net_;
  const MapDecisions& decisions_;
  const Chip& chip_;
  const MapPlaces& places_;
  std::vector<std::int32_t> phases_;  // by group
};

}  // namespace

std::optional<Diag> structure_fault(const UnitNet& net, const MapDecisions& decisions, const Chip& chip,
                                    const MapPlaces& places, std::vector<std::size_t>& order) {
  if (decisions.units.size() != net.units.size()) bug("a mapping of another number of units");
  return StructureCheck(net, decisions, chip, places).fault(order);
}

// ---- plans ----------------------------------------------------------------------------------------

MapDecisions decisions_of(const ChipNet& net, const ChipPlan& plan) {
  MapDecisions made;
  made.slabs = plan.slabs;
  made.depth = plan.depth, made.step_groups = plan.step_groups, made.fetches_ahead = plan.fetches_ahead;
  for (const ChipUnit& unit : units_of(net)) {
    const auto found = std::ranges::find_if(plan.units, [&](const UnitPlan& planned) {
      return planned.unit.axon == unit.axon && planned.unit.soma == unit.soma;
    });
    if (found == plan.units.end()) bug("a plan without one of the units");
    MapUnit& own = made.units.emplace_back();
    own.grid = found->grid, own.group = found->group, own.phase = found->phase;
    own.streams = found->form == UnitForm::stream;
    own.slab_rows = found->slab_rows, own.pipeline_rows = found->pipeline_rows;
    for (std::int32_t position : found->cores) own.cores.push_back(plan.places[static_cast<std::size_t>(position)]);
  }
  tidy(made);
  return made;
}

Result<ChipPlan> plan_of(const ChipNet& net, const UnitNet& units, const MapDecisions& decisions,
                         const std::vector<std::size_t>& order) {
  ChipPlan plan;
  plan.slabs = decisions.slabs;
  plan.depth = decisions.depth, plan.step_groups = decisions.step_groups, plan.fetches_ahead = decisions.fetches_ahead;
  std::int32_t groups = 0;
  for (const MapUnit& unit : decisions.units) groups = std::max(groups, unit.group + 1);
  std::map<std::int32_t, std::int32_t> position;  // of cores
  for (std::int32_t group = 0; group < groups; ++group) {
    plan.group_phases.push_back(phases_of(decisions, group));
    for (const MapUnit& unit : decisions.units) {
      if (unit.group != group) continue;
      for (std::int32_t core : unit.cores) {
        if (!position.try_emplace(core, static_cast<std::int32_t>(plan.places.size())).second) continue;
        plan.places.push_back(core);
        plan.group_of_core.push_back(group);
      }
    }
  }
  for (std::size_t u : order) {
    const MapUnit& unit = decisions.units[u];
    Result<std::vector<UnitPiece>> pieces = cut_unit(net, units.units[u], unit.grid);
    if (!pieces) return pieces.diags();
    UnitPlan planned{.unit = units.units[u],
                     .grid = unit.grid,
                     .pieces = *std::move(pieces),
                     .group = unit.group,
                     .phase = unit.phase,
                     .cores = {},
                     .form = unit.streams ? UnitForm::stream : UnitForm::whole,
                     .slab_rows = unit.slab_rows,
                     .pipeline_rows = unit.pipeline_rows};
    for (std::int32_t core : unit.cores) planned.cores.push_back(position.at(core));
    plan.units.push_back(std::move(planned));
  }
  std::vector<std::size_t> place_in_plan(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place_in_plan[order[i]] = i;
  for (const auto& [a, b] : decisions.share) plan.share.emplace_back(place_in_plan[a], place_in_plan[b]);
  return plan;
}

}  // namespace taskspec
