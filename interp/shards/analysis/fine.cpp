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
  if (op.by_owners)
    find_owners(op, task);
  else if (!result_.own.empty())
    find_edges(op, task);
  steps_ += result_.own.size();
  edges_ += result_.edges.size();
  return result_;
}

// Point by point, so that what is put in order is short.
void FineStage::find_edges(const Operation& op, const Task& task) {
  met_.clear();
  for (const ExactLists::Source& source : task.sources) met_.push_back(&plans_.of(source.key, task.keys[source.use]));
  for (std::size_t i = 0; i < result_.own.size(); ++i) {
    const std::size_t begin = result_.edges.size();
    for (std::size_t k = 0; k < met_.size(); ++k) {
      const ExactLists::Source& source = task.sources[k];
      for (std::uint64_t j = 0; j < source.ops.count; ++j)
        for (const std::int64_t point : met_[k]->of(i))
          result_.edges.push_back({{source.ops[j], point}, {op.number, result_.own[i]}, source.why});
    }
    put_in_order(begin);
  }
}

// Each shard tells what its own points left behind.
void FineStage::find_owners(const Operation& op, const Task& task) {
  for (const ExactLists::Source& source : task.sources) {
    const UseKey& earlier = keys_[source.key];
    const OwnPoints& own = plans_.own(source.key);
    for (std::int64_t i = 0; i < own.count(); ++i)
      if (forest_.meet(earlier.use.at(earlier.domain.point(own[i])), op.uses[source.use].space))
        for (std::uint64_t j = 0; j < source.ops.count; ++j)
          result_.edges.push_back({{source.ops[j], own[i]}, {op.number, 0}, source.why});
  }
  put_in_order(0);
}

// Those of one point. It may meet an earlier one through several fields, and by several uses: RAW before WAW before
// WAR.
void FineStage::put_in_order(std::size_t first) {
  auto& edges = result_.edges;
  const auto begin = edges.begin() + static_cast<std::ptrdiff_t>(first);
  auto is_before = [](const PointEdge& a, const PointEdge& b) {
    return std::tie(a.from, a.why) < std::tie(b.from, b.why);
  };
  if (!std::is_sorted(begin, edges.end(), is_before)) std::sort(begin, edges.end(), is_before);
  edges.erase(std::unique(begin, edges.end(), [](const PointEdge& a, const PointEdge& b) { return a.from == b.from; }),
              edges.end());
}

std::size_t FineStage::bytes() const {
  return plans_.bytes() + lists_.bytes() + result_.own.capacity() * sizeof(std::int64_t) +
         result_.edges.capacity() * sizeof(PointEdge);
}

}  // namespace taskspec
