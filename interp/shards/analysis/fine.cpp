#include "interp/shards/analysis/fine.hpp"

#include <algorithm>
#include <tuple>

namespace taskspec {

FineStage::Lane& FineStage::lane(RegionId root, std::uint32_t field) {
  if (lanes_.size() <= root.index()) lanes_.resize(root.index() + 1);
  auto& fields = lanes_[root.index()];
  if (fields.size() <= field) fields.resize(field + 1);
  return fields[field];
}

const FineResult& FineStage::analyse(const Operation& op) {
  result_.own.clear();
  result_.edges.clear();
  std::vector<KeyId> keys;
  for (const LaunchUse& use : op.uses) keys.push_back(keys_.of(op, use));
  if (!keys.empty()) {
    const OwnPoints& own = plans_.own(keys[0]);
    for (std::int64_t i = 0; i < own.count(); ++i) result_.own.push_back(own[i]);
  }
  auto each = [&](auto visit) {
    for (std::size_t i = 0; i < op.uses.size(); ++i)
      op.uses[i].fields.each(
          [&](std::uint32_t field) { visit(op.uses[i], keys[i], lane(op.uses[i].space.root, field)); });
  };
  each([&](const LaunchUse& use, KeyId key, Lane& lane) { find_edges(op, use, key, lane); });
  each([&](const LaunchUse& use, KeyId key, Lane& lane) {
    if (use.privilege == Privilege::in || use.privilege == Privilege::reduce) return;
    std::erase_if(lane, [&](const Entry& entry) { return entry.op < op.number && covers(key, entry.key); });
  });
  each([&](const LaunchUse& use, KeyId key, Lane& lane) { lane.push_back({op.number, key, use.privilege, use.op}); });
  // One use may be met through several fields, and by several uses: RAW before WAW before WAR.
  auto& edges = result_.edges;
  std::sort(edges.begin(), edges.end(), [](const PointEdge& a, const PointEdge& b) {
    return std::tie(a.to, a.from, a.why) < std::tie(b.to, b.from, b.why);
  });
  edges.erase(std::unique(edges.begin(), edges.end(),
                          [](const PointEdge& a, const PointEdge& b) { return a.from == b.from && a.to == b.to; }),
              edges.end());
  counts_.steps += result_.own.size();
  counts_.edges += edges.size();
  return result_;
}

void FineStage::find_edges(const Operation& op, const LaunchUse& use, KeyId key, const Lane& lane) {
  for (const Entry& entry : lane) {
    ++counts_.entries;
    const Hazard why = hazard(entry.privilege, entry.reduce, use.privilege, use.op);
    if (why == Hazard::none) continue;
    if (op.by_owners) {
      // Each shard tells what its own points left behind.
      const UseKey& earlier = keys_[entry.key];
      const OwnPoints& own = plans_.own(entry.key);
      for (std::int64_t i = 0; i < own.count(); ++i)
        if (forest_.meet(earlier.use.at(earlier.domain.point(own[i])), use.space))
          result_.edges.push_back({{entry.op, own[i]}, {op.number, 0}, why});
      continue;
    }
    if (result_.own.empty()) continue;
    const EdgePlan& plan = plans_.of(entry.key, key);
    for (std::size_t i = 0; i < result_.own.size(); ++i)
      for (const std::int64_t point : plan.of(i))
        result_.edges.push_back({{entry.op, point}, {op.number, result_.own[i]}, why});
  }
}

// All that the earlier one took, the later one takes, too.
bool FineStage::covers(KeyId later, KeyId earlier) const {
  if (later == earlier) return true;
  const UseKey &by = keys_[later], &of = keys_[earlier];
  if (!covers_bound(forest_, by)) return false;
  const Space outer = bound(forest_, by.use), inner = bound(forest_, of.use);
  return outer.root == inner.root && forest_.common_ancestor(outer, inner) == outer;
}

std::size_t FineStage::bytes() const {
  std::size_t bytes =
      plans_.bytes() + result_.own.capacity() * sizeof(std::int64_t) + result_.edges.capacity() * sizeof(PointEdge);
  for (const auto& fields : lanes_)
    for (const Lane& lane : fields) bytes += lane.capacity() * sizeof(Entry);
  return bytes;
}

}  // namespace taskspec
