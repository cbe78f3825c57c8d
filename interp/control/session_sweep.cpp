// How a session gives back what is settled (SessionOptions::forget).
#include <algorithm>

#include "interp/control/session.hpp"

namespace taskspec {

// Tasks by which something of `from` reaches one of `targets`, both included, in program order.
std::vector<NodeId> Session::between(NodeId from, std::vector<NodeId> targets) const {
  std::vector<NodeId> nodes;
  std::unordered_set<std::uint32_t> seen;
  while (!targets.empty()) {
    NodeId node = targets.back();
    targets.pop_back();
    if (node < from || !graph.contains(node) || !seen.insert(node.value).second) continue;
    nodes.push_back(node);
    for (Ref ref : graph.in(node))
      if (ref.is_future()) targets.push_back(ref.node());
  }
  std::sort(nodes.begin(), nodes.end());
  std::unordered_set<std::uint32_t> reached{from.value};
  std::erase_if(nodes, [&](NodeId node) {
    for (Ref ref : graph.in(node))
      if (ref.is_future() && reached.contains(ref.id)) reached.insert(node.value);
    return !reached.contains(node.value);
  });
  return nodes;
}

// An error says along which tasks a failure reached what cannot be received.
void Session::keep_ways(Staying& staying) {
  std::map<std::uint32_t, std::vector<NodeId>> targets;  // by poison
  for (std::uint32_t id : staying.nodes)
    for (std::size_t slot = 0; slot < graph.out(NodeId(id)).size(); ++slot)
      if (const Entry& e = entry(Ref::future(NodeId(id), slot)); e.state == State::poisoned)
        targets[e.poison].push_back(NodeId(id));
  if (!failed_effects_.empty()) {  // only the first one is ever told
    failed_effects_.erase(std::next(failed_effects_.begin()), failed_effects_.end());
    targets[failed_effects_.begin()->second].push_back(failed_effects_.begin()->first);
  }
  if (lost_effect_.valid()) staying.nodes.insert(lost_effect_.value);
  for (auto& [poison, nodes] : targets) {
    const NodeId origin = poisons_[poison].origin;
    if (!origin.valid()) continue;
    nodes.push_back(origin);
    for (NodeId node : between(origin, std::move(nodes))) {
      staying.nodes.insert(node.value);
      staying.whole.insert(node.value);
    }
  }
  poisons_.retire([&](std::size_t poison) {
    return poison == out_of_memory || targets.count(static_cast<std::uint32_t>(poison)) > 0;
  });
}

Staying Session::staying() {
  Staying staying;
  each_handle([&](const Tensor& tensor) {
    if (tensor.ref.is_future()) staying.nodes.insert(tensor.ref.id);
    if (tensor.place.valid()) staying.places.insert(tensor.place.value);
    if (tensor.alias) staying.scopes.insert(tensor.alias->scope.value);
  });
  for (ScopeId scope : open_) staying.scopes.insert(scope.value);
  for (NodeId node : pending_) {
    staying.nodes.insert(node.value);
    staying.whole.insert(node.value);
    for (Ref ref : graph.in(node))
      if (ref.is_future()) staying.nodes.insert(ref.id);
    if (auto accesses = accesses_.find(node.value); accesses != accesses_.end())
      for (const TaskGraph::Access& access : accesses->second) staying.places.insert(access.place.value);
  }
  constants_.each([&](std::size_t id, const Constant& constant) {
    if (constant.handles > 0 || constant.readers > 0) staying.constants.insert(static_cast<std::uint32_t>(id));
  });
  keep_ways(staying);
  return staying;
}

void Session::sweep() {
  if (options_.schedule == Schedule::pull) needed();  // drops what nobody will ask for
  if (constants_.size() < graph.constant_count()) constants_.resize(graph.constant_count());
  const Staying stays = staying();
  auto node_stays = [&](std::size_t node) { return stays.nodes.contains(static_cast<std::uint32_t>(node)); };
  links.retire(graph, stays.nodes);
  tasks_.retire(node_stays);
  constants_.retire([&](std::size_t id) { return stays.constants.contains(static_cast<std::uint32_t>(id)); });
  graph.retire(stays);
  left_ = graph.held();
}

// Pending tasks would stay, in maps: while there are some, a sweep can wait a little.
void Session::sweep_if_due() {
  if (!options_.forget) return;
  const std::size_t due = std::max(options_.sweep, left_) * (pending_.empty() ? 1 : 4);
  if (graph.young() >= due) sweep();
}

}  // namespace taskspec
