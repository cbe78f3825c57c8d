#include "ir/graph/growing_chains.hpp"

#include <utility>

#include "ir/graph/chain_ends.hpp"

namespace taskspec {

NodeId GrowingChains::next(NodeId node) const {
  const std::uint32_t succ = links_[node.index()].succ;
  return succ < several && links_[succ].pred == node.value ? NodeId(succ) : NodeId();
}

NodeId GrowingChains::before(NodeId node) const {
  const std::uint32_t pred = links_[node.index()].pred;
  return pred < several && links_[pred].succ == node.value ? NodeId(pred) : NodeId();
}

void GrowingChains::add(const TaskGraph& graph, NodeId node) {
  Link& own = links_.emplace_back();
  // The first value of a slot is no source of what reads it.
  auto is_apart = [&](const TaskEdge& edge) { return graph[edge.from].first_value && !graph[node].first_value; };
  NodeId known;
  for (const TaskEdge& edge : graph.edges_into(node)) {  // sorted: those from one task stand together
    if (edge.from == known || is_apart(edge)) continue;
    own.pred = known.valid() ? several : edge.from.value;
    known = edge.from;
  }
  if (graph.definition(node).structured()) own.pred = own.succ = several;
  known = NodeId();
  for (const TaskEdge& edge : graph.edges_into(node)) {
    if (edge.from != known && !is_apart(edge)) precede(graph, edge.from, node);
    known = edge.from;
  }
  begin_or_go_on(node);
}

void GrowingChains::note(Successors& successors, const TaskGraph& graph, NodeId node, NodeId successor) {
  for (const TaskEdge& edge : graph.edges_into(successor))
    if (edge.from == node)
      append_new(edge.kind == EdgeKind::future ? successors.futures : successors.orders, successor);
}

void GrowingChains::precede(const TaskGraph& graph, NodeId node, NodeId successor) {
  const std::uint32_t succ = links_[node.index()].succ;
  if (succ == nobody) {
    links_[node.index()].succ = successor.value;
    return;
  }
  Successors& all = branching_[node.value];
  if (succ < several) note(all, graph, node, NodeId(succ));
  note(all, graph, node, successor);
  end_at(node);
}

void GrowingChains::receive(const TaskGraph& graph, NodeId node) {
  Link& link = links_[node.index()];
  if (std::exchange(link.observed, true)) return;
  if (link.succ < several) note(branching_[node.value], graph, node, NodeId(link.succ));
  end_at(node);
}

// It may not be followed any more.
void GrowingChains::end_at(NodeId node) {
  const NodeId follower = next(node);
  links_[node.index()].succ = several;
  if (follower.valid()) cut(node, follower);
}

// Both ways at once: what it takes is the length of the shorter part.
void GrowingChains::cut(NodeId last, NodeId first) {
  const std::uint32_t whole = of(last), part = static_cast<std::uint32_t>(chains_.size());
  const Chain old = chains_[whole];
  std::size_t steps = 1;
  NodeId back = last, ahead = first;
  for (;; ++steps) {
    const NodeId further_back = before(back), further_ahead = next(ahead);
    if (!further_back.valid() || !further_ahead.valid()) break;
    back = further_back;
    ahead = further_ahead;
  }
  const bool front_is_shorter = !before(back).valid();
  const std::size_t front_size = front_is_shorter ? steps : old.size - steps;
  const Chain front{old.front, last, front_size}, rest{first, old.back, old.size - front_size};
  chains_[whole] = front_is_shorter ? rest : front;
  chains_.push_back(front_is_shorter ? front : rest);
  for (NodeId node = chains_[part].front; node.valid(); node = next(node)) links_[node.index()].chain = part;
  renumbered_ += chains_[part].size;
}

void GrowingChains::begin_or_go_on(NodeId node) {
  const NodeId previous = before(node);
  if (!previous.valid()) {
    links_[node.index()].chain = static_cast<std::uint32_t>(chains_.size());
    chains_.push_back({node, node, 1});
    return;
  }
  Chain& chain = chains_[links_[node.index()].chain = of(previous)];
  chain.back = node;
  ++chain.size;
}

ChainEnd GrowingChains::last(const TaskGraph& graph, std::uint32_t chain) const {
  const NodeId tail = back(chain);
  Successors successors;
  if (auto known = branching_.find(tail.value); known != branching_.end())
    successors = known->second;
  else if (const std::uint32_t only = links_[tail.index()].succ; only < several)
    note(successors, graph, tail, NodeId(only));
  return last_end(graph, tail, together(successors.futures, successors.orders), observed(tail));
}

}  // namespace taskspec
