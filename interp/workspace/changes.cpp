#include "interp/workspace/changes.hpp"

#include <fmt/format.h>

#include "ir/base/text.hpp"
#include "ir/show/graph_text.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most = 4;  // names of one kind in the line; more are counted

std::string names_text(const TaskGraph& graph, std::size_t begin, std::size_t end) {
  std::vector<std::string> names;
  for (std::size_t i = begin; i < end && names.size() < most; ++i) names.push_back(graph.path(NodeId(i)));
  const std::size_t more = end - begin - names.size();
  return joined(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

// A chain from its first task on.
std::string members_text(const TaskGraph& graph, const GrowingChains& chains, std::uint32_t chain) {
  const std::size_t size = chains.size(chain);
  std::string text;
  std::size_t i = 0;
  for (NodeId node = chains.front(chain); node.valid(); node = chains.next(node), ++i) {
    if (i == 2 * most && size > 2 * most + 1) return fmt::format("[{}, ... {} tasks]", text, size);
    text += (i > 0 ? ", " : "") + graph.definition(node).title();
  }
  return "[" + text + "]";
}

// Why a chain that went on before ends where it ends now: "after inc#0, because it branches to ... (sink rule)".
std::string split_text(const TaskGraph& graph, const GrowingChains& chains, std::uint32_t chain) {
  const NodeId tail = chains.back(chain);
  std::string why = last_text(graph, tail, chains.last(graph, chain), chains.observed(tail));  // "ends with inc#0, ..."
  return "after" + why.substr(std::string_view("ends with").size());
}

void add_some(std::vector<std::string>& parts, const std::vector<std::string>& list) {
  for (std::size_t i = 0; i < list.size() && i < most; ++i) parts.push_back(list[i]);
  if (list.size() > most) parts.push_back(fmt::format("{} more like that", list.size() - most));
}

void add_fresh(std::vector<std::string>& parts, const std::vector<std::string>& fresh) {
  if (fresh.size() == 1) parts.push_back("new chain " + fresh[0]);
  if (fresh.size() < 2) return;
  const std::vector<std::string> shown(fresh.begin(),
                                       fresh.begin() + static_cast<std::ptrdiff_t>(std::min(most, fresh.size())));
  const std::string more = fresh.size() > most ? fmt::format(" and {} more", fresh.size() - most) : "";
  parts.push_back("new chains " + joined(shown, ", ") + more);
}

}  // namespace

// What the chain of a task was before the entry; asked before it changes.
std::size_t GraphChanges::touch(const TaskGraph& graph, NodeId node) {
  const std::uint32_t chain = chains_.of(node);
  const auto [known, fresh] = touched_.emplace(chain, was_.size());
  if (fresh) was_.push_back({members_text(graph, chains_, chain), chains_.front(chain), chains_.size(chain)});
  return known->second;
}

// A chain that goes on may be cut here: both parts of it were what it was.
template <class Change>
void GraphChanges::change(const TaskGraph& graph, const std::vector<NodeId>& nodes, Change&& change) {
  std::vector<std::pair<NodeId, std::size_t>> around;
  for (NodeId node : nodes) {
    around.emplace_back(node, touch(graph, node));
    if (const NodeId next = chains_.next(node); next.valid()) around.emplace_back(next, around.back().second);
  }
  change();
  for (const auto& [node, was] : around) touched_.emplace(chains_.of(node), was);
}

void GraphChanges::follow(const TaskGraph& graph, std::span<const Ref> received) {
  for (NodeId node(chains_.tasks()); node.index() < graph.size(); ++node.value) {
    std::vector<NodeId> before;
    for (const TaskEdge& edge : graph.edges_into(node)) before.push_back(edge.from);
    change(graph, before, [&] { chains_.add(graph, node); });
    touched_.emplace(chains_.of(node), none);
  }
  for (; received_ < received.size(); ++received_) {
    const NodeId node = received[received_].node();
    change(graph, {node}, [&] { chains_.receive(graph, node); });
  }
}

std::string GraphChanges::since_last(const TaskGraph& graph, std::span<const Ref> received) {
  const std::size_t before = chains_.tasks(), after = graph.size();
  touched_.clear();
  was_.clear();
  follow(graph, received);
  std::vector<std::string> parts;
  if (after > before)
    parts.push_back(fmt::format("new {} {}", after - before == 1 ? "task" : "tasks", names_text(graph, before, after)));

  std::map<NodeId, std::size_t> by_front;
  for (const auto& [chain, was] : touched_) by_front.emplace(chains_.front(chain), was);
  std::vector<std::string> splits, grown, fresh;
  for (const auto& [front, old] : by_front) {
    const std::uint32_t chain = chains_.of(front);
    if (front.index() >= before) {
      fresh.push_back(members_text(graph, chains_, chain));
      continue;
    }
    const Was& was = was_[old];
    if (chains_.back(chain).index() >= before)
      grown.push_back(fmt::format("chain {} grew to {}", was.text, members_text(graph, chains_, chain)));
    else if (chains_.size(chain) < was.size && front == was.front)
      splits.push_back(fmt::format("chain {} split {}", was.text, split_text(graph, chains_, chain)));
  }
  add_some(parts, splits);
  add_some(parts, grown);
  add_fresh(parts, fresh);
  return joined(parts, "; ");
}

}  // namespace taskspec
