// Local search on a mapping: other cuts, sharing of cores, other places. It keeps what is better, and never ends with
// what is worse than it began with, by the clock as by the estimate.
//
//   Optimised found = optimise(m, {.moves = 20'000}, [](const std::string& line) { fmt::print("{}\n", line); });
//   found.moves        as a budget in its turn they give the same mapping again
#pragma once
#include <atomic>
#include <functional>

#include "hwsim/map/mapping.hpp"

namespace taskspec {

struct SearchBudget {
  std::int64_t moves = 0;                          // that are tried
  double seconds = 0;                              // in their place, where it is not 0
  const std::atomic<bool>* interrupted = nullptr;  // it ends when this is set: with what it has
};
// "30s", "1.5s", "20000". None: it is neither.
std::optional<SearchBudget> search_budget(std::string_view text);

struct Optimised {
  std::int64_t moves = 0, accepted = 0;
  MapEstimate before, after;
};

using TellsChange = std::function<void(const std::string& line)>;
// One action in the history of the mapping. `checks_clock`: the clock, too, must not find it worse.
Optimised optimise(ChipMapping& mapping, const SearchBudget& budget, const TellsChange& tell, bool checks_clock = true);

// Is `a` better for the objective? Equal numbers are not.
bool is_better(const MapEstimate& a, const MapEstimate& b, MapObjective objective);

}  // namespace taskspec
