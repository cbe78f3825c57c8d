#include "interp/session/plan_of_points.hpp"

#include <algorithm>

#include "interp/session/batch.hpp"
#include "ir/graph/launch.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {

std::shared_ptr<const Plan> plan_of_points(const TaskGraph& graph) {
  constexpr std::size_t most_points = 100'000;
  if (!has_concrete_types(graph)) return nullptr;
  std::vector<NodeId> nodes;
  std::size_t points = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeId node(i);
    if (is_launch(graph, node)) {
      // Of a region that is given when the graph runs, which points there are is known then.
      const std::vector<Value>& values = graph.arguments(node);
      if (values.empty() || !values.front().as<Launch>()) return nullptr;
      // Likewise of pieces that go by what a field holds.
      for (const LaunchUse& use : graph.launch(node).uses) {
        const PartitionId of = use.partition.valid() ? use.partition : use.space.partition;
        if (of.valid() && graph.regions[of].form->is_open()) return nullptr;
      }
      points += graph.launch(node).points();
    } else if (graph[node].effect)
      return nullptr;
    if (points > most_points) return nullptr;
    nodes.push_back(node);
  }
  if (points == 0) return nullptr;
  const auto is_result = [&](NodeId node, std::size_t slot) {
    return std::ranges::any_of(graph.results(), [&](const GraphResult& result) {
      return result.ref.is_future() && result.ref.node() == node && result.ref.slot == slot;
    });
  };
  const Requirements none;
  const Batch batch = batch_of(graph, std::move(nodes), none, is_result, [](Ref) { return false; });
  FieldUsers users;
  const BatchGraph made = graph_of(batch, graph, none, users);
  return make_plan(made.graph, aggregate(*made.graph));
}

}  // namespace taskspec
