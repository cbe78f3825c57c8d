#include "interp/shards/analysis/fine.hpp"

#include <algorithm>
#include <tuple>

namespace taskspec {

FineResult& FineStage::analyse(const Operation& op, const Task& task) {
  result_.own.clear();
  result_.edges.clear();
  result_.is_dispatched = false;
  if (!task.keys.empty()) {
    const OwnPoints& own = plans_.own(task.keys[0]);
    for (std::int64_t i = 0; i < own.count(); ++i) result_.own.push_back(own[i]);
  }
  for (const ExactLists::Source& source : task.sources) find_edges(op, task, source);
  put_in_order();
  steps_ += result_.own.size();
  edges_ += result_.edges.size();
  return result_;
}

// One use may be met through several fields, and by several uses: RAW before WAW before WAR.
void FineStage::put_in_order() {
  auto& edges = result_.edges;
  std::sort(edges.begin(), edges.end(), [](const PointEdge& a, const PointEdge& b) {
    return std::tie(a.to, a.from, a.why) < std::tie(b.to, b.from, b.why);
  });
  edges.erase(std::unique(edges.begin(), edges.end(),
                          [](const PointEdge& a, const PointEdge& b) { return a.from == b.from && a.to == b.to; }),
              edges.end());
}

void FineStage::find_edges(const Operation& op, const Task& task, const ExactLists::Source& source) {
  auto add = [&](std::int64_t point, std::int64_t to) {
    for (std::uint64_t i = 0; i < source.ops.count; ++i)
      result_.edges.push_back({{source.ops[i], point}, {op.number, to}, source.why});
  };
  if (op.by_owners) {
    // Each shard tells what its own points left behind.
    const UseKey& earlier = keys_[source.key];
    const OwnPoints& own = plans_.own(source.key);
    for (std::int64_t i = 0; i < own.count(); ++i)
      if (forest_.meet(earlier.use.at(earlier.domain.point(own[i])), op.uses[source.use].space)) add(own[i], 0);
    return;
  }
  if (result_.own.empty()) return;
  const EdgePlan& plan = plans_.of(source.key, task.keys[source.use]);
  for (std::size_t i = 0; i < result_.own.size(); ++i)
    for (const std::int64_t point : plan.of(i)) add(point, result_.own[i]);
}

std::size_t FineStage::bytes() const {
  return plans_.bytes() + lists_.bytes() + result_.own.capacity() * sizeof(std::int64_t) +
         result_.edges.capacity() * sizeof(PointEdge);
}

}  // namespace taskspec
