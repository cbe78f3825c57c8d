#include "hwsim/map/mapper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "hwsim/map/known_choices.hpp"
#include "hwsim/map/refusals.hpp"

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
  // On `most` cores, wherever they lie.
  Mapper(const ChipNet& net, const MapOptions& options, std::int64_t most)
      : net_(net), options_(options), chip_(*options.chip), there_(most), most_phases_(chip_.limits.phases) {}

  Diags diags;

  std::optional<ChipPlan> plan() {
    chips_ = chips_of(options_);
    units_ = units_of(net_);
    known_.emplace(net_, units_, chip_);
    check_chip();
    if (diags.has_errors()) return std::nullopt;  // a chip of another kind has no figures to go on with
    forms_.assign(units_.size(), UnitForm::whole);
    find_readers();
    if (!options_.slabs || *options_.slabs <= 1) {
      if (divide()) return made();
      if (options_.slabs) return tell_refused(), std::nullopt;
    }
    return stream();
  }

 private:
  // ---- what the chip has not ----------------------------------------------------------------------
  void check_chip() { diags.append(chip_refusals(net_, chip_)); }

  const TaskBlock& block(std::size_t work) const { return (*net_.graph)[net_.works[work].block]; }

  // Pieces and cores for the forms that units have now.
  bool divide() {
    groups_.clear();
    choices_.clear();
    refused_.clear();
    const bool has_streams = std::ranges::find(forms_, UnitForm::stream) != forms_.end();
    if (has_streams && !schedule()) return false;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (forms_[u] == UnitForm::stream) {
        choices_.push_back(known_->of(u, &rows_.units[u]));
      } else {
        if (!whole_choices_.contains(u)) whole_choices_[u] = known_->of(u, nullptr);
        choices_.push_back(whole_choices_[u]);
      }
    }
    for (std::size_t u = 0; u < units_.size(); ++u) begin_with_fewest(u);
    if (!refused_.empty()) return false;
    share_cores();
    if (diags.has_errors()) return false;
    if (options_.objective == MapObjective::throughput || options_.objective == MapObjective::latency) use_more_cores();
    return true;
  }

  // ---- streams ------------------------------------------------------------------------------------
  // Who makes which rows when; not: more phases than the chip has.
  bool schedule() {
    ChipPlan plan;
    plan.slabs = slabs_;
    for (std::size_t u = 0; u < units_.size(); ++u)
      plan.units.push_back({.unit = units_[u],
                            .grid = {},
                            .pieces = {},
                            .group = static_cast<std::int32_t>(u),
                            .cores = {},
                            .form = forms_[u]});
    rows_ = row_schedule(net_, plan);
    if (!most_phases_) return true;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const auto phases = static_cast<std::int64_t>(rows_.units[u].phases.size());
      if (phases <= *most_phases_) continue;
      diags.error("E4046", block(units_[u].last()).span,
                  fmt::format("rows of '{}' would come and go in {} phases, {} are possible", units_[u].name, phases,
                              *most_phases_));
      return false;
    }
    return true;
  }

  // What does not fit as a whole comes in rows: the first units of the net, as far as they can, or all of them.
  std::optional<ChipPlan> stream() {
    const Diags first = std::exchange(diags, {});
    const std::vector<std::size_t> first_refused = refused_;
    Diags nearest = first;  // of those that only want more cores, which wants the fewest
    std::int64_t nearest_cores = wants_cores(first) ? needed_cores_ : INT64_MAX;
    for (const ChipUnit& unit : units_) streams_.push_back(can_stream(net_, unit));
    std::optional<ChipPlan> best;
    std::int64_t best_time = 0;
    Diags last;
    int tried = 0;
    for (std::int64_t slabs : batches_to_try()) {
      if (best && ++tried > 2) break;  // fewer batches take more memory, and rarely less time
      for (std::size_t whole_from : {units_.size(), first_that_fits_whole()}) {
        diags = {};
        explains_ = !last.has_errors();  // the first reason is told
        if (divide_rows(slabs, whole_from) && (!best || slowest() < best_time)) {
          best_time = slowest();
          best = made();
        }
        if (options_.slabs && !best) tell_refused();
        if (wants_cores(diags) && needed_cores_ < nearest_cores) nearest = diags, nearest_cores = needed_cores_;
        if (diags.has_errors() && !last.has_errors()) last = std::move(diags);
      }
    }
    diags = {};
    if (best) return best;
    if (options_.slabs && is_for_phases(last)) {
      const std::string help = fewer_phases();
      diags = {};
      Diag diag = last.items().front();
      diags.add(std::move(diag.help(help)));
    } else if (wants_cores(nearest)) {
      diags = nearest;  // it fits on more cores, as a whole or in rows: that is what one wants to know
    } else if (options_.slabs) {
      diags = last;
    } else {
      diags = first;
      choices_.clear();
      for (std::size_t u = 0; u < units_.size(); ++u) choices_.push_back(whole_choices_[u]);
      forms_.assign(units_.size(), UnitForm::whole);
      refused_ = first_refused;
      tell_refused();
    }
    return std::nullopt;
  }

  static bool wants_cores(const Diags& why) { return why.has_errors() && why.items().front().code == "E4042"; }
  static bool is_for_phases(const Diags& why) { return why.has_errors() && why.items().front().code == "E4046"; }

  bool divide_rows(std::int64_t slabs, std::size_t whole_from) {
    slabs_ = slabs;
    for (std::size_t u = 0; u < units_.size(); ++u)
      forms_[u] = u < whole_from && streams_[u] ? UnitForm::stream : UnitForm::whole;
    return divide();
  }

  // Where rows come in more batches than there are phases: what fits.
  std::string fewer_phases() {
    explains_ = false;
    const auto fits = [&](std::int64_t slabs) {
      diags = {};
      return divide_rows(slabs, units_.size()) || (diags = {}, divide_rows(slabs, first_that_fits_whole()));
    };
    for (std::int64_t slabs = std::min(*options_.slabs - 1, *most_phases_); slabs > 1; --slabs) {
      if (fits(slabs)) return fmt::format("fewer batches of rows: slabs: {}", slabs);
      if (!is_for_phases(diags)) break;  // fewer batches take more memory
    }
    const std::optional<std::int64_t> limit = std::exchange(most_phases_, std::nullopt);
    std::int64_t needed = 0;
    if (fits(*options_.slabs))
      for (const UnitRows& unit : rows_.units) needed = std::max(needed, static_cast<std::int64_t>(unit.phases.size()));
    most_phases_ = needed;
    const bool is_enough = needed > 0 && fits(*options_.slabs);
    most_phases_ = limit;
    return is_enough ? fmt::format("in the chip's file limits/phases of {} suffices", needed) : "a smaller net";
  }

  // From there on all units fit as a whole.
  std::size_t first_that_fits_whole() const {
    std::size_t first = units_.size();
    while (first > 0 && whole_choices_.contains(first - 1) &&
           std::ranges::any_of(whole_choices_.at(first - 1), [](const UnitChoice& c) { return c.cost.fits; }))
      --first;
    return first;
  }

  std::vector<std::int64_t> batches_to_try() const {
    if (options_.slabs) return {*options_.slabs};
    std::int64_t most = 0;
    for (BlockId id : net_.inputs)
      if (const Extents extents = value_type((*net_.graph)[id]).extents; extents.size() == 3)
        most = std::max(most, extents[0]);
    std::vector<std::int64_t> list;
    for (std::int64_t n : {32, 28, 24, 16, 14, 8, 7, 4, 2})
      if (n <= most && (!chip_.limits.phases || n <= *chip_.limits.phases)) list.push_back(n);
    return list;
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
    refused_.push_back(u);
  }

  void tell_refused() {
    for (const std::size_t u : refused_) {
      const UnitRows* rows = forms_[u] == UnitForm::stream ? &rows_.units[u] : nullptr;
      const std::vector<UnitChoice> own = choices_of(net_, units_[u], chip_, rows);  // with its own names
      Diag diag = unit_refusal(net_, units_[u], own, chip_, rows);
      if (const auto fault = stream_fault(net_, units_[u]); fault && !rows)
        diag.note("its rows do not come in batches either: " + *fault);
      diags.add(std::move(diag));
    }
  }

  // ---- sharing ------------------------------------------------------------------------------------
  static std::int64_t cores_of(const std::vector<SharedCores>& groups) {
    std::int64_t used = 0;
    for (const SharedCores& group : groups) used += group.cores;
    return used;
  }
  std::int64_t cores_used() const { return cores_of(groups_); }

  bool has_too_many_groups() const {
    if (!chip_.limits.phase_groups) return false;
    std::int64_t made = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      bool joins = false;  // an earlier one
      for (std::size_t other = 0; other < g && !joins; ++other)
        joins = groups_[g].choice.size() == 1 && groups_[other].choice.size() == 1 &&
                can_join(groups_[g].first, groups_[other].first);
      made += joins ? 0 : 1;
    }
    return made > *chip_.limits.phase_groups * chips_.area();
  }
  bool can_join(std::size_t a, std::size_t b) const {
    return forms_[a] == UnitForm::stream && forms_[b] == UnitForm::stream && works_with(rows_.units[a], rows_.units[b]);
  }

  void share_cores() {
    std::vector<UnitCores> alone;
    for (const SharedCores& group : groups_) {
      const std::int64_t bytes = choices_[group.first][group.choice[0]].cost.bytes;
      alone.push_back({units_[group.first].name, group.cores, bytes * group.cores});
    }
    const std::vector<SharedCores> apart = groups_;
    lacks_phases_ = false;
    join(apart);
    if (cores_used() <= there_) return;
    const std::int64_t needed = needed_cores_ = cores_used();
    diags.add(
        cores_refusal(chip_, chips_, there_, options_.cores, needed, std::move(alone), phases_that_suffice(apart)));
  }

  // Neighbours that are quickest together; where that leaves groups of which no two fit a core, as many as do in turn.
  void join(const std::vector<SharedCores>& apart) {
    groups_ = apart;
    join_neighbours();
    if (cores_used() <= there_) return;
    const std::vector<SharedCores> joined = std::exchange(groups_, {});
    const std::int64_t used = cores_of(joined);
    for (const SharedCores& next : apart) {
      const Merged merged = groups_.empty() ? std::nullopt : merge(groups_.back(), next);
      if (merged)
        groups_.back() = *merged;
      else
        groups_.push_back(next);
    }
    if (cores_used() >= used) groups_ = joined;
  }

  void join_neighbours() {
    const bool wants_few = options_.objective == MapObjective::cores;
    // What two neighbours would be together, worked out once: a merge changes its own neighbours alone.
    std::vector<std::optional<Merged>> known(groups_.size());
    while (groups_.size() > 1 && (wants_few || cores_used() > there_ || has_too_many_groups())) {
      std::size_t best = groups_.size();
      for (std::size_t g = 0; g + 1 < groups_.size(); ++g) {
        if (!known[g]) known[g] = merge(groups_[g], groups_[g + 1]);
        const Merged& merged = *known[g];
        if (merged && (best == groups_.size() || merged->cycles < (*known[best])->cycles)) best = g;
      }
      if (best == groups_.size()) break;
      groups_[best] = **known[best];
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      known.erase(known.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      known[best].reset();
      if (best > 0) known[best - 1].reset();
    }
  }

  // The least limit with which neighbours would share the cores that are there; none: their memory does not suffice
  // either. Only when it will be told.
  std::optional<std::int64_t> phases_that_suffice(const std::vector<SharedCores>& apart) {
    if (!lacks_phases_ || !explains_) return std::nullopt;
    const std::optional<std::int64_t> limit = std::exchange(most_phases_, std::nullopt);
    const std::vector<SharedCores> stuck = groups_;
    join(apart);
    std::optional<std::int64_t> found;
    if (cores_used() <= there_) {
      std::int64_t low = *limit, high = low;  // low does not suffice, high does
      for (const SharedCores& group : groups_) high = std::max(high, phases_of(group));
      while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        most_phases_ = middle;
        join(apart);
        (cores_used() <= there_ ? high : low) = middle;
      }
      found = high;
    }
    groups_ = stuck;
    most_phases_ = limit;
    return found;
  }

  using Merged = std::optional<SharedCores>;
  // Both on the cores of one of them, one after another; none: their memory, or the phases of a core, do not suffice.
  Merged merge(const SharedCores& a, const SharedCores& b) {
    SharedCores both{.first = a.first,
                     .last = b.last,
                     .choice = a.choice,
                     .cores = std::max(a.cores, b.cores),
                     .cycles = a.cycles + b.cycles};
    both.choice.insert(both.choice.end(), b.choice.begin(), b.choice.end());
    if (most_phases_ && phases_of(both) > *most_phases_) {
      lacks_phases_ = true;
      return std::nullopt;
    }
    return is_possible(both) ? std::optional(both) : std::nullopt;
  }

  // Of a group, at most: where rows stream a phase for each unit in each tick in which it makes some, for ticks in
  // which something only comes, and for what comes first.
  std::int64_t phases_of(const SharedCores& group) const {
    std::int64_t phases = 0;
    std::set<std::int64_t> computing, coming;
    for (std::size_t u = group.first; u <= group.last; ++u) {
      if (forms_[u] == UnitForm::whole) {
        ++phases;
        continue;
      }
      for (const UnitPhase& phase : rows_.units[u].phases) {
        if (phase.begin < phase.end) ++phases, computing.insert(phase.tick);
        for (const RowBatch& batch : phase.batches) coming.insert(batch.tick);
      }
    }
    if (computing.empty()) return phases;
    for (const std::int64_t tick : coming) phases += computing.contains(tick) ? 0 : 1;
    return phases + 1;
  }

  // Every core with another set of pieces than those before it.
  bool is_possible(const SharedCores& group) const {
    const auto phases = static_cast<std::int32_t>(group.choice.size());
    bool has_streams = false;  // then all lives always
    for (std::size_t u = group.first; u <= group.last; ++u) has_streams |= forms_[u] == UnitForm::stream;
    std::vector<std::vector<UnitPiece>> pieces;
    for (std::size_t i = 0; i < group.choice.size(); ++i) {
      Result<std::vector<UnitPiece>> cut =
          cut_unit(net_, units_[group.first + i], choices_[group.first + i][group.choice[i]].grid);
      if (!cut) return false;
      pieces.push_back(*std::move(cut));
    }
    std::set<std::vector<std::vector<Extents>>> seen;
    for (std::size_t core = 0; core < static_cast<std::size_t>(group.cores); ++core) {
      std::vector<std::vector<Extents>> sizes;
      for (const std::vector<UnitPiece>& of : pieces)
        sizes.push_back(core < of.size() ? sizes_of(of[core]) : std::vector<Extents>());
      if (!seen.insert(std::move(sizes)).second) continue;
      std::vector<ChipBuffer> buffers;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (core >= pieces[i].size()) continue;
        const std::size_t u = group.first + i;
        const bool is_stream = forms_[u] == UnitForm::stream;
        PieceBuffers made = *buffers_of(net_, units_[u], pieces[i][core],
                                        {.phase = has_streams ? 0 : static_cast<std::int32_t>(i),
                                         .phases = has_streams ? 1 : phases,
                                         .rows = is_stream ? &rows_.units[u] : nullptr,
                                         .pipeline_rows = choices_[group.first + i][group.choice[i]].pipeline_rows,
                                         .only_sizes = true});
        for (ChipBuffer& buffer : made.buffers) buffers.push_back(std::move(buffer));
      }
      if (!fits(buffers, has_streams ? 1 : phases)) return false;
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
  // Who reads what a unit makes, with how many bytes.
  void find_readers() {
    std::map<BlockId, std::size_t> makers;
    for (std::size_t u = 0; u < units_.size(); ++u) makers[net_.works[units_[u].last()].block] = u;
    readers_.resize(units_.size());
    for (std::size_t u = 0; u < units_.size(); ++u)
      for (const std::size_t work : {units_[u].axon, units_[u].soma}) {
        if (work == no_work) continue;
        for (const NetCluster& cluster : net_.works[work].in)
          for (const NetSource& source : cluster.sources)
            if (const auto found = makers.find(source.block); found != makers.end() && found->second != u)
              readers_[found->second].push_back(u);
      }
  }

  // Packets that a core of a unit sends in a step: each part along f of a reader wants all of its features.
  std::int64_t packets_of(std::size_t u, const std::vector<std::int64_t>& copies, std::int64_t pieces) const {
    const TaskBlock& last = block(units_[u].last());
    const ArrayType type = value_type(last);
    const std::int64_t packets = type.elements() * packed_bits(type.precision) / 8 / chip_.noc.payload_bytes;
    std::int64_t sent = 0;
    for (std::size_t reader : readers_[u]) sent += packets * copies[reader];
    return sent / pieces;
  }

  std::vector<std::int64_t> copies() const {
    std::vector<std::int64_t> made(units_.size(), 1);
    for (const SharedCores& group : groups_)
      for (std::size_t i = 0; i < group.choice.size(); ++i)
        made[group.first + i] = choices_[group.first + i][group.choice[i]].grid.f;
    return made;
  }

  // What a step takes on the cores of a group: computing, or sending where that is more.
  std::int64_t time_of(const SharedCores& group, const std::vector<std::int64_t>& copies) const {
    if (group.choice.size() > 1 || forms_[group.first] == UnitForm::whole) return group.cycles;
    return std::max(group.cycles, packets_of(group.first, copies, group.cores));
  }

  std::int64_t slowest() const {
    std::int64_t most = 0;
    const std::vector<std::int64_t> made = copies();
    for (const SharedCores& group : groups_) most = std::max(most, time_of(group, made));
    return most;
  }

  void use_more_cores() {
    for (;;) {
      const std::vector<std::int64_t> parts = copies();
      auto slowest =
          std::ranges::max_element(groups_, {}, [&](const SharedCores& group) { return time_of(group, parts); });
      if (slowest == groups_.end() || slowest->choice.size() > 1) return;
      const std::vector<UnitChoice>& choices = choices_[slowest->first];
      const std::int64_t left = there_ - cores_used() + slowest->cores, now = time_of(*slowest, parts);
      auto time = [&](std::size_t i) {
        SharedCores other = *slowest;
        other.cores = choices[i].grid.pieces();
        other.cycles = choices[i].cost.cycles;
        return time_of(other, parts);
      };
      std::size_t next = choices.size();
      for (std::size_t i = 0; i < choices.size(); ++i) {
        if (!choices[i].cost.fits || choices[i].grid.pieces() > left || time(i) >= now) continue;
        if (next == choices.size() || choices[i].grid.pieces() < choices[next].grid.pieces() ||
            (choices[i].grid.pieces() == choices[next].grid.pieces() && time(i) < time(next)))
          next = i;
      }
      if (next == choices.size()) return;
      slowest->choice = {next};
      slowest->cores = choices[next].grid.pieces();
      slowest->cycles = choices[next].cost.cycles;
    }
  }

  // ---- the plan -----------------------------------------------------------------------------------
  // Streams that make rows in the same ticks are one group: parts of a sum, slices of features.
  std::int32_t group_like(const SharedCores& group, const ChipPlan& plan) const {
    for (std::size_t u = 0; u < plan.units.size() && group.choice.size() == 1; ++u)
      if (can_join(group.first, u) && !shares_cores(u)) return plan.units[u].group;
    return static_cast<std::int32_t>(plan.group_phases.size());
  }

  bool shares_cores(std::size_t unit) const {
    return std::ranges::any_of(groups_, [&](const SharedCores& group) {
      return group.choice.size() > 1 && group.first <= unit && unit <= group.last;
    });
  }

  std::optional<ChipPlan> made() {
    ChipPlan plan;
    plan.slabs = std::ranges::find(forms_, UnitForm::stream) != forms_.end() ? slabs_ : 1;
    std::int32_t first_core = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const SharedCores& group = groups_[g];
      const std::int32_t number = group_like(group, plan);
      if (number == static_cast<std::int32_t>(plan.group_phases.size()))
        plan.group_phases.push_back(static_cast<std::int32_t>(group.choice.size()));
      for (std::size_t i = 0; i < group.choice.size(); ++i) {
        const std::size_t u = group.first + i;
        UnitPlan unit{.unit = units_[u],
                      .grid = choices_[u][group.choice[i]].grid,
                      .pieces = {},
                      .group = number,
                      .phase = static_cast<std::int32_t>(i),
                      .cores = {},
                      .form = forms_[u],
                      .pipeline_rows = choices_[u][group.choice[i]].pipeline_rows};
        Result<std::vector<UnitPiece>> pieces = cut_unit(net_, units_[u], unit.grid);
        if (!pieces) {
          diags.append(pieces.diags());
          return std::nullopt;
        }
        unit.pieces = *std::move(pieces);
        for (std::size_t k = 0; k < unit.pieces.size(); ++k)
          unit.cores.push_back(first_core + static_cast<std::int32_t>(k));
        plan.units.push_back(std::move(unit));
      }
      for (std::int64_t k = 0; k < group.cores; ++k) plan.group_of_core.push_back(number);
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
  std::optional<std::int64_t> most_phases_;  // of a core: the chip's limit, or another one that is tried
  std::int64_t needed_cores_ = 0;            // of the last division that wanted more than there are
  bool lacks_phases_ = false;                // some merge was refused for its phases
  bool explains_ = true;                     // what does not fit now will be told
  std::vector<ChipUnit> units_;
  std::vector<std::vector<UnitChoice>> choices_;
  std::optional<KnownChoices> known_;
  std::map<std::size_t, std::vector<UnitChoice>> whole_choices_;
  std::vector<UnitForm> forms_;
  std::vector<bool> streams_;                      // can they?
  std::vector<std::vector<std::size_t>> readers_;  // of what a unit makes: units
  RowSchedule rows_;                               // of streams
  std::int64_t slabs_ = 1;                         // that inputs come in
  std::vector<SharedCores> groups_;
  std::vector<std::size_t> refused_;  // units that fit no core
};

}  // namespace

Result<ChipPlan> plan_on(const ChipNet& net, const MapOptions& options, std::int64_t most) {
  Mapper mapper(net, options, most);
  std::optional<ChipPlan> plan = mapper.plan();
  if (!plan) return mapper.diags;
  plan->depth = options.depth;
  plan->step_groups = options.step_groups;
  plan->fetches_ahead = options.fetches_ahead;
  return *std::move(plan);
}

}  // namespace taskspec
