// What an entry did to the recorded graph, in one line: new tasks, new chains, chains that grew or were split and by
// which rule. It takes time for what the entry changed, not for the graph.
//
//   new task dbl#0; chain [inc] grew to [inc, dbl]
//   new task sq#0; chain [inc, dbl] split after inc#0, because it branches to dbl#0 and sq#0 (sink rule); new chain
//   [sq]
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/growing_chains.hpp"

namespace taskspec {

class GraphChanges {
 public:
  // The line for what is new since the last call; empty when nothing is. `received`: outputs that the host has read,
  // those of the last call first.
  std::string since_last(const TaskGraph& graph, std::span<const Ref> received);

 private:
  static constexpr std::size_t none = SIZE_MAX;
  struct Was {
    std::string text;
    NodeId front;
    std::size_t size = 0;
  };
  void follow(const TaskGraph& graph, std::span<const Ref> received);
  template <class Change>
  void change(const TaskGraph& graph, const std::vector<NodeId>& nodes, Change&& change);
  std::size_t touch(const TaskGraph& graph, NodeId node);

  GrowingChains chains_;
  std::size_t received_ = 0;  // as many are in the chains
  // Of one call: chains that changed, by number, and what the old ones of them were, in was_.
  std::map<std::uint32_t, std::size_t> touched_;
  std::vector<Was> was_;
};

}  // namespace taskspec
