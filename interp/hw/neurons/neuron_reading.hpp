// A graph of tensors whose neurons are those of the prelude (neuron_tasks.hpp), read as a network of real numbers: what
// an imported NIR file became.
//
//   std::optional<NeuronGraph> found = NeuronGraph::find(graph, picks, list_of);   // none: it has no such neurons
//   std::vector<bool> known = found->known_inputs();                         // whose contents are parameters
//   Result<RealBorders> read = found->read(contents);
#pragma once
#include <map>

#include "interp/hw/neurons/neuron_tasks.hpp"
#include "interp/hw/neurons/real_borders.hpp"
#include "interp/hw/step_picks.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec {

class NeuronGraph {
 public:
  using ListOf = FunctionRef<Result<OpList>(NodeId)>;  // the ops of a task, for the types that it is called with
  // Refused tasks are told by read().
  static std::optional<NeuronGraph> find(std::shared_ptr<const TaskGraph> graph, std::vector<StepPick> picks,
                                         ListOf list_of);
  // By input of the list, picks last.
  const std::vector<bool>& known_inputs() const { return known_; }
  // Errors E4052: what is no neuron of a chip, and what is between neurons and no sum of spikes; all at once.
  Result<RealBorders> read(const std::vector<std::optional<Array>>& contents) const;

 private:
  class Reading;
  void find_memories();
  void find_known();
  const NeuronTask* task(NodeId node) const { return tasks_[node.index()]; }
  std::optional<std::size_t> pick(NodeId node) const;  // input of the list that it is
  bool is_memory(Ref ref) const;
  std::string name_of(NodeId node) const;
  std::string reset_of(NodeId node) const;

  std::shared_ptr<const TaskGraph> graph_;
  std::vector<StepPick> picks_;
  std::vector<const NeuronTask*> tasks_;        // by node
  std::map<std::uint32_t, OpList> lists_;       // of nodes that make parameters
  std::map<std::uint32_t, std::string> wrong_;  // by node: why it is not what it is called
  std::vector<bool> known_;                     // by input
  std::vector<Ref> memories_;                   // what comes from the step before
};

}  // namespace taskspec
