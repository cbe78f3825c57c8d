#include "interp/session/failures.hpp"

#include <algorithm>
#include <unordered_set>

#include "ir/base/function_ref.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

void Failures::add_effect(NodeId node, std::uint32_t cause, bool prints) {
  effects_.emplace(node, cause);
  if (prints && (!print_ || node < print_->first)) print_ = {node, cause};
}

NodeId Failures::first_effect() const {
  const NodeId failed = effects_.empty() ? NodeId() : effects_.begin()->first;
  return !failed.valid() || (lost_effect_.valid() && lost_effect_ < failed) ? lost_effect_ : failed;
}

void Failures::raise_first_effect() {
  const NodeId lost = std::exchange(lost_effect_, NodeId());
  const std::map<NodeId, std::uint32_t> failed = std::exchange(effects_, {});
  if (lost.valid() && (failed.empty() || lost < failed.begin()->first)) raise(causes_[out_of_memory], lost, {});
  if (failed.empty()) return;
  auto [node, cause] = *failed.begin();
  raise(causes_[cause], node, {});
}

void Failures::raise_effect(NodeId node, Span place) {
  if (auto failed = effects_.find(node); failed != effects_.end()) raise(failed->second, node, place);
  if (lost_effect_ == node) raise(causes_[out_of_memory], node, place);
}

void Failures::raise_first_print() {
  if (print_) raise(causes_[print_->second], print_->first, {});
}

void Failures::raise(std::uint32_t cause, NodeId at, Span place) {
  causes_[cause].told = true;
  std::erase_if(effects_, [&](const auto& effect) { return effect.second == cause; });
  raise(causes_[cause], at, place);
}

void Failures::raise(const Cause& cause, NodeId at, Span place) const { throw Error(told(cause, at, place)); }

Diag Failures::told(const Cause& cause, NodeId at, Span place) const {
  const NodeId from = cause.origin.valid() ? cause.origin : at;
  const TaskNode& origin = graph_[from];
  Diag diag(cause.fault.code, Severity::error, origin.span, cause.fault.message);
  diag.at("in '" + graph_.path(from) + cause.point + "'");
  if (cause.fault.span.valid() && !(cause.fault.span == origin.span)) diag.label(cause.fault.span, "here");
  if (place.valid() && !(place == origin.span)) diag.label(place, "received here");
  if (at != from && cause.fault.code != Code("E5009"))
    diag.note("the failure reached this value along " + way(from, at));
  return diag;
}

void Failures::rethrow_at(NodeId node, Span place) const {
  try {
    throw;
  } catch (const Error& error) {
    const Diag& diag = error.diags().items().front();
    if (diag.primary.span.valid() || !graph_[node].span.valid()) throw;
    Diag here = told({node, {diag.code, diag.message}}, node, place);
    for (const Label& label : diag.labels) here.label(label.span, label.text);
    throw Error(std::move(here));
  } catch (const std::bad_alloc&) {
    raise({.origin = node}, node, place);
  }
}

// ---- ways in the graph ----------------------------------------------------------------------------

namespace {

// Whose values it reads: as futures, or in place.
void each_source(const TaskGraph& graph, NodeId node, FunctionRef<void(NodeId)> visit) {
  for (Ref ref : graph.in(node))
    if (ref.is_future()) visit(ref.node());
  if (graph.definition(node).kind != Definition::Kind::launch) return;
  for (const TaskEdge& edge : graph.edges_into(node))
    if (edge.kind == EdgeKind::order && edge.why == Hazard::raw) visit(edge.from);
}

}  // namespace

// Tasks by which something of `from` reaches one of `targets`, both included, in program order.
std::vector<NodeId> Failures::between(NodeId from, std::vector<NodeId> targets) const {
  std::vector<NodeId> nodes;
  std::unordered_set<std::uint32_t> seen;
  while (!targets.empty()) {
    NodeId node = targets.back();
    targets.pop_back();
    if (node < from || !graph_.contains(node) || !seen.insert(node.value).second) continue;
    nodes.push_back(node);
    each_source(graph_, node, [&](NodeId source) { targets.push_back(source); });
  }
  std::sort(nodes.begin(), nodes.end());
  std::unordered_set<std::uint32_t> reached{from.value};
  std::erase_if(nodes, [&](NodeId node) {
    each_source(graph_, node, [&](NodeId source) {
      if (reached.contains(source.value)) reached.insert(node.value);
    });
    return !reached.contains(node.value);
  });
  return nodes;
}

// The first of the ways in the graph, task by task. Every task on it is poisoned.
std::string Failures::way(NodeId from, NodeId to) const {
  std::unordered_map<std::uint32_t, NodeId> before;  // of what is reached
  before.emplace(from.value, from);
  for (NodeId node : between(from, {to}))
    each_source(graph_, node, [&](NodeId source) {
      if (node != from && before.contains(source.value)) before.emplace(node.value, source);
    });
  std::vector<std::string> names{graph_.path(to)};
  for (NodeId node = to; node != from && before.contains(node.value);) {
    node = before.at(node.value);
    names.push_back(graph_.path(node));
  }
  std::reverse(names.begin(), names.end());
  constexpr std::size_t shown = 4;  // at each end of a long way
  if (names.size() > 2 * shown + 1) {
    auto first = names.begin() + shown, last = names.end() - shown;
    *first = "... " + std::to_string(last - first) + " more ...";
    names.erase(first + 1, last);
  }
  return joined(names, " -> ");
}

// The first one is told, or the first one of another cause, where a receive has told of the cause of the first.
void Failures::keep_told_effects() {
  if (effects_.empty()) return;
  const auto first = effects_.begin();
  const auto other = std::find_if(first, effects_.end(), [&](const auto& e) { return e.second != first->second; });
  effects_.erase(std::next(first), other);
  if (other != effects_.end()) effects_.erase(std::next(other), effects_.end());
}

// An error says along which tasks a failure reached what cannot be received.
void Failures::keep_ways(Liveness& live, Staying& staying) {
  std::map<std::uint32_t, std::vector<NodeId>> targets;  // by cause
  for (std::uint32_t id : staying.nodes)
    for (std::size_t slot = 0; slot < graph_.out(NodeId(id)).size(); ++slot)
      if (const auto& e = live.entry(NodeId(id), slot); e.state == Liveness::State::poisoned)
        targets[e.poison].push_back(NodeId(id));
  keep_told_effects();
  for (const auto& [effect, cause] : effects_) targets[cause].push_back(effect);
  if (print_) targets[print_->second].push_back(print_->first);
  if (lost_effect_.valid()) staying.nodes.insert(lost_effect_.value);
  for (auto& [cause, nodes] : targets) {
    const NodeId origin = causes_[cause].origin;
    if (!origin.valid()) {  // told at the task itself
      for (NodeId node : nodes) staying.nodes.insert(node.value);
      continue;
    }
    nodes.push_back(origin);
    for (NodeId node : between(origin, std::move(nodes))) {
      staying.nodes.insert(node.value);
      staying.whole.insert(node.value);
    }
  }
  causes_.retire([&](std::size_t cause) {
    return cause == out_of_memory || targets.count(static_cast<std::uint32_t>(cause)) > 0;
  });
}

}  // namespace taskspec
