#include "interp/host/lookup_table.hpp"

#include <algorithm>

namespace taskspec {

std::vector<CellPlace> places_of(const Plan& plan) {
  std::vector<CellPlace> places(plan.buffers.size());
  std::vector<std::size_t> row;  // buffers on the way back to one whose place is known
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::size_t at = i;
    for (; !places[at].location.valid() && plan.buffers[at].shares != UINT32_MAX; at = plan.buffers[at].shares)
      row.push_back(at);
    if (!places[at].location.valid()) places[at] = {BufferId(at), 0};
    for (CellPlace place = places[at]; !row.empty(); row.pop_back()) {
      ++place.version;
      places[row.back()] = place;
    }
  }
  return places;
}

LookupTable::LookupTable(const Plan& plan)
    : states_(plan.buffers.size(), CellState::unbound), plan_(plan), begun_(states_.size(), CellState::pending) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    const bool is_outside = buffer.home == Buffer::Home::input || buffer.home == Buffer::Home::constant;
    if (is_outside && buffer.shares == UINT32_MAX) begun_[i] = CellState::ready;
  }
}

CellPlace LookupTable::place(BufferId cell) const {
  CellPlace place{cell, 0};
  for (std::uint32_t next; (next = plan_.buffers[place.location.index()].shares) != UINT32_MAX; ++place.version)
    place.location = BufferId(next);
  return place;
}

void LookupTable::clear() {
  std::fill(states_.begin(), states_.end(), CellState::unbound);
  poisons_.clear();
  poison_of_.clear();
  points_.clear();
}

void LookupTable::begin() {
  clear();
  std::copy(begun_.begin(), begun_.end(), states_.begin());
}

// The state comes last: where there is no memory for the rest, the cell stays as it was.
bool LookupTable::poison(BufferId cell, const Poison& poison) {
  if (state(cell) != CellState::pending) return false;
  std::lock_guard lock(mutex_);
  if (poison_of_.empty()) poison_of_.resize(states_.size());
  poisons_.push_back(poison);
  poison_of_[cell.index()] = static_cast<std::uint32_t>(poisons_.size() - 1);
  return move(cell, CellState::pending, CellState::poisoned);
}

bool LookupTable::poison(NodeId point, const Poison& poison) {
  std::lock_guard lock(mutex_);
  return points_.emplace(point, poison).second;
}

std::optional<Poison> LookupTable::poison(NodeId point) const {
  std::lock_guard lock(mutex_);
  auto known = points_.find(point);
  return known == points_.end() ? std::nullopt : std::optional(known->second);
}

std::vector<std::pair<NodeId, Poison>> LookupTable::dead_points() const { return {points_.begin(), points_.end()}; }

Poison LookupTable::poison(BufferId cell) const {
  if (state(cell) != CellState::poisoned) bug("the poison of a healthy cell");
  std::lock_guard lock(mutex_);
  return poisons_[poison_of_[cell.index()]];
}

}  // namespace taskspec
