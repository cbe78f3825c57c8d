// The lookup tables of one run: a cell per output of every task. A cell goes
//
//   Unbound -> Pending -> Ready(location, version)
//                     \-> Poisoned(origin, fault)
//
// and never back; anything else is refused. It holds neither a value nor an address: the location of a
// cell is the buffer whose bytes hold it, its version counts how often those were overwritten in place.
#pragma once
#include <map>
#include <mutex>
#include <optional>

#include "ir/plan/backend.hpp"

namespace taskspec {

enum class CellState : std::uint8_t { unbound, pending, ready, poisoned };

// Where a Ready cell points.
struct CellPlace {
  BufferId location;
  std::uint32_t version = 0;
};

// Of every buffer of a plan: the first one in its row of takeovers, and its place in that row.
std::vector<CellPlace> places_of(const Plan& plan);

class LookupTable {
 public:
  explicit LookupTable(const Plan& plan);  // which outlives it

  void clear();  // a new table: every cell Unbound
  bool pend(BufferId cell) { return move(cell, CellState::unbound, CellState::pending); }
  bool publish(BufferId cell) { return move(cell, CellState::pending, CellState::ready); }
  bool poison(BufferId cell, const Poison& poison);
  void begin();  // a new table for a run: inputs and constants are Ready before anything runs, all others Pending

  // Of points of launches, which write where others read without a cell between them: those that do not run, or failed.
  bool poison(NodeId point, const Poison& poison);  // false: it is poisoned already
  std::optional<Poison> poison(NodeId point) const;
  std::vector<std::pair<NodeId, Poison>> dead_points() const;

  CellState state(BufferId cell) const { return states_[cell.index()]; }
  CellPlace place(BufferId cell) const;
  Poison poison(BufferId cell) const;  // of a Poisoned cell

 private:
  bool move(BufferId cell, CellState from, CellState to) {
    if (states_[cell.index()] != from) return false;
    states_[cell.index()] = to;
    return true;
  }

  // A cell is written by the worker that runs its task and read by those that run later: no atomics.
  std::vector<CellState> states_;
  const Plan& plan_;
  std::vector<CellState> begun_;  // as a run begins
  mutable std::mutex mutex_;      // of what follows; only a run that fails gets here
  std::vector<Poison> poisons_;
  std::vector<std::uint32_t> poison_of_;  // by cell, made when the first one is poisoned
  std::map<NodeId, Poison> points_;
};

}  // namespace taskspec
