#include "hwsim/map/optimise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "hwsim/report/account.hpp"
#include "ir/base/random.hpp"

namespace taskspec {

std::optional<SearchBudget> search_budget(std::string_view text) {
  const bool is_time = text.ends_with('s');
  if (is_time) text.remove_suffix(1);
  SearchBudget budget;
  const char* end = text.data() + text.size();
  const auto read =
      is_time ? std::from_chars(text.data(), end, budget.seconds) : std::from_chars(text.data(), end, budget.moves);
  const bool is_whole = read.ec == std::errc() && read.ptr == end && !text.empty();
  if (!is_whole || budget.moves < 0 || !(budget.seconds >= 0 && budget.seconds <= 1e6)) return std::nullopt;
  if (is_time && budget.seconds == 0) return std::nullopt;
  return budget;
}

namespace {

using Rank = std::array<std::int64_t, 5>;
Rank rank_of(const MapEstimate& e, MapObjective objective) {
  const std::int64_t traffic = e.packet_hops + 4 * e.busiest_link;
  switch (objective) {
    case MapObjective::latency:
      return {e.latency, e.cores, e.interval, traffic, e.energy};
    case MapObjective::energy:
      return {e.energy, e.interval, e.cores, traffic, e.latency};
    case MapObjective::cores:
      return {e.cores, e.interval, traffic, e.energy, e.latency};
    case MapObjective::throughput:
      break;
  }
  return {e.interval, e.cores, traffic, e.latency, e.energy};
}

}  // namespace

bool is_better(const MapEstimate& a, const MapEstimate& b, MapObjective objective) {
  return rank_of(a, objective) < rank_of(b, objective);
}

class MapSearch {
 public:
  MapSearch(ChipMapping& mapping, const TellsChange& tell) : mapping_(mapping), tell_(tell) {}

  // As that many moves at random, the same ones each time.
  Optimised run(const SearchBudget& budget) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    auto goes_on = [&] {
      if (budget.interrupted && budget.interrupted->load(std::memory_order_relaxed)) return false;
      if (budget.seconds <= 0) return done_.moves < budget.moves;
      return std::chrono::duration<double>(Clock::now() - begin).count() < budget.seconds;
    };
    done_.before = mapping_.estimate();
    kept_.push_back(mapping_.decisions());
    for (; goes_on(); ++done_.moves) {
      words_ = philox({static_cast<std::uint32_t>(done_.moves), static_cast<std::uint32_t>(done_.moves >> 32), 0, 0},
                      philox_key(1));
      if (!mapping_.decisions().units.empty()) try_one();
    }
    done_.after = mapping_.estimate();
    return done_;
  }

  const std::vector<MapDecisions>& kept() const { return kept_; }

 private:
  std::size_t below(std::size_t word, std::size_t count) const {
    return static_cast<std::size_t>(std::uint64_t{words_[word]} * count >> 32);
  }
  std::int32_t some_core() const {
    const MapUnit& unit = mapping_.decisions().units[below(1, mapping_.decisions().units.size())];
    return unit.cores[below(2, unit.cores.size())];
  }

  const std::vector<PieceGrid>& grids(std::size_t unit) {
    if (grids_.empty()) grids_.resize(mapping_.units().units.size());
    if (grids_[unit].empty()) grids_[unit] = grids_of(mapping_.net(), mapping_.units().units[unit]);
    return grids_[unit];
  }

  // A cut of the unit that is a little finer or coarser.
  std::optional<MapDecisions> other_grid(std::size_t unit, std::string& what) {
    const std::vector<PieceGrid>& all = grids(unit);
    const PieceGrid now = mapping_.decisions().units[unit].grid;
    std::size_t here = 0;
    while (here < all.size() && all[here].pieces() < now.pieces()) ++here;
    const std::size_t low = here > 4 ? here - 4 : 0, high = std::min(all.size(), here + 6);
    if (low >= high) return std::nullopt;
    const PieceGrid grid = all[low + below(2, high - low)];
    if (grid == now) return std::nullopt;
    what = fmt::format("split({}, y: {}, x: {}, f: {})", mapping_.name_of(unit), grid.y, grid.x, grid.f);
    Diags diags;
    MapDecisions next = mapping_.with_grid(unit, grid, diags);
    return diags.has_errors() ? std::nullopt : std::optional(std::move(next));
  }

  void try_one() {
    const std::size_t units = mapping_.decisions().units.size(), unit = below(1, units);
    std::string what;
    std::optional<MapDecisions> next;
    const std::uint32_t kind = words_[0] % 8;
    if (kind < 4) {
      next = other_place(what);
    } else if (kind < 6) {
      next = other_grid(unit, what);
    } else {
      // By the actions, whose history is not wanted.
      const std::size_t other = kind == 6 ? (unit + 1) % units : unit;
      what = kind == 6 ? fmt::format("fuse({}, {})", mapping_.name_of(unit), mapping_.name_of(other))
                       : fmt::format("take_out({})", mapping_.name_of(unit));
      return try_action(what, [&] {
        return kind == 6 ? mapping_.fuse(mapping_.name_of(unit), mapping_.name_of(other))
                         : mapping_.take_out(mapping_.name_of(unit));
      });
    }
    if (!next) return;
    tidy(*next);
    const MapDecisions before = mapping_.decisions();
    if (*next == before) return;
    const MapEstimate was = mapping_.estimate();
    if (mapping_.estimator_->set(*next)) return;
    keep_or_take_back(what, was, before);
  }

  std::optional<MapDecisions> other_place(std::string& what) {
    const MapPlaces& places = mapping_.estimator().places();
    const std::int32_t from = some_core();
    std::int32_t to = static_cast<std::int32_t>(below(3, static_cast<std::size_t>(places.there)));
    if (words_[0] % 2 == 0) {  // beside a core that is in use
      const MapUnit& other = mapping_.decisions().units[below(3, mapping_.decisions().units.size())];
      const std::int32_t near = other.cores[(words_[3] & 0xffff) % other.cores.size()];
      const std::int32_t step = static_cast<std::int32_t>(words_[0] / 8 % 9);
      const std::int32_t x = near % places.width + step % 3 - 1, y = near / places.width + step / 3 - 1;
      if (x < 0 || y < 0 || x >= places.width || y >= places.height) return std::nullopt;
      to = y * places.width + x;
    }
    if (to == from || to >= places.there) return std::nullopt;
    what = fmt::format("move({}, {})", from, to);
    MapDecisions next = mapping_.decisions();
    for (MapUnit& unit : next.units)
      for (std::int32_t& place : unit.cores) place = place == from ? to : place == to ? from : place;
    return next;
  }

  template <class Action>
  void try_action(const std::string& what, Action action) {
    const MapDecisions before = mapping_.decisions();
    const MapEstimate was = mapping_.estimate();
    const std::size_t history = mapping_.before_.size();
    if (!action()) return;
    mapping_.before_.resize(history);
    keep_or_take_back(what, was, before);
  }

  void keep_or_take_back(const std::string& what, const MapEstimate& was, const MapDecisions& before) {
    if (!is_better(mapping_.estimate(), was, mapping_.options().objective)) {
      if (mapping_.estimator_->set(before)) bug("what was there before is no longer possible");
      return;
    }
    ++done_.accepted;
    kept_.push_back(mapping_.decisions());
    if (tell_) tell_(fmt::format("move {}: {}: {}", done_.moves, what, mapping_.estimate().text()));
  }

  ChipMapping& mapping_;
  const TellsChange& tell_;
  Optimised done_;
  PhiloxBlock words_{};
  std::vector<MapDecisions> kept_;  // what was better than all before
  std::vector<std::vector<PieceGrid>> grids_;
};

namespace {

// By the clock, for the objective.
std::optional<Rank> clocked(ChipMapping& mapping) {
  const Result<ChipProgram> program = mapping.program();
  if (!program) return std::nullopt;
  const Result<ChipTiming> timing = time_program(*program, {});
  if (!timing) return std::nullopt;
  MapEstimate real = mapping.estimate();
  real.latency = timing->latency;
  real.interval = timing->interval > 0 ? timing->interval : timing->latency;
  const PerEvent counts = counts_of(account_of(*program, *timing), 1, real.interval);
  real.energy = energy_of(counts, mapping.chip());
  Rank rank = rank_of(real, mapping.options().objective);
  for (std::size_t i = 1; i < rank.size(); ++i) rank[i] = 0;  // what the objective is about
  return rank;
}

}  // namespace

Optimised optimise(ChipMapping& mapping, const SearchBudget& budget, const TellsChange& tell, bool checks_clock) {
  const MapDecisions first = mapping.decisions();
  const std::size_t history = mapping.history();
  const std::optional<Rank> was = checks_clock ? clocked(mapping) : std::nullopt;
  MapSearch search(mapping, tell);
  Optimised done = search.run(budget);
  // From the last one back, in growing steps, to the first that the clock does not find worse.
  std::size_t at = search.kept().size() - 1;
  for (std::size_t back = 1; checks_clock && at > 0; back *= 2) {
    const std::optional<Rank> now = clocked(mapping);
    if (now && (!was || *now <= *was)) break;
    at = at > back ? at - back : 0;
    if (tell)
      tell(at == 0 ? "by the clock none of it is better: back to the begin"
                   : fmt::format("by the clock that is worse: back to change {}", at));
    if (!mapping.take(search.kept()[at])) bug("what was there before is no longer possible");
  }
  const MapDecisions found = search.kept()[at];
  mapping.forget_since(history, first, found);
  done.after = mapping.estimate();
  return done;
}

}  // namespace taskspec
