// A task or structured node of one graph that stands in another one, as it is or reversed: the graph of a training step
// is made of tasks of the forward graph, and those in which tensors decide what runs have no op list to be made of.
//
//   forward    inputs of the node                                    -> its outputs
//   reverse    gradients of its outputs, then inputs of the node     -> gradients of its inputs
#pragma once
#include <memory>

#include "ir/graph/task_graph.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

struct EmbeddedTask {
  std::shared_ptr<const TaskGraph> graph;
  NodeId node;
  bool in_step = false;  // of a training: behind its inputs comes the number of the step
  bool reverse = false;
  std::vector<std::size_t> upstream;  // reverse, by output of the node: how many gradients are given, to be added up
  std::vector<bool> wanted;           // reverse, by input of the node: its gradient is an output
  const OpTable* ops = nullptr;       // reverse: what gradients are made of
  std::vector<std::string> inputs, outputs;
  std::vector<Type> types;  // of outputs
};

}  // namespace taskspec
