// What an entry did to the recorded graph, in one line: new tasks, new chains, chains that grew or were split and by
// which rule.
//
//   new task dbl#0; chain [inc] grew to [inc, dbl]
//   new task sq#0; chain [inc, dbl] split after inc#0, because it branches to dbl#0 and sq#0 (sink rule); new chain
//   [sq]
#pragma once
#include <string>
#include <vector>

#include "ir/chains.hpp"

namespace taskspec {

class GraphChanges {
 public:
  // The line for what is new since the last call; empty when nothing is. `received`: outputs that the host has read.
  std::string since_last(const TaskGraph& graph, std::span<const Ref> received);

 private:
  std::size_t tasks_ = 0;
  std::vector<std::uint32_t> chain_of_;       // by task, at the last call
  std::vector<std::vector<NodeId>> members_;  // by chain, at the last call
};

}  // namespace taskspec
