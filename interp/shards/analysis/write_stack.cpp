#include "interp/shards/analysis/write_stack.hpp"

#include <algorithm>

namespace taskspec {
namespace {

// Every point that the lower one has, the upper one has, too.
bool contains(const RegionForest& forest, const KeyTable& keys, KeyId upper, const WriteStack::Entry& lower) {
  const UseKey& by = keys[upper];
  if (!lower.key.valid()) {
    const Space outer = bound(forest, by.use);
    return !outer.partition.valid() && covers_bound(forest, by);
  }
  if (upper == lower.key) return true;
  if (!covers_bound(forest, by)) return false;
  const Space outer = bound(forest, by.use);
  return forest.common_ancestor(outer, bound(forest, keys[lower.key].use)) == outer;
}

}  // namespace

void WriteStack::write(const RegionForest& forest, const KeyTable& keys, KeyId key, std::uint64_t op, Source source) {
  std::erase_if(entries_, [&](const Entry& lower) { return contains(forest, keys, key, lower); });
  entries_.insert(entries_.begin(), {source, key, op});
  holders_.clear();
}

bool WriteStack::fetch(KeyId key) {
  if (std::find(holders_.begin(), holders_.end(), key) != holders_.end()) return false;
  holders_.push_back(key);
  return true;
}

}  // namespace taskspec
