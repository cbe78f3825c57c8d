// The maximal chains of a graph while it grows: each new task changes those of the tasks before it, and nothing else is
// looked at. After each addition they are what aggregate() makes of the graph so far.
//
//   GrowingChains chains;
//   chains.add(graph, node);      // each new one, in order
//   chains.receive(graph, node);  // the host has received an output of it
//   chains.size(chains.of(node))
//
// A chain has a number while it is not cut; of the two parts the shorter one gets a new number, so that a long chain
// that is cut again and again is not numbered anew each time.
#pragma once
#include <unordered_map>

#include "ir/graph/chains.hpp"

namespace taskspec {

class GrowingChains {
 public:
  void add(const TaskGraph& graph, NodeId node);
  void receive(const TaskGraph& graph, NodeId node);

  std::size_t tasks() const { return links_.size(); }
  std::size_t chains() const { return chains_.size(); }
  std::uint32_t of(NodeId node) const { return links_[node.index()].chain; }
  NodeId front(std::uint32_t chain) const { return chains_[chain].front; }
  NodeId back(std::uint32_t chain) const { return chains_[chain].back; }
  std::size_t size(std::uint32_t chain) const { return chains_[chain].size; }
  NodeId next(NodeId node) const;                                    // in its chain; none behind the last one
  ChainEnd last(const TaskGraph& graph, std::uint32_t chain) const;  // why it does not go on
  bool observed(NodeId node) const { return links_[node.index()].observed; }
  std::size_t renumbered() const { return renumbered_; }  // tasks so far, for tests

 private:
  static constexpr std::uint32_t nobody = UINT32_MAX, several = UINT32_MAX - 1;  // several: or it may not chain
  struct Link {
    std::uint32_t pred = nobody, succ = nobody, chain = 0;
    bool observed = false;
  };
  struct Chain {
    NodeId front, back;
    std::size_t size = 0;
  };
  struct Successors {
    std::vector<NodeId> futures, orders;
  };
  NodeId before(NodeId node) const;
  void precede(const TaskGraph& graph, NodeId node, NodeId successor);
  void end_at(NodeId node);
  void cut(NodeId last, NodeId first);
  void begin_or_go_on(NodeId node);
  static void note(Successors& successors, const TaskGraph& graph, NodeId node, NodeId successor);

  std::vector<Link> links_;                                  // by node
  std::vector<Chain> chains_;                                // by number
  std::unordered_map<std::uint32_t, Successors> branching_;  // of tasks with several, the first few
  std::size_t renumbered_ = 0;
};

}  // namespace taskspec
