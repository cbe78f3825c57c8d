// Aggregation: the taskGraph's maximal chains by the source and sink rules (tasks.md section 4), in
// O(tasks + edges), and for each end of a chain the rule that stopped it and the tasks because of which.
//
//   Chains chains = aggregate(graph);
//   chains.members(ChainId(0))  ->  [Scale.apply#0, Moments.apply#0, energy#0]
#pragma once
#include <span>
#include <vector>

#include "ir/task_graph.hpp"

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
  std::vector<NodeId> because;  // the predecessors or successors that count, at most eight, in order
};

enum class SinkRule : std::uint8_t { task, output };  // count consumers over all outputs of a task, or per output

struct AggregateOptions {
  SinkRule sink_rule = SinkRule::task;
  std::span<const Ref> received = {};  // outputs the host receives: one extra consumer
};

class Chains {
 public:
  std::size_t size() const { return starts_.size() - 1; }
  std::span<const NodeId> members(ChainId chain) const;  // in order
  ChainId chain_of(NodeId node) const { return chain_of_[node.index()]; }
  std::uint32_t steps(NodeId node) const { return steps_[node.index()]; }  // place in its chain, from 1
  ChainEnd first(const TaskGraph& graph, ChainId chain) const;  // why it does not reach further back
  ChainEnd last(const TaskGraph& graph, ChainId chain) const;   // why it does not go on

 private:
  friend Chains aggregate(const TaskGraph&, const AggregateOptions&);
  std::vector<ChainId> chain_of_;
  std::vector<std::uint32_t> steps_;
  std::vector<std::uint32_t> starts_;  // CSR over members_
  std::vector<NodeId> members_;        // chains by program order of their heads
  std::vector<Ref> received_;
  SinkRule sink_rule_ = SinkRule::task;
};

Chains aggregate(const TaskGraph& graph, const AggregateOptions& options = {});

// The place of `node` in its chain in the graph as recorded so far, without aggregating all of it: links are
// kept up to date while nodes are added. A session asks this at every print.
class ChainLinks {
 public:
  void add(const TaskGraph& graph, NodeId node);           // call once per new node
  void receive(NodeId node);                               // the host receives an output of it
  std::uint32_t steps(const TaskGraph& graph, NodeId node) const;

 private:
  struct Link {
    NodeId first_pred, first_succ;
    bool many_pred = false, many_succ = false, received = false;
  };
  std::vector<Link> links_;
};

// In, F and out of the aggregate of `members` (a path): the n-ary formula of tasks.md section 3.
struct Composite {
  std::vector<Ref> in;        // references that are not futures to members, each once, in order of first use
  std::vector<NodeId> steps;  // F
  std::vector<Ref> out;       // all outputs of the last member, and the live ones of the others
};
Composite compose(const TaskGraph& graph, std::span<const NodeId> members, std::span<const Ref> received = {});
Composite compose(const TaskGraph& graph, const Composite& first, const Composite& second,
                  std::span<const Ref> received = {});

}  // namespace taskspec
