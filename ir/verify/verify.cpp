// Checks of taskGraphs and chains, written from their definitions with sets and
// Boost's algorithms, sharing nothing with the code that makes them.
#include "ir/verify/verify.hpp"

#include <fmt/format.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <map>
#include <set>

#include "ir/graph/boost_graph.hpp"

namespace taskspec {

namespace {

template <class Graph>
bool has_order(const Graph& graph) {
  std::vector<std::size_t> order;
  try {
    boost::topological_sort(graph, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    return false;
  }
  return true;
}

bool is_field(const TaskGraph& graph, Ref ref) {
  return ref.id < graph.regions.regions() && ref.slot < graph.regions[RegionId(ref.id)].fields.size();
}

std::string check_refs(const TaskGraph& graph, NodeId node) {
  std::span<const Ref> in = graph.in(node);
  for (std::size_t slot = 0; slot < in.size(); ++slot) {
    Ref ref = in[slot];
    bool there = ref.kind == Ref::Kind::constant ? ref.id < graph.constant_count()
                 : ref.kind == Ref::Kind::input  ? ref.id < graph.inputs().size()
                 : ref.kind == Ref::Kind::field  ? is_field(graph, ref)
                                                 : ref.id < node.value && ref.slot < graph.out(ref.node()).size();
    if (!there) return fmt::format("input {} of {} refers to nothing before it", slot, graph.path(node));
    if (ref.through_place && !ref.is_future()) return fmt::format("{} reads no version of a place", graph.path(node));
  }
  return "";
}

// Every future has its edge and every edge its reason.
std::string check_edges(const TaskGraph& graph, NodeId node) {
  std::set<std::tuple<NodeId, std::size_t, std::size_t>> wanted, found;
  std::set<NodeId> versions_from;
  std::span<const Ref> in = graph.in(node);
  for (std::size_t slot = 0; slot < in.size(); ++slot)
    if (in[slot].is_future() && !in[slot].through_place)
      wanted.emplace(in[slot].node(), in[slot].slot, slot);
    else if (in[slot].is_future())
      versions_from.insert(in[slot].node());
  std::set<std::pair<NodeId, PlaceId>> orders;
  const TaskEdge* previous = nullptr;
  for (const TaskEdge& edge : graph.edges_into(node)) {
    if (edge.to != node || edge.from >= node)
      return fmt::format("an edge into {} comes from nowhere before it", graph.path(node));
    if (previous && edge.from < previous->from)
      return fmt::format("the edges into {} are not sorted", graph.path(node));
    previous = &edge;
    if (edge.kind == EdgeKind::future) {
      if (!found.emplace(edge.from, edge.slot_from, edge.slot_to).second) return graph.text(edge) + " is there twice";
    } else {
      if (edge.why == Hazard::none || !edge.place.valid())
        return fmt::format("an order edge into {} has no reason", graph.path(node));
      if (!orders.emplace(edge.from, edge.place).second) return graph.text(edge) + " is not the only one of its place";
      if (edge.why == Hazard::raw) versions_from.erase(edge.from);
    }
  }
  if (wanted != found) return fmt::format("the future edges into {} are not those of its inputs", graph.path(node));
  if (!versions_from.empty()) return fmt::format("{} reads a version of a place without a RAW edge", graph.path(node));
  return "";
}

}  // namespace

std::string verify_graph(const TaskGraph& graph) {
  std::map<std::pair<ScopeId, std::string>, std::uint32_t> calls;
  std::set<std::string> called_after;  // other nodes
  for (std::size_t i = 0; i < graph.size(); ++i) {
    NodeId node(i);
    const TaskNode& task = graph[node];
    if (task.definition.index() >= graph.definitions().size() || task.scope.index() >= graph.scopes().size())
      return fmt::format("task {} has no definition or no scope", i);
    if (task.agent.valid() && task.agent.index() >= graph.agents().size()) return graph.path(node) + " has no agent";
    const Definition& definition = graph.definition(node);
    std::uint32_t& seen = calls[{task.scope, definition.name}];
    const PointGroup* group = graph.points(node);
    const bool counted = definition.suffix.empty() && (!group || group->first == node);
    const bool again = counted ? task.ordinal < seen : !called_after.insert(graph.path(node)).second;
    if (again) return fmt::format("the name {} is given twice", graph.path(node));
    if (counted) seen = task.ordinal + 1;
    if (std::string wrong = check_refs(graph, node); !wrong.empty()) return wrong;
    if (std::string wrong = check_edges(graph, node); !wrong.empty()) return wrong;
  }
  for (std::size_t i = 0; i < graph.scopes().size(); ++i)
    if (ScopeId parent = graph.scopes()[i].parent; parent.valid() && parent.index() >= i)
      return fmt::format("scope {} stands in a later one", graph.scopes()[i].name);
  for (const GraphResult& result : graph.results())
    if (result.ref.is_future() &&
        (result.ref.id >= graph.size() || result.ref.slot >= graph.out(result.ref.node()).size()))
      return fmt::format("result {} refers to nothing", result.name);
  return is_acyclic(graph) ? "" : "the graph has a cycle";
}

bool is_acyclic(const TaskGraph& graph) { return has_order(boost_graph(graph)); }

namespace {

// P, S and the consumers of each output as sets.
struct Rules {
  const TaskGraph& graph;
  const Chains& chains;
  std::vector<std::set<NodeId>> predecessors, successors;
  std::map<std::pair<NodeId, std::uint32_t>, std::set<NodeId>> consumers;  // slot UINT32_MAX: by order edges

  Rules(const TaskGraph& g, const Chains& c) : graph(g), chains(c), predecessors(g.size()), successors(g.size()) {
    for (const TaskEdge& edge : g.edges()) {
      if (g[edge.from].first_value && !g[edge.to].first_value) continue;  // there before it runs
      predecessors[edge.to.index()].insert(edge.from);
      successors[edge.from.index()].insert(edge.to);
      consumers[{edge.from, edge.kind == EdgeKind::order ? UINT32_MAX : edge.slot_from}].insert(edge.to);
    }
  }

  bool may_go_on(NodeId node) const {
    if (graph.definition(node).structured()) return false;
    if (chains.sink_rule() == SinkRule::task)
      return successors[node.index()].size() + chains.observed(graph, node) == 1;
    for (auto at = consumers.lower_bound({node, 0}); at != consumers.end() && at->first.first == node; ++at) {
      bool host = at->first.second != UINT32_MAX && chains.observed(graph, Ref::future(node, at->first.second));
      if (at->second.size() + host > 1) return false;
    }
    return !successors[node.index()].empty();
  }
  bool may_follow(NodeId node, NodeId before) const {
    return !graph.definition(node).structured() && predecessors[node.index()] == std::set<NodeId>{before};
  }
};

}  // namespace

std::string verify_chains(const TaskGraph& graph, const Chains& chains) {
  std::vector<int> seen(graph.size(), 0);
  Rules rules(graph, chains);
  for (std::size_t c = 0; c < chains.size(); ++c) {
    std::span<const NodeId> members = chains.members(ChainId(c));
    if (members.empty()) return fmt::format("chain {} is empty", c);
    if (c > 0 && chains.members(ChainId(c - 1)).front() >= members.front())
      return "chains are not in order of their heads";
    for (std::size_t k = 0; k < members.size(); ++k) {
      NodeId node = members[k];
      if (node.index() >= graph.size() || ++seen[node.index()] > 1)
        return fmt::format("a task of chain {} is not its own", c);
      if (chains.chain_of(node) != ChainId(c) || chains.steps(node) != k + 1)
        return graph.path(node) + " is not where its chain says";
      if (k == 0) continue;
      NodeId before = members[k - 1];
      if (!rules.successors[before.index()].count(node))
        return fmt::format("{} and {} in a chain are not joined by an edge", graph.path(before), graph.path(node));
      if (!rules.may_go_on(before)) return fmt::format("{} may only be last in a chain", graph.path(before));
      if (!rules.may_follow(node, before)) return fmt::format("{} may only be first in a chain", graph.path(node));
    }
    NodeId tail = members.back();
    if (!rules.may_go_on(tail)) continue;
    for (NodeId next : rules.successors[tail.index()])
      if (rules.may_follow(next, tail))
        return fmt::format("the chain that ends with {} should go on with {}", graph.path(tail), graph.path(next));
  }
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (seen[i] == 0) return graph.path(NodeId(i)) + " is in no chain";
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> quotient(chains.size());
  for (const TaskEdge& edge : graph.edges())
    if (chains.chain_of(edge.from) != chains.chain_of(edge.to))
      boost::add_edge(chains.chain_of(edge.from).index(), chains.chain_of(edge.to).index(), quotient);
  return has_order(quotient) ? "" : "the graph of chains has a cycle";
}

}  // namespace taskspec
