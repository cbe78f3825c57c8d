// The actions on a mapping: each makes other decisions, which are then tried.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hwsim/map/mapping.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

Diags refusal(Code code, std::string text, std::string help = "") {
  Diag diag(code, Severity::error, {}, std::move(text));
  diag.help(std::move(help));
  Diags diags;
  diags.add(std::move(diag));
  return diags;
}

bool has(const std::vector<std::int32_t>& cores, std::int32_t core) {
  return std::ranges::find(cores, core) != cores.end();
}

// A group that nobody has.
std::int32_t new_group(const MapDecisions& of) {
  std::int32_t group = 0;
  for (const MapUnit& unit : of.units) group = std::max(group, unit.group + 1);
  return group;
}

}  // namespace

std::optional<std::size_t> ChipMapping::find(std::string_view unit, Diags& diags) const {
  std::vector<std::string> names;
  for (std::size_t u = 0; u < units().units.size(); ++u) {
    const ChipUnit& one = units().units[u];
    names.push_back(one.name);
    // By its soma, too.
    for (std::size_t work : {one.axon, one.soma})
      if (work != no_work && (*net().graph)[net().works[work].block].name == unit) return u;
  }
  const std::optional<std::string> near = nearest(std::string(unit), names);
  diags = refusal("E4048", fmt::format("there is no unit '{}' on this chip", unit),
                  near ? fmt::format("did you mean '{}'?", *near) : "there are " + joined(names, ", "));
  return std::nullopt;
}

// ---- cores ----------------------------------------------------------------------------------------

std::vector<std::int32_t> ChipMapping::free_cores(const MapDecisions& of, std::int32_t near) const {
  const MapPlaces& places = estimator_->places();
  std::vector<bool> is_used(static_cast<std::size_t>(places.there));
  for (const MapUnit& unit : of.units)
    for (std::int32_t core : unit.cores) is_used[static_cast<std::size_t>(core)] = true;
  std::vector<std::int32_t> free;
  for (std::int32_t core = 0; core < places.there; ++core)
    if (!is_used[static_cast<std::size_t>(core)]) free.push_back(core);
  std::ranges::stable_sort(free, {}, [&](std::int32_t core) {
    return std::abs(core % places.width - near % places.width) + std::abs(core / places.width - near / places.width);
  });
  return free;
}

// The first pieces stay where they are; then come other cores of the group that have the phase free, then free ones.
bool ChipMapping::give_cores(MapDecisions& of, std::size_t number, Diags& diags) const {
  MapUnit& unit = of.units[number];
  const auto wanted = static_cast<std::size_t>(unit.grid.pieces());
  const std::int32_t near = unit.cores.empty() ? 0 : unit.cores[0];
  if (unit.cores.size() > wanted) unit.cores.resize(wanted);
  std::set<std::int32_t> of_group, busy;
  for (const MapUnit& other : of.units) {
    if (other.group != unit.group) continue;
    of_group.insert(other.cores.begin(), other.cores.end());
    if (other.phase == unit.phase) busy.insert(other.cores.begin(), other.cores.end());
  }
  for (std::int32_t core : of_group)
    if (unit.cores.size() < wanted && !busy.contains(core)) unit.cores.push_back(core);
  if (unit.cores.size() == wanted) return true;
  const std::vector<std::int32_t> free = free_cores(of, near);
  const std::size_t missing = wanted - unit.cores.size();
  if (free.size() < missing) {
    diags = refusal("E4042",
                    fmt::format("'{}' would take {} more, and {} of {} are free", name_of(number),
                                plural(missing, "core"), free.size(), estimator_->places().there),
                    "take_out and split need free cores; merge and fuse make some");
    return false;
  }
  unit.cores.insert(unit.cores.end(), free.begin(), free.begin() + static_cast<std::ptrdiff_t>(missing));
  return true;
}

// Phases of both, one behind the other, in the order in which they come now.
void ChipMapping::join_groups(MapDecisions& of, std::int32_t group, std::int32_t other) const {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> phases;
  for (std::size_t u : estimator_->order()) {
    MapUnit& unit = of.units[u];
    if (unit.group != group && unit.group != other) continue;
    phases.try_emplace({unit.group, unit.phase}, clamped(static_cast<std::int64_t>(phases.size())));
  }
  for (MapUnit& unit : of.units)
    if (unit.group == group || unit.group == other) {
      unit.phase = phases.at({unit.group, unit.phase});
      unit.group = group;
    }
}

// ---- pieces ---------------------------------------------------------------------------------------

MapDecisions ChipMapping::with_grid(std::size_t unit, const PieceGrid& grid, Diags& diags) const {
  MapDecisions next = decisions();
  next.units[unit].grid = grid;
  give_cores(next, unit, diags);
  return next;
}

ChipMapping::Done ChipMapping::cut(std::size_t unit, const PieceGrid& grid) {
  if (auto fault = grid_fault(net(), units().units[unit], grid)) {
    Diags diags;
    diags.add(*std::move(fault));
    return diags;
  }
  Diags diags;
  MapDecisions next = with_grid(unit, grid, diags);
  if (diags.has_errors()) return diags;
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::split(std::string_view name, const GridChange& change) {
  Diags diags;
  const std::optional<std::size_t> unit = find(name, diags);
  if (!unit) return diags;
  const std::size_t history = before_.size();
  if (change.r)
    if (const Done done = cut_along_r(*unit, *change.r); !done) return done;
  const std::size_t now_unit = *find(name, diags);  // parts of sums have come or gone
  const PieceGrid now = decisions().units[now_unit].grid;
  const bool is_recut = before_.size() > history;
  const Done done = cut(now_unit, {change.y.value_or(now.y), change.x.value_or(now.x), change.f.value_or(now.f)});
  if (!is_recut) return done;
  if (!done) {
    go_to(before_.back());
    before_.pop_back();
  } else if (before_.size() > history + 1) {
    before_.pop_back();  // both are one action
  }
  return done;
}

// Where a part of sums was not there before, it is cut as the unit is, on free cores in a group of all parts.
std::optional<MapDecisions> ChipMapping::carried_to(const UnitNet& after, Diags& diags) const {
  std::map<std::string, std::size_t> before, now;
  for (std::size_t u = 0; u < units().units.size(); ++u) before[name_of(u)] = u;
  for (std::size_t u = 0; u < after.units.size(); ++u) now[after.units[u].name] = u;
  MapDecisions next = decisions();
  next.units.clear();
  next.share.clear();
  for (const auto& [a, b] : decisions().share)
    if (now.contains(name_of(a)) && now.contains(name_of(b)))
      next.share.emplace_back(std::minmax(now.at(name_of(a)), now.at(name_of(b))));
  for (const ChipUnit& unit : after.units) {
    const bool is_there = before.contains(unit.name);
    const std::string of = is_there ? unit.name : unit.name.substr(0, unit.name.rfind('.'));
    MapUnit made = decisions().units[before.at(of)];
    if (!is_there) {
      made.group = new_group(decisions()) + clamped(static_cast<std::int64_t>(before.at(of)));
      made.phase = 0;
      made.pipeline_rows = 0;
      made.cores.clear();
    }
    next.units.push_back(std::move(made));
  }
  for (std::size_t u = 0; u < next.units.size(); ++u) {
    MapUnit& unit = next.units[u];
    if (!unit.cores.empty()) continue;
    const auto wanted = static_cast<std::size_t>(unit.grid.pieces());
    const std::string& name = after.units[u].name;
    const std::vector<std::int32_t> free =
        free_cores(next, decisions().units[before.at(name.substr(0, name.rfind('.')))].cores[0]);
    if (free.size() < wanted) {
      diags = refusal("E4042",
                      fmt::format("'{}' would take {}, and {} of {} are free", name, plural(wanted, "core"),
                                  free.size(), estimator_->places().there),
                      "split it into fewer parts, or merge and fuse others");
      return std::nullopt;
    }
    unit.cores.assign(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(wanted));
  }
  return next;
}

ChipMapping::Done ChipMapping::cut_along_r(std::size_t unit, std::int64_t parts) {
  const ChipUnit& own = units().units[unit];
  const BlockId block = net().works[own.axon != no_work ? own.axon : own.soma].block;
  if (block.index() >= given().graph->blocks.size())
    return refusal("E4049", fmt::format("'{}' is a part of sums that are cut along r", own.name),
                   "split the unit whose sums they are");
  if (auto fault = cut_fault(given(), given().work_of(block), parts)) return refusal("E4049", *std::move(fault));
  if (!options_.blocks) return refusal("E4049", "sums are cut where the records of blocks are known");
  SumCuts cuts = cuts_;
  std::erase_if(cuts, [&](const SumCut& cut) { return cut.block == block; });
  if (parts > 1) cuts.push_back({block, parts});
  std::ranges::sort(cuts, {}, [](const SumCut& cut) { return cut.block.index(); });
  if (cuts == cuts_) return estimate();
  Result<ChipNet> made = cut_sums(given(), cuts, *options_.blocks);
  if (!made) return made.diags();
  std::shared_ptr<MapEstimator> estimator = estimator_of(*std::move(made));
  Diags diags;
  std::optional<MapDecisions> next = carried_to(estimator->units(), diags);
  if (!next) return diags;
  return act(std::move(estimator), std::move(cuts), *std::move(next));
}

ChipMapping::Done ChipMapping::replicate(std::string_view name, std::int64_t n) {
  Diags diags;
  const std::optional<std::size_t> unit = find(name, diags);
  if (!unit) return diags;
  const TaskBlock& last = (*net().graph)[net().works[units().units[*unit].last()].block];
  const std::int64_t f = decisions().units[*unit].grid.f, rows = std::max<std::int64_t>(1, last.shape.y);
  const std::int64_t columns = (std::max<std::int64_t>(1, last.shape.x) + column_group - 1) / column_group;
  if (n < 1) return refusal("E4049", fmt::format("'{}' is there once or more often, not {} times", name, n));
  const bool streams = decisions().units[*unit].streams;  // then all copies make a part of each row
  for (std::int64_t y = streams ? 1 : std::min(n, rows); y >= 1; --y)
    if (n % y == 0 && n / y <= columns) return cut(*unit, {y, n / y, f});
  if (streams)
    return refusal("E4049", fmt::format("'{}' streams, and its rows are {} columns long, which are shared by fours: {} "
                                        "copies would not all have some",
                                        name, last.shape.x, n));
  return refusal("E4049",
                 fmt::format("'{}' makes {} x {} pixels, of which columns are shared by fours: {} copies would not all "
                             "have some",
                             name, rows, std::max<std::int64_t>(1, last.shape.x), n));
}

ChipMapping::Done ChipMapping::pipeline_rows(std::string_view name, std::int64_t rows) {
  Diags diags;
  const std::optional<std::size_t> unit = find(name, diags);
  if (!unit) return diags;
  MapDecisions next = decisions();
  const ChipUnit& own = units().units[*unit];
  if (rows < 0 || own.axon == no_work || own.soma == no_work)
    return refusal("E4049",
                   fmt::format("'{}' has not an axon and a soma behind it, with {} rows between them", name, rows));
  next.units[*unit].pipeline_rows = rows;
  return act(std::move(next));
}

// ---- who shares cores with whom -------------------------------------------------------------------

ChipMapping::Done ChipMapping::fuse(std::string_view a, std::string_view b) {
  Diags diags;
  const std::optional<std::size_t> first = find(a, diags), second = first ? find(b, diags) : std::nullopt;
  if (!first || !second) return diags;
  if (*first == *second)
    return refusal("E4049", fmt::format("'{}' and '{}' are one unit, on the same cores already", a, b));
  MapDecisions next = decisions();
  const std::int32_t group = next.units[*first].group, other = next.units[*second].group;
  if (group == other && next.units[*first].phase == next.units[*second].phase)
    return refusal("E4049", fmt::format("'{}' and '{}' compute in the same phase, side by side", a, b),
                   "set_phase gives one of them another");
  if (group != other) join_groups(next, group, other);
  // Piece by piece on the cores of the first; those behind stay where they are.
  std::vector<std::int32_t>& cores = next.units[*second].cores;
  const std::vector<std::int32_t>& onto = next.units[*first].cores;
  std::vector<std::int32_t> made, left;
  for (std::int32_t core : cores)
    if (!has(onto, core)) left.push_back(core);
  for (std::size_t i = 0; i < cores.size(); ++i) made.push_back(i < onto.size() ? onto[i] : left[i - onto.size()]);
  cores = std::move(made);
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::share_storage(std::string_view a, std::string_view b) {
  Diags diags;
  const std::optional<std::size_t> first = find(a, diags), second = first ? find(b, diags) : std::nullopt;
  if (!first || !second) return diags;
  const std::vector<std::int32_t>& others = decisions().units[*second].cores;
  const bool meet =
      std::ranges::any_of(decisions().units[*first].cores, [&](std::int32_t core) { return has(others, core); });
  if (*first == *second || !estimator_->saves_by_sharing(*first, *second))
    return refusal("E4049",
                   fmt::format("'{}' and '{}' have no equal weights, tables or inputs on a core of both", a, b),
                   meet ? "" : fmt::format("fuse(\"{}\", \"{}\") brings them together", a, b));
  MapDecisions next = decisions();
  next.share.emplace_back(std::minmax(*first, *second));
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::merge(std::int64_t core, std::int64_t other) {
  const std::int32_t to = clamped(core), from = clamped(other);
  MapDecisions next = decisions();
  std::optional<std::int32_t> group, emptied;
  for (const MapUnit& unit : next.units) {
    if (has(unit.cores, to)) group = unit.group;
    if (has(unit.cores, from)) emptied = unit.group;
  }
  if (!group || !emptied || to == from)
    return refusal("E4048", to == from ? fmt::format("core {} twice", core)
                                       : fmt::format("core {} does nothing", group ? other : core));
  if (*group != *emptied) join_groups(next, *group, *emptied);
  for (std::size_t u = 0; u < next.units.size(); ++u) {
    MapUnit& unit = next.units[u];
    if (has(unit.cores, from) && has(unit.cores, to))
      return refusal(
          "E4049",
          fmt::format("cores {} and {} have pieces of '{}', which compute at the same time", core, other, name_of(u)),
          "split it into fewer");
    std::ranges::replace(unit.cores, from, to);
  }
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::put_in(std::string_view name, std::int64_t core) {
  Diags diags;
  const std::optional<std::size_t> unit = find(name, diags);
  if (!unit) return diags;
  MapDecisions next = decisions();
  if (next.units[*unit].cores.size() != 1)
    return refusal("E4049",
                   fmt::format("'{}' has {} pieces, and one core is to have it", name, next.units[*unit].cores.size()),
                   fmt::format("split(\"{}\", y: 1, x: 1, f: 1), or fuse", name));
  const std::int32_t to = clamped(core);
  for (std::size_t u = 0; u < next.units.size(); ++u) {
    if (u == *unit || !has(next.units[u].cores, to)) continue;
    if (next.units[u].group != next.units[*unit].group) {
      // It alone joins: others of its old group stay where they are.
      const std::int32_t fresh = new_group(next);
      next.units[*unit].group = fresh;
      join_groups(next, next.units[u].group, fresh);
    }
    next.units[*unit].cores = {to};
    return act(std::move(next));
  }
  next.units[*unit].group = new_group(next);
  next.units[*unit].phase = 0;
  next.units[*unit].cores = {to};
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::take_out(std::string_view name) {
  Diags diags;
  const std::optional<std::size_t> unit = find(name, diags);
  if (!unit) return diags;
  MapDecisions next = decisions();
  MapUnit& own = next.units[*unit];
  const std::int32_t group = own.group, near = own.cores[0];
  if (std::ranges::count(next.units, group, &MapUnit::group) == 1)
    return refusal("E4049", fmt::format("'{}' has its cores for itself", name));
  std::set<std::int32_t> others;
  for (std::size_t u = 0; u < next.units.size(); ++u)
    if (u != *unit) others.insert(next.units[u].cores.begin(), next.units[u].cores.end());
  own.group = new_group(next);
  own.phase = 0;
  std::erase_if(own.cores, [&](std::int32_t core) { return others.contains(core); });
  if (own.cores.empty()) {  // so that new ones lie near the old
    const std::vector<std::int32_t> free = free_cores(next, near);
    if (!free.empty()) own.cores.push_back(free[0]);
  }
  if (!give_cores(next, *unit, diags)) return diags;
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::move(std::int64_t core, std::int64_t to) {
  const std::int32_t a = clamped(core), b = clamped(to);
  MapDecisions next = decisions();
  bool is_used = false;
  for (MapUnit& unit : next.units)
    for (std::int32_t& place : unit.cores) {
      is_used = is_used || place == a;
      place = place == a ? b : place == b ? a : place;
    }
  if (!is_used) return refusal("E4048", fmt::format("core {} does nothing", core));
  return act(std::move(next));
}

ChipMapping::Done ChipMapping::set_phase(std::string_view name, std::int64_t phase) {
  Diags diags;
  const std::optional<std::size_t> unit = find(name, diags);
  if (!unit) return diags;
  MapDecisions next = decisions();
  MapUnit& own = next.units[*unit];
  const std::int32_t phases = phases_of(next, own.group), wanted = clamped(phase);
  if (wanted < 0 || wanted > phases)
    return refusal("E4049", fmt::format("the cores of '{}' have phases 0 to {}, and may have one more: not {}", name,
                                        phases - 1, phase));
  // Whoever has that phase on a core of the unit changes with it.
  for (std::size_t u = 0; u < next.units.size(); ++u) {
    MapUnit& other = next.units[u];
    const bool meets = u != *unit && other.group == own.group && other.phase == wanted &&
                       std::ranges::any_of(other.cores, [&](std::int32_t core) { return has(own.cores, core); });
    if (meets) other.phase = own.phase;
  }
  own.phase = wanted;
  return act(std::move(next));
}

}  // namespace taskspec
