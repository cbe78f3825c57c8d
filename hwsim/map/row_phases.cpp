#include "hwsim/map/row_phases.hpp"

#include <algorithm>
#include <set>

namespace taskspec {

namespace {

constexpr std::int32_t no_phase = -1;

class PhaseTeller {
 public:
  PhaseTeller(const ChipPlan& plan, std::vector<UnitTicks> units, RowSchedule& made)
      : plan_(plan), units_(std::move(units)), made_(made) {
    std::int32_t groups = static_cast<std::int32_t>(plan.group_phases.size());
    for (const UnitPlan& unit : plan.units) groups = std::max(groups, unit.group + 1);
    groups_.resize(static_cast<std::size_t>(groups));
    for (std::size_t u = 0; u < plan.units.size(); ++u) {
      Group& group = group_of(u);
      group.units.push_back(u);
      group.has_streams |= is_stream(u);
      has_streams_ |= is_stream(u);
    }
    // Groups that start together: only where rows stream do whole units, too, go through a step with the others.
    has_lead_ = has_streams_ && plan.step_groups > 0;
  }

  void tell() {
    made_.group_phases.assign(groups_.size(), 1);
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].has_streams ? tell_mixed(groups_[g]) : tell_whole(g);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].has_streams) made_.group_phases[g] = static_cast<std::int32_t>(groups_[g].slots.size());
    for (std::size_t u = 0; u < units_.size(); ++u) is_stream(u) ? fill(u) : fill_whole(u);
    tell_order();
  }

 private:
  // A phase of a group: in a tick, of the units that the plan has in one phase; of none: it moves only.
  struct Slot {
    std::int64_t tick = 0;
    std::int32_t phase = no_phase;
  };
  struct Group {
    std::vector<std::size_t> units;
    bool has_streams = false;
    std::vector<Slot> slots;
    std::int64_t first_tick = -1;  // whose batches are moved in the last phase of the step before; -1: none are
  };

  bool is_stream(std::size_t u) const { return plan_.units[u].form == UnitForm::stream; }
  Group& group_of(std::size_t u) { return groups_[static_cast<std::size_t>(plan_.units[u].group)]; }

  void tell_whole(std::size_t g) {
    std::int32_t phases = g < plan_.group_phases.size() ? plan_.group_phases[g] : 1;
    for (const std::size_t u : groups_[g].units) phases = std::max(phases, plan_.units[u].phase + 1);
    made_.group_phases[g] = phases + (has_lead_ ? 1 : 0);
  }

  void tell_mixed(Group& group) {
    std::set<std::pair<std::int64_t, std::int32_t>> computes;
    std::set<std::int64_t> gets;
    for (const std::size_t u : group.units) {
      if (!is_stream(u)) computes.emplace(units_[u].computed, plan_.units[u].phase);
      for (const UnitTick& tick : units_[u].ticks) {
        if (tick.begin < tick.end) computes.emplace(tick.tick, plan_.units[u].phase);
        if (!tick.batches.empty()) gets.insert(tick.tick);
      }
    }
    auto works = [&](std::int64_t tick) {
      const auto first = computes.lower_bound({tick, 0});
      return first != computes.end() && first->first == tick;
    };
    for (const auto& [tick, phase] : computes) group.slots.push_back({tick, phase});
    for (const std::int64_t tick : gets)
      if (!works(tick)) group.slots.push_back({tick, no_phase});
    std::ranges::stable_sort(group.slots, {}, &Slot::tick);
    const Slot first = group.slots.front();
    if (has_lead_) {
      if (first.phase != no_phase) group.slots.insert(group.slots.begin(), {first.tick - 1, no_phase});
    } else if (first.phase == no_phase) {
      group.first_tick = first.tick;
      group.slots.erase(group.slots.begin());
    }
    // The last phase moves for the next step.
    if (group.slots.empty() || gets.contains(group.slots.back().tick))
      group.slots.push_back({group.slots.empty() ? first.tick : group.slots.back().tick + 1, no_phase});
  }

  std::int32_t computing_slot(const Group& group, std::int64_t tick, std::int32_t phase) const {
    for (std::size_t i = 0; i < group.slots.size(); ++i)
      if (group.slots[i].tick == tick && group.slots[i].phase == phase) return static_cast<std::int32_t>(i);
    bug("a unit has no phase of its group");
  }
  std::int32_t moving_slot(const Group& group, std::int64_t tick) const {
    if (tick == group.first_tick) return static_cast<std::int32_t>(group.slots.size()) - 1;
    for (std::size_t i = group.slots.size(); i-- > 0;)
      if (group.slots[i].tick == tick) return static_cast<std::int32_t>(i);
    bug("what comes in a tick is moved in no phase");
  }

  void fill(std::size_t u) {
    const Group& group = group_of(u);
    UnitRows& rows = made_.units[u];
    rows.phases.resize(group.slots.size());
    for (std::size_t k = 0; k < group.slots.size(); ++k) rows.phases[k].tick = group.slots[k].tick;
    for (UnitTick& tick : units_[u].ticks) {
      if (tick.begin < tick.end) {
        UnitPhase& phase =
            rows.phases[static_cast<std::size_t>(computing_slot(group, tick.tick, plan_.units[u].phase))];
        phase.begin = tick.begin;
        phase.end = tick.end;
        rows.most_rows = std::max(rows.most_rows, phase.end - phase.begin);
      }
      if (!tick.batches.empty())
        rows.phases[static_cast<std::size_t>(moving_slot(group, tick.tick))].batches = tick.batches;
    }
  }

  void fill_whole(std::size_t u) {
    const Group& group = group_of(u);
    UnitRows& rows = made_.units[u];
    rows.tick = units_[u].computed;
    rows.phase = group.has_streams ? computing_slot(group, rows.tick, plan_.units[u].phase)
                                   : plan_.units[u].phase + (has_lead_ ? 1 : 0);
  }

  // ---- the order of a step ------------------------------------------------------------------------
  using Turn = RowSchedule::Turn;

  std::int32_t before(std::int32_t phase, std::int32_t phases) const { return (phase + phases - 1) % phases; }

  // Whole units that compute in a tick have what they read moved: at the beginning of it, if their group has done
  // nothing else in it before.
  void move_for_whole(std::size_t u, std::int64_t tick, bool is_beginning) {
    if (is_stream(u) || units_[u].computed != tick) return;
    const auto g = static_cast<std::size_t>(plan_.units[u].group);
    const std::int32_t phase = made_.units[u].phase, last = before(phase, made_.group_phases[g]);
    if (!groups_[g].has_streams) {
      if (!is_beginning) made_.order.push_back({Turn::Who::unit, static_cast<std::int32_t>(u), last, true});
      return;
    }
    const bool is_in_tick = phase > 0 && groups_[g].slots[static_cast<std::size_t>(last)].tick == tick;
    if (is_in_tick != is_beginning) move_group(g, last);
  }

  void move_group(std::size_t g, std::int32_t phase) {
    if (moved_.emplace(g, phase).second)
      made_.order.push_back({Turn::Who::group, static_cast<std::int32_t>(g), phase, true});
  }

  bool is_before_whole(std::size_t g, std::int32_t phase) const {
    const std::int32_t next = (phase + 1) % made_.group_phases[g];
    return std::ranges::any_of(groups_[g].units,
                               [&](std::size_t u) { return !is_stream(u) && made_.units[u].phase == next; });
  }

  const UnitTick* tick_of(std::size_t u, std::int64_t tick) const {
    const auto found = std::ranges::lower_bound(units_[u].ticks, tick, {}, &UnitTick::tick);
    return found != units_[u].ticks.end() && found->tick == tick ? &*found : nullptr;
  }

  void tell_order() {
    std::int64_t ticks = plan_.slabs;
    for (const UnitTicks& unit : units_) {
      ticks = std::max(ticks, unit.computed + 1);
      if (!unit.ticks.empty()) ticks = std::max(ticks, unit.ticks.back().tick + 1);
    }
    std::vector<std::size_t> by_phase(units_.size());
    for (std::size_t u = 0; u < by_phase.size(); ++u) by_phase[u] = u;
    if (has_streams_) std::ranges::stable_sort(by_phase, {}, [&](std::size_t u) { return plan_.units[u].phase; });
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
      for (std::size_t u = 0; u < units_.size(); ++u) move_for_whole(u, tick, true);
      if (tick < plan_.slabs) made_.order.push_back({Turn::Who::host, 0, static_cast<std::int32_t>(tick), false});
      for (const std::size_t u : by_phase) {
        move_for_whole(u, tick, false);
        const UnitTick* of_stream = is_stream(u) ? tick_of(u, tick) : nullptr;
        const bool computes =
            is_stream(u) ? of_stream && of_stream->begin < of_stream->end : units_[u].computed == tick;
        if (!computes) continue;
        const std::int32_t phase =
            is_stream(u) ? computing_slot(group_of(u), tick, plan_.units[u].phase) : made_.units[u].phase;
        made_.order.push_back({Turn::Who::unit, static_cast<std::int32_t>(u), phase, false});
      }
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const bool gets = std::ranges::any_of(groups_[g].units, [&](std::size_t u) {
          const UnitTick* at = is_stream(u) ? tick_of(u, tick) : nullptr;
          return at && !at->batches.empty();
        });
        if (!gets) continue;
        const std::int32_t phase = moving_slot(groups_[g], tick);
        if (!is_before_whole(g, phase)) move_group(g, phase);  // else it waits for more, which comes later
      }
    }
  }

  const ChipPlan& plan_;
  std::vector<UnitTicks> units_;
  RowSchedule& made_;
  std::vector<Group> groups_;
  std::set<std::pair<std::size_t, std::int32_t>> moved_;  // group and phase
  bool has_streams_ = false, has_lead_ = false;
};

}  // namespace

void tell_row_phases(const ChipPlan& plan, std::vector<UnitTicks> units, RowSchedule& made) {
  PhaseTeller(plan, std::move(units), made).tell();
}

}  // namespace taskspec
