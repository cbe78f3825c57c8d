// What failed points of launches left in fields and maps that outlive a batch: who reads it in a later one does not
// run. Empty unless something failed.
#pragma once
#include <map>
#include <unordered_map>

#include "interp/session/batch.hpp"
#include "ir/region/independence.hpp"

namespace taskspec {

class PoisonedPoints {
 public:
  using Causes = std::map<NodeId, std::uint32_t>;  // by task of a graph: as Failures numbers them

  explicit PoisonedPoints(const TaskGraph& session) : session_(session) {}
  bool empty() const { return fields_.empty() && maps_.empty(); }
  // Points that read something that an earlier batch left poisoned.
  Causes met_by(const Batch& batch, const BatchGraph& graph) const;
  // A batch ran, but for these points.
  void ran(const Batch& batch, const BatchGraph& graph, const Causes& dead);
  // None of the points of this launch ran, nor will: whoever reads what they would have written does not run either.
  void never_ran(NodeId launch, std::uint32_t cause);
  void forget(RegionId region);
  void forget_maps_but(const Staying& staying);

 private:
  struct Part {
    Intervals points;
    std::uint32_t cause;
  };
  using Fields = std::unordered_map<std::uint64_t, std::vector<Part>>;  // by region and field
  struct Task {                                                         // one point, or the fold of one
    NodeId node, launch;                                                // in the graph; in the session
    const PointGroup& group;
    std::uint32_t position;
  };
  static void each_point(const Batch& batch, const BatchGraph& graph, FunctionRef<void(const Task&)> visit);
  static void each_use(const Task& task, FunctionRef<void(const LaunchUse&, Privilege, const Intervals&)> visit);
  static void overwrite(Fields& fields, const LaunchUse& use, const Intervals& points);
  void poison(const LaunchUse& use, const Intervals& points, std::uint32_t cause);
  void meet_fields(const Fields& fields, const Task& task, Causes& met) const;
  void meet_maps(const Task& task, Causes& met) const;

  const TaskGraph& session_;
  Fields fields_;
  std::map<std::uint32_t, std::map<std::int64_t, std::uint32_t>> maps_;  // by launch and position: the cause
};

}  // namespace taskspec
