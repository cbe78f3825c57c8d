// A table by position that can give back its past. Entries since the last sweep lie side by side; of the older ones
// only those are left that a sweep was told to keep, under the positions that they always had.
//
//   RetiringTable<Scope> scopes;
//   scopes.push_back(...);                                    // position 0, 1, ...
//   scopes.retire([&](std::size_t at) { return at == 3; });   // all but 3 are gone; the next one is size()
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/base/diag.hpp"

namespace taskspec {

template <class T>
class RetiringTable {
 public:
  using value_type = T;
  RetiringTable() = default;
  explicit RetiringTable(std::size_t count) : young_(count) {}

  std::size_t size() const { return first_ + young_.size(); }       // positions given so far
  std::size_t held() const { return old_.size() + young_.size(); }  // entries that are there
  std::size_t young() const { return young_.size(); }               // of them, those since the last sweep
  std::size_t capacity() const { return young_.capacity() + old_.size(); }

  T& operator[](std::size_t at) { return at >= first_ ? young_[at - first_] : old(at); }
  const T& operator[](std::size_t at) const { return const_cast<RetiringTable&>(*this)[at]; }
  T* find(std::size_t at) {
    if (at >= first_) return at < size() ? &young_[at - first_] : nullptr;
    auto known = old_.find(at);
    return known == old_.end() ? nullptr : &known->second;
  }
  bool contains(std::size_t at) const { return const_cast<RetiringTable&>(*this).find(at); }

  template <class... Given>
  T& emplace_back(Given&&... given) {
    return young_.emplace_back(std::forward<Given>(given)...);
  }
  void push_back(T entry) { young_.push_back(std::move(entry)); }
  void resize(std::size_t count) { young_.resize(count - first_); }  // never to less than was retired

  // Keeps what `keep(position)` wants, of the young ones too. Takes time for what is held, not for what is gone.
  // Changes nothing when there is no memory for it.
  template <class Keep>
  void retire(Keep&& keep) {
    std::unordered_map<std::size_t, T> kept;
    for (std::size_t i = 0; i < young_.size(); ++i)
      if (keep(first_ + i)) kept.try_emplace(first_ + i);
    old_.reserve(old_.size() + kept.size());
    std::erase_if(old_, [&](const auto& entry) { return !keep(entry.first); });
    for (auto& [at, entry] : kept) entry = std::move(young_[at - first_]);
    old_.merge(kept);
    first_ += young_.size();
    young_.clear();
  }
  // visit(position, entry) for all that is held, in no order.
  template <class Visit>
  void each(Visit&& visit) {
    for (auto& [at, entry] : old_) visit(at, entry);
    for (std::size_t i = 0; i < young_.size(); ++i) visit(first_ + i, young_[i]);
  }
  template <class Visit>
  void each(Visit&& visit) const {
    const_cast<RetiringTable&>(*this).each([&](std::size_t at, T& entry) { visit(at, std::as_const(entry)); });
  }

  // All of a table that never gave anything back.
  auto begin() const { return whole().begin(); }
  auto end() const { return whole().end(); }

 private:
  T& old(std::size_t at) {
    auto known = old_.find(at);
    if (known == old_.end()) bug("an entry of a table is read that was given back");
    return known->second;
  }
  const std::vector<T>& whole() const {
    if (first_ > 0) bug("all of a table is asked for that gave entries back");
    return young_;
  }

  std::size_t first_ = 0;  // position of the first young one
  std::vector<T> young_;
  std::unordered_map<std::size_t, T> old_;
};

}  // namespace taskspec
