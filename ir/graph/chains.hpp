// Aggregation: the taskGraph's maximal chains by the source and sink rules, in
// O(tasks + edges), and for each end of a chain the rule that stopped it and the tasks because of which. The first
// value of a slot is no source: it is there before a task that reads it runs, in the first call as in all later ones.
//
//   Chains chains = aggregate(graph);
//   chains.members(ChainId(0))  ->  [Scale.apply#0, Moments.apply#0, energy#0]
#pragma once
#include <span>
#include <vector>

#include "ir/graph/task_graph.hpp"

namespace taskspec {

struct ChainTag;
using ChainId = Id<ChainTag>;

// What stops a chain at one of its ends.
enum class Stop : std::uint8_t {
  source,   // the task has several predecessors: it may only be first
  sink,     // the task has several successors: it may only be last
  order,    // as source or sink, but only because of order edges
  input,    // nothing before: it starts from inputs and constants
  result,   // nothing after, or its output is also a result of the graph or received by the host
  control,  // an if, a loop or the call of a fn: never chains
};

struct ChainEnd {
  Stop rule = Stop::input;
  NodeId at;                    // the task that the rule forbids to go on: the end itself, or the one beyond it
  std::vector<NodeId> because;  // its predecessors or successors that count, at most eight, in order
};

enum class SinkRule : std::uint8_t { task, output };  // count consumers over all outputs of a task, or per output

struct AggregateOptions {
  SinkRule sink_rule = SinkRule::task;
  std::span<const Ref> received = {};  // outputs the host receives: one extra consumer
};

class Chains {
 public:
  // Given lists of members instead of maximal ones: for what is read from a file, for tests, and (one list per task)
  // for running without aggregation. Nothing is checked; verify_chains does.
  static Chains of_lists(const TaskGraph& graph, const std::vector<std::vector<NodeId>>& lists,
                         const AggregateOptions& options = {});

  std::size_t size() const { return starts_.size() - 1; }
  std::span<const NodeId> members(ChainId chain) const;  // in order
  ChainId chain_of(NodeId node) const { return chain_of_[node.index()]; }
  std::uint32_t steps(NodeId node) const { return steps_[node.index()]; }  // place in its chain, from 1
  ChainEnd first(const TaskGraph& graph, ChainId chain) const;             // why it does not reach further back
  ChainEnd last(const TaskGraph& graph, ChainId chain) const;              // why it does not go on
  SinkRule sink_rule() const { return sink_rule_; }
  bool observed(const TaskGraph& graph, Ref output) const;   // the host receives it, or it is a result
  bool observed(const TaskGraph& graph, NodeId node) const;  // any output of it
  std::size_t bytes() const;

 private:
  friend Chains aggregate(const TaskGraph&, const AggregateOptions&);
  void observe(const TaskGraph& graph, const AggregateOptions& options);
  LargeVector<ChainId> chain_of_;
  LargeVector<std::uint32_t> steps_;
  LargeVector<std::uint32_t> starts_{0};  // CSR over members_
  LargeVector<NodeId> members_;           // chains by program order of their heads
  std::vector<bool> observed_;            // per output; empty when there is none
  SinkRule sink_rule_ = SinkRule::task;
};

Chains aggregate(const TaskGraph& graph, const AggregateOptions& options = {});

// The place of `node` in its chain in the graph as recorded so far, without aggregating all of it: links are
// kept up to date while nodes are added. A session asks this at every print.
class ChainLinks {
 public:
  void make_room(NodeId node) { links_.resize(node.index() + 1); }
  void add(const TaskGraph& graph, NodeId node);  // call once per new node; takes no memory where there is room
  void receive(NodeId node);                      // the host receives an output of it
  std::uint32_t steps(const TaskGraph& graph, NodeId node) const;
  // Before graph.retire(): what does not stay is still counted. A task that went reads no more, so it ends a chain no
  // more either: a later write to a place that it had read does not cut the chain behind it.
  void retire(const TaskGraph& graph, const std::unordered_set<std::uint32_t>& staying);

 private:
  struct Link {
    NodeId first_pred, first_succ;
    bool many_pred = false, many_succ = false, received = false, first_value = false;
    std::uint32_t behind = 1;  // this task and those between it and first_pred (or the head), which went
  };
  void reach_back(const TaskGraph& graph, NodeId node, const std::unordered_set<std::uint32_t>& staying);
  RetiringTable<Link> links_;
};

// By the source rule: not from the first value of a slot to who uses that.
inline bool counts_as_source(const TaskGraph& graph, const TaskEdge& edge) {
  return !graph.has_first_values() || !graph[edge.from].first_value || graph[edge.to].first_value;
}

// Tasks applied one after another as if they were one task: inputs, functions and outputs. The empty
// Composite is the identity.
struct Composite {
  std::vector<Ref> in;        // references that are not futures to members, each once, in order of first use
  std::vector<NodeId> steps;  // F
  std::vector<Ref> out;       // the live outputs of the members before the last, then all outputs of the last
  friend bool operator==(const Composite&, const Composite&) = default;
};
// The n-ary rule for `members` in order, and the binary one, whose fold along the members gives the same.
Composite compose(const TaskGraph& graph, std::span<const NodeId> members, std::span<const Ref> received = {});
Composite compose(const TaskGraph& graph, const Composite& first, const Composite& second,
                  std::span<const Ref> received = {});

}  // namespace taskspec
