// A batch: the recorded but not yet run part of a session's graph that one receive forces. It is a
// taskGraph of its own whose inputs are everything that exists already, so that the same loop body gives
// the same batch each time round and its plan is made once.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/graph/task_graph.hpp"
#include "ir/region/users.hpp"

namespace taskspec {

class FieldMemory;

struct Batch {
  std::vector<NodeId> nodes;      // of the session, in program order
  std::vector<Ref> inputs;        // of the session, as graph.inputs
  std::vector<bool> donated;      // of them, those that nobody needs after the run
  std::vector<bool> constants;    // of them, those that came up inside of calls, where somebody asks
  std::vector<Ref> results;       // of the session, as graph.results
  std::vector<std::size_t> made;  // inputs whose memory is an output of one of its launches, made for the run
  std::string key;                // equal keys, equal graphs, of which the same is donated
};

using Requirements = std::unordered_map<std::uint32_t, std::vector<Requirement>>;  // by session node

// `live` tells which outputs must be kept after the run, `donated` which inputs need not, `constant` which are
// constants of a call.
Batch batch_of(
    const TaskGraph& session, std::vector<NodeId> nodes, const Requirements& requirements,
    FunctionRef<bool(NodeId, std::size_t)> live, FunctionRef<bool(Ref)> donated,
    FunctionRef<bool(Ref)> constant = [](Ref) { return false; });

// The graph of a batch: of each of its nodes one, of a launch those of its points.
struct BatchGraph {
  std::shared_ptr<const TaskGraph> graph;
  std::vector<std::uint32_t>
      starts;  // by position in Batch::nodes: its first node; empty: node k is that of position k
  std::size_t position(NodeId node) const;
};
// `memory`: of the fields of its regions; null: that has room for all of their elements.
BatchGraph graph_of(const Batch& batch, const TaskGraph& session, const Requirements& requirements, FieldUsers& users,
                    const FieldMemory* memory = nullptr);

}  // namespace taskspec
