// How a taskGraph gives back its past (retire in task_graph.hpp).
#include "ir/graph/task_graph.hpp"

namespace taskspec {

std::size_t TaskGraph::young() const {
  return nodes_.size() + scopes_.young() + agents_.young() + constants_.young() + places_.young();
}

std::size_t TaskGraph::held() const {
  return old_.size() + nodes_.size() + scopes_.held() + agents_.held() + constants_.held() + places_.held() +
         argument_lists_.size() - free_arguments_.size();
}

const TaskGraph::OldNode& TaskGraph::old(NodeId id) const {
  auto known = old_.find(id.value);
  if (known == old_.end()) bug("a task is read that was given back");
  return known->second;
}

bool TaskGraph::holds_constant(std::size_t id) const {
  return constants_.contains(id) && !constants_[id].second.is_none();
}

void TaskGraph::OldNode::leave_name_and_types() {
  in = {};
  edges = {};
  node.arguments = 0;
  node.agent = {};
}

TaskGraph::OldNode TaskGraph::copied(NodeId id, bool whole) const {
  OldNode kept;
  kept.node = (*this)[id];
  kept.out.assign(out(id).begin(), out(id).end());
  if (whole) {
    kept.in.assign(in(id).begin(), in(id).end());
    kept.edges.assign(edges_into(id).begin(), edges_into(id).end());
  } else {
    kept.leave_name_and_types();
  }
  return kept;
}

void TaskGraph::retire_nodes(const Staying& staying) {
  std::unordered_map<std::uint32_t, OldNode> kept;
  kept.reserve(staying.nodes.size());
  for (std::uint32_t id : staying.nodes)
    if (id >= first_) kept.emplace(id, copied(NodeId(id), staying.whole.count(id) > 0));
  // From here on nothing fails.
  std::erase_if(old_, [&](const auto& entry) { return staying.nodes.count(entry.first) == 0; });
  for (auto& [id, node] : old_)
    if (staying.whole.count(id) == 0) node.leave_name_and_types();
  kept.merge(old_);
  old_ = std::move(kept);
  first_ = static_cast<std::uint32_t>(size());
  nodes_.clear();
  ins_.clear();
  outs_.clear();
  edges_.clear();
  boost_.reset();
}

void TaskGraph::retire_scopes(const Staying& staying) {
  std::unordered_set<std::uint32_t> kept{0};
  auto keep = [&](ScopeId scope) {
    for (; scope.valid() && kept.insert(scope.value).second; scope = scopes_[scope.index()].parent) {
    }
  };
  for (std::uint32_t scope : staying.scopes) keep(ScopeId(scope));
  for (const auto& [id, node] : old_) keep(node.node.scope);
  scopes_.retire([&](std::size_t id) { return kept.count(static_cast<std::uint32_t>(id)) > 0; });
}

void TaskGraph::retire_agents() {
  std::unordered_set<std::uint32_t> kept;
  for (const auto& [id, node] : old_)
    if (node.node.agent.valid()) kept.insert(node.node.agent.value);
  agents_.retire([&](std::size_t id) { return kept.count(static_cast<std::uint32_t>(id)) > 0; });
}

// What goes is returned: values may hold handles, whose end asks the graph something.
std::vector<std::vector<Value>> TaskGraph::retire_arguments() {
  std::vector<std::vector<Value>> gone;
  std::vector<bool> kept(argument_lists_.size(), false);
  for (const auto& [id, node] : old_) kept[node.node.arguments] = true;
  std::erase_if(argument_ids_, [&](const auto& entry) { return !kept[entry.second]; });
  free_arguments_.clear();
  for (std::uint32_t id = 1; id < argument_lists_.size(); ++id) {
    if (kept[id]) continue;
    gone.push_back(std::move(argument_lists_[id]));
    argument_lists_[id].clear();
    free_arguments_.push_back(id);
  }
  return gone;
}

void TaskGraph::retire(const Staying& staying) {
  retire_nodes(staying);
  retire_scopes(staying);
  retire_agents();
  std::vector<std::vector<Value>> gone = retire_arguments();
  auto stays = [](const std::unordered_set<std::uint32_t>& ids) {
    return [&ids](std::size_t id) { return ids.count(static_cast<std::uint32_t>(id)) > 0; };
  };
  constants_.retire(stays(staying.constants));
  places_.retire(stays(staying.places));
  places_.each([&](std::size_t, PlaceState& place) {
    std::erase_if(place.readers, [&](NodeId reader) { return !contains(reader); });
  });
}

}  // namespace taskspec
