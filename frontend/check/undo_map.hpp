// A map that can be as it was before: it notes what each change replaced, so that an entry of a prompt pays for the
// names that it changes and not for a copy of all of them.
//
//   UndoMap<Names> names;
//   names.remember();                        // before this nothing is noted
//   std::size_t before = names.mark();
//   names.put("x", binding);
//   names.back_to(before);                   // 'x' is what it was, or gone
#pragma once
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace taskspec::checking {

template <class Map>
class UndoMap {
 public:
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  struct Change {
    Key key;
    std::optional<Value> before;  // none: it was not there
  };

  auto begin() const { return map_.begin(); }
  auto end() const { return map_.end(); }
  std::size_t size() const { return map_.size(); }
  template <class Name>
  auto find(const Name& key) const {
    return map_.find(key);
  }
  template <class Name>
  bool contains(const Name& key) const {
    return map_.find(key) != map_.end();
  }
  const Value& at(const Key& key) const { return map_.at(key); }

  // Where it stands, and whether it was not there before; then nothing is changed.
  std::pair<typename Map::const_iterator, bool> add(const Key& key, Value value) {
    auto [place, added] = map_.emplace(key, std::move(value));
    if (added && remembers_) changes_.push_back({place->first, std::nullopt});
    return {place, added};
  }
  void put(const Key& key, Value value) {
    auto known = map_.find(key);
    if (known == map_.end()) {
      add(key, std::move(value));
      return;
    }
    if (remembers_) changes_.push_back({known->first, std::move(known->second)});
    known->second = std::move(value);
  }
  template <class Name>
  void remove(const Name& key) {
    auto known = map_.find(key);
    if (known != map_.end()) remove_at(known);
  }
  // For maps in order: all from this key on.
  void remove_from(const Key& first) {
    for (auto known = map_.lower_bound(first); known != map_.end();) known = remove_at(known);
  }

  void remember() { remembers_ = true; }
  std::size_t mark() const { return changes_.size(); }
  void back_to(std::size_t mark) {
    for (; changes_.size() > mark; changes_.pop_back()) {
      Change& last = changes_.back();
      if (last.before)
        map_.insert_or_assign(last.key, *std::move(last.before));
      else
        map_.erase(last.key);
    }
  }
  // What was changed so far stays; marks begin anew.
  void settle() { changes_.clear(); }
  std::span<const Change> changes() const { return changes_; }  // since it was settled, in order

 private:
  auto remove_at(typename Map::iterator known) {
    if (remembers_) changes_.push_back({known->first, std::move(known->second)});
    return map_.erase(known);
  }

  Map map_;
  std::vector<Change> changes_;
  bool remembers_ = false;
};

}  // namespace taskspec::checking
