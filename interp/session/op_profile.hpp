// What the ops of a session took: records of dispatches, added up by task, op and place.
#pragma once
#include <map>

#include "interp/control/trial.hpp"
#include "interp/session/plans.hpp"

namespace taskspec {

class OpProfile {
 public:
  explicit OpProfile(double hz) : ns_per_tick_(1e9 / hz) {}
  // Of a run of the plan for these tasks of the session's graph: equal ones share a plan, wherever they stand.
  void add(const Plans::Made& plan, const TaskGraph& graph, std::span<const NodeId> nodes,
           const std::vector<OpRecord>& records);
  // In the order of the plans that first had them; an op that only changes a shape has nothing to run, and no calls.
  const std::vector<OpRow>& rows() const { return rows_; }

 private:
  struct Known {     // an op of a plan
    OpRow row;       // nothing counted in it
    bool placed;     // at row.span, whatever runs the plan; else where its task stands, which was there the last time
    std::size_t at;  // in rows_
    NodeId node;     // of the plan
    Work work;       // of one call
  };
  struct KnownPlan {
    std::vector<std::uint32_t> first;  // by node: its first op
    std::vector<Known> ops;
  };
  KnownPlan& known(const Plans::Made& plan, const TaskGraph& graph, std::span<const NodeId> nodes);
  std::size_t row_of(const OpRow& row);

  const double ns_per_tick_;
  std::map<std::uint32_t, KnownPlan> plans_;   // by number
  std::map<std::string, std::size_t> row_of_;  // by what tells two rows apart
  std::vector<OpRow> rows_;
};

}  // namespace taskspec
