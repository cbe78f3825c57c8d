// Points of operations and who must wait for whom, directly or not.
//
//   Exact exact;  exact.tasks = {...};  exact.edges.emplace(from, to);
//   exact.closure(other).has(exact.place(to), exact.place(from))        // by other edges on the same points
#pragma once
#include <algorithm>
#include <set>

#include "interp/shards/analysis/fine.hpp"

namespace taskspec {

using Edges = std::set<std::pair<LaunchPoint, LaunchPoint>>;

// Whom each task must wait for, directly or not; tasks by their place in program order.
class Closure {
 public:
  explicit Closure(std::size_t tasks) : words_((tasks + 63) / 64), bits_(tasks * words_) {}
  // `before` and all that it is behind.
  void add(std::size_t task, std::size_t before) {
    for (std::size_t i = 0; i < words_; ++i) bits_[task * words_ + i] |= bits_[before * words_ + i];
    bits_[task * words_ + before / 64] |= std::uint64_t{1} << before % 64;
  }
  bool has(std::size_t task, std::size_t before) const { return bits_[task * words_ + before / 64] >> before % 64 & 1; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

struct Exact {
  std::vector<LaunchPoint> tasks;  // ascending
  Edges edges;

  // tasks.size() for one that there is not
  std::size_t place(const LaunchPoint& task) const {
    const auto found = std::lower_bound(tasks.begin(), tasks.end(), task);
    return found != tasks.end() && *found == task ? static_cast<std::size_t>(found - tasks.begin()) : tasks.size();
  }
  Closure closure(const Edges& edges) const {
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (const auto& [from, to] : edges)
      if (from < to && place(from) < tasks.size() && place(to) < tasks.size())
        places.emplace_back(place(to), place(from));
    std::sort(places.begin(), places.end());
    Closure closure(tasks.size());
    for (const auto& [to, from] : places) closure.add(to, from);
    return closure;
  }
};

}  // namespace taskspec
