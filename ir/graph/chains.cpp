#include "ir/graph/chains.hpp"

#include <algorithm>

#include "ir/graph/boost_graph.hpp"
#include "ir/graph/chain_ends.hpp"

namespace taskspec {

namespace {

constexpr std::uint32_t nobody = UINT32_MAX, several = UINT32_MAX - 1;

// Per task its only predecessor and the successor it may go on to: a node, `nobody`, or `several`, which also
// stands for "may not chain". No sets: that there is a second one is all that counts.
struct OnlyNeighbours {
  explicit OnlyNeighbours(std::size_t tasks) : pred(tasks, nobody), succ(tasks, nobody) {}
  LargeVector<std::uint32_t> pred, succ;
};

// How far ahead lookups in random order are announced to the cache: at 10^6 tasks its misses decide the time.
constexpr std::size_t ahead = 16;

void meet(std::uint32_t& known, std::uint32_t other) {
  if (known == nobody)
    known = other;
  else if (known != other)
    known = several;
}

void close_structured(const TaskGraph& graph, OnlyNeighbours& tasks) {
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (graph.definition(NodeId(i)).structured()) tasks.pred[i] = tasks.succ[i] = several;
}

OnlyNeighbours by_task(const TaskGraph& graph, const Chains& chains) {
  OnlyNeighbours tasks(graph.size());
  std::span<const TaskEdge> edges = graph.edges();
  for (std::size_t k = 0; k < edges.size(); ++k) {
    if (k + ahead < edges.size()) __builtin_prefetch(&tasks.succ[edges[k + ahead].from.index()], 1);
    if (!counts_as_source(graph, edges[k])) continue;
    meet(tasks.pred[edges[k].to.index()], edges[k].from.value);
    meet(tasks.succ[edges[k].from.index()], edges[k].to.value);
  }
  close_structured(graph, tasks);
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (chains.observed(graph, NodeId(i))) tasks.succ[i] = several;
  return tasks;
}

// Every output counts for itself, all order edges together as one more. Of several consumers that could follow
// the first in program order does. The quotient stays acyclic by the source rule alone: a chain is entered at
// its head only.
OnlyNeighbours by_output(const TaskGraph& graph, const Chains& chains) {
  OnlyNeighbours tasks(graph.size());
  std::vector<std::uint32_t> consumer, by_order(graph.size(), nobody);
  auto position = [&](NodeId node, std::size_t slot) { return graph[node].first_out + slot; };
  for (std::size_t i = 0; i < graph.size(); ++i) consumer.resize(consumer.size() + graph.out(NodeId(i)).size(), nobody);
  for (const TaskEdge& edge : graph.edges()) {
    if (!counts_as_source(graph, edge)) continue;
    meet(tasks.pred[edge.to.index()], edge.from.value);
    std::uint32_t& known =
        edge.kind == EdgeKind::order ? by_order[edge.from.index()] : consumer[position(edge.from, edge.slot_from)];
    meet(known, edge.to.value);
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    NodeId node(i);
    bool branches = by_order[i] == several;
    for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot) {
      std::uint32_t user = consumer[position(node, slot)];
      branches |= user == several || (user != nobody && chains.observed(graph, Ref::future(node, slot)));
    }
    if (branches) tasks.succ[i] = several;
  }
  close_structured(graph, tasks);
  for (std::uint32_t i = 0; i < graph.size(); ++i)
    if (std::uint32_t pred = tasks.pred[i]; pred < several && tasks.succ[pred] == nobody) tasks.succ[pred] = i;
  return tasks;
}

// ---- why a chain ends -----------------------------------------------------------------------------

constexpr std::size_t shown = 8;

}  // namespace

void append_new(std::vector<NodeId>& tasks, NodeId task) {
  if (tasks.size() <= shown && (tasks.empty() || tasks.back() != task)) tasks.push_back(task);
}

Around together(const std::vector<NodeId>& futures, std::vector<NodeId> orders) {
  Around around{futures, futures.size()};
  around.tasks.insert(around.tasks.end(), orders.begin(), orders.end());
  std::sort(around.tasks.begin(), around.tasks.end());
  around.tasks.erase(std::unique(around.tasks.begin(), around.tasks.end()), around.tasks.end());
  return around;
}

namespace {

Around before(const TaskGraph& graph, NodeId node) {
  std::vector<NodeId> futures, orders;
  for (const TaskEdge& edge : graph.edges_into(node))
    if (counts_as_source(graph, edge)) append_new(edge.kind == EdgeKind::future ? futures : orders, edge.from);
  return together(futures, std::move(orders));
}

// Stops as soon as enough is known: a task may have a million successors, each of which asks this.
Around after(const TaskGraph& graph, NodeId node) {
  const BoostTaskGraph& boost = boost_graph(graph);
  auto [begin, end] = out_edges(node.value, boost);
  auto is_order = [&](std::ptrdiff_t k) { return graph.edges()[boost[begin[k]]].kind == EdgeKind::order; };
  std::ptrdiff_t futures = 0, count = end - begin;
  for (std::ptrdiff_t high = count; futures < high;) {  // by halves: Boost's iterators are no random access ones to std
    std::ptrdiff_t middle = (futures + high) / 2;
    if (is_order(middle))
      high = middle;
    else
      futures = middle + 1;
  }
  auto take = [&](std::ptrdiff_t k, std::ptrdiff_t last) {
    std::vector<NodeId> tasks;
    for (; k != last && tasks.size() <= shown; ++k) append_new(tasks, NodeId(target(begin[k], boost)));
    return tasks;
  };
  return together(take(0, futures), take(futures, count));
}

// By the rule that counts outputs one by one: has one of them several consumers?
bool output_branches(const TaskGraph& graph, const Chains& chains, NodeId node) {
  const BoostTaskGraph& boost = boost_graph(graph);
  std::vector<std::uint32_t> consumer(graph.out(node).size() + 1, nobody);  // the last one stands for all order edges
  for (std::size_t slot = 0; slot + 1 < consumer.size(); ++slot)
    if (chains.observed(graph, Ref::future(node, slot))) consumer[slot] = several - 1;  // the host
  auto [begin, end] = out_edges(node.value, boost);
  for (auto at = begin; at != end; ++at) {
    const TaskEdge& edge = graph.edges()[boost[*at]];
    std::uint32_t& known = edge.kind == EdgeKind::order ? consumer.back() : consumer[edge.slot_from];
    meet(known, edge.to.value);
    if (known == several) return true;
  }
  return false;
}

ChainEnd end_by(Stop rule, NodeId at, std::vector<NodeId> because) {
  if (because.size() > shown) because.resize(shown);
  return {rule, at, std::move(because)};
}

// Why `node`, which has successors, may not be followed by any of them on its own account.
std::optional<ChainEnd> branch(NodeId node, const Around& next, bool observed) {
  if (next.tasks.size() > 1) {
    bool only_by_order = next.by_future + observed <= 1;
    return end_by(only_by_order ? Stop::order : Stop::sink, node, next.tasks);
  }
  if (observed) return end_by(Stop::result, node, next.tasks);
  return std::nullopt;
}

std::optional<ChainEnd> branch(const TaskGraph& graph, const Chains& chains, NodeId node) {
  if (graph.definition(node).structured()) return end_by(Stop::control, node, {});
  if (chains.sink_rule() == SinkRule::output && !output_branches(graph, chains, node)) return std::nullopt;
  return branch(node, after(graph, node), chains.observed(graph, node));
}

// Why `node` may not follow anything on its own account.
std::optional<ChainEnd> join(const TaskGraph& graph, NodeId node) {
  if (graph.definition(node).structured()) return end_by(Stop::control, node, {});
  Around previous = before(graph, node);
  if (previous.tasks.empty()) return end_by(Stop::input, node, {});
  if (previous.tasks.size() == 1) return std::nullopt;
  return end_by(previous.by_future <= 1 ? Stop::order : Stop::source, node, previous.tasks);
}

}  // namespace

ChainEnd last_end(const TaskGraph& graph, NodeId tail, const Around& next, bool observed) {
  if (graph.definition(tail).structured()) return end_by(Stop::control, tail, {});
  if (next.tasks.empty()) return end_by(Stop::result, tail, {});
  if (std::optional<ChainEnd> end = branch(tail, next, observed)) return *std::move(end);
  if (std::optional<ChainEnd> end = join(graph, next.tasks.front())) return *std::move(end);
  return end_by(Stop::sink, tail, next.tasks);  // only of lists that were given, which may end anywhere
}

// ---- aggregation ----------------------------------------------------------------------------------

void Chains::observe(const TaskGraph& graph, const AggregateOptions& options) {
  sink_rule_ = options.sink_rule;
  auto mark = [&](Ref ref) {
    if (!ref.is_future()) return;
    if (observed_.empty()) {
      NodeId last(graph.size() - 1);
      observed_.resize(graph[last].first_out + graph.out(last).size());
    }
    observed_[graph[ref.node()].first_out + ref.slot] = true;
  };
  for (const GraphResult& result : graph.results()) mark(result.ref);
  for (Ref ref : options.received) mark(ref);
}

Chains aggregate(const TaskGraph& graph, const AggregateOptions& options) {
  Chains chains;
  chains.observe(graph, options);
  OnlyNeighbours tasks = options.sink_rule == SinkRule::task ? by_task(graph, chains) : by_output(graph, chains);
  auto follows = [&](std::uint32_t task, std::uint32_t pred) {
    return pred < several && tasks.succ[pred] == task && tasks.pred[task] == pred;
  };
  chains.chain_of_.resize(graph.size());
  chains.steps_.resize(graph.size());
  chains.members_.reserve(graph.size());
  for (std::uint32_t head = 0; head < graph.size(); ++head) {
    if (head + ahead < graph.size())
      if (std::uint32_t pred = tasks.pred[head + ahead]; pred < several) __builtin_prefetch(&tasks.succ[pred]);
    if (follows(head, tasks.pred[head])) continue;
    ChainId chain(chains.size());
    std::uint32_t steps = 0;
    for (std::uint32_t task = head;; task = tasks.succ[task]) {
      chains.members_.push_back(NodeId(task));
      chains.chain_of_[task] = chain;
      chains.steps_[task] = ++steps;
      if (tasks.succ[task] >= several || !follows(tasks.succ[task], task)) break;
    }
    chains.starts_.push_back(static_cast<std::uint32_t>(chains.members_.size()));
  }
  return chains;
}

Chains Chains::of_lists(const TaskGraph& graph, const std::vector<std::vector<NodeId>>& lists,
                        const AggregateOptions& options) {
  Chains chains;
  chains.observe(graph, options);
  chains.chain_of_.resize(graph.size());
  chains.steps_.resize(graph.size());
  for (const std::vector<NodeId>& list : lists) {
    std::uint32_t steps = 0;
    for (NodeId node : list) {
      chains.members_.push_back(node);
      chains.chain_of_[node.index()] = ChainId(chains.size());
      chains.steps_[node.index()] = ++steps;
    }
    chains.starts_.push_back(static_cast<std::uint32_t>(chains.members_.size()));
  }
  return chains;
}

std::span<const NodeId> Chains::members(ChainId chain) const {
  return std::span(members_).subspan(starts_[chain.index()], starts_[chain.index() + 1] - starts_[chain.index()]);
}

bool Chains::observed(const TaskGraph& graph, Ref output) const {
  return !observed_.empty() && output.is_future() && observed_[graph[output.node()].first_out + output.slot];
}

bool Chains::observed(const TaskGraph& graph, NodeId node) const {
  if (observed_.empty()) return false;
  for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot)
    if (observed_[graph[node].first_out + slot]) return true;
  return false;
}

ChainEnd Chains::first(const TaskGraph& graph, ChainId chain) const {
  NodeId head = members(chain).front();
  if (std::optional<ChainEnd> end = join(graph, head)) return *std::move(end);
  NodeId pred = before(graph, head).tasks.front();
  if (std::optional<ChainEnd> end = branch(graph, *this, pred)) return *std::move(end);
  return end_by(Stop::sink, pred, after(graph, pred).tasks);  // per output: it went on to an earlier consumer
}

ChainEnd Chains::last(const TaskGraph& graph, ChainId chain) const {
  NodeId tail = members(chain).back();
  if (sink_rule_ == SinkRule::task) return last_end(graph, tail, after(graph, tail), observed(graph, tail));
  if (graph.definition(tail).structured()) return end_by(Stop::control, tail, {});
  Around next = after(graph, tail);
  auto goes_on = [&](NodeId task) { return !graph[tail].first_value || graph[task].first_value; };
  if (std::ranges::none_of(next.tasks, goes_on)) return end_by(Stop::result, tail, {});
  if (std::optional<ChainEnd> end = branch(graph, *this, tail)) return *std::move(end);
  if (std::optional<ChainEnd> end = join(graph, next.tasks.front())) return *std::move(end);
  return end_by(Stop::sink, tail, next.tasks);
}

std::size_t Chains::bytes() const {
  return chain_of_.capacity() * sizeof(ChainId) + steps_.capacity() * sizeof(std::uint32_t) +
         starts_.capacity() * sizeof(std::uint32_t) + members_.capacity() * sizeof(NodeId) + observed_.capacity() / 8;
}

// ---- links kept up to date ------------------------------------------------------------------------

void ChainLinks::add(const TaskGraph& graph, NodeId node) {
  links_.resize(node.index() + 1);
  const bool first_value = links_[node.index()].first_value = graph[node].first_value;
  for (const TaskEdge& edge : graph.edges_into(node)) {
    Link& before = links_[edge.from.index()];
    if (before.first_value && !first_value) continue;
    before.many_succ |= before.first_succ.valid() && before.first_succ != node;
    if (!before.first_succ.valid()) before.first_succ = node;
    Link& own = links_[node.index()];
    own.many_pred |= own.first_pred.valid() && own.first_pred != edge.from;
    if (!own.first_pred.valid()) own.first_pred = edge.from;
  }
}

void ChainLinks::receive(NodeId node) { links_[node.index()].received = true; }

std::uint32_t ChainLinks::steps(const TaskGraph& graph, NodeId node) const {
  std::uint32_t steps = 0;
  for (;;) {
    const Link& link = links_[node.index()];
    steps += link.behind;
    if (!link.first_pred.valid() || link.many_pred || graph.definition(node).structured()) return steps;
    const Link& before = links_[link.first_pred.index()];
    if (before.many_succ || before.received || graph.definition(link.first_pred).structured()) return steps;
    node = link.first_pred;
  }
}

// Moves first_pred over tasks that go. Nobody names these any more, so what ends a chain at them is settled.
void ChainLinks::reach_back(const TaskGraph& graph, NodeId node, const std::unordered_set<std::uint32_t>& staying) {
  Link& link = links_[node.index()];
  if (link.many_pred || graph.definition(node).structured()) link.first_pred = NodeId();
  while (link.first_pred.valid() && !staying.contains(link.first_pred.value)) {
    const Link& before = links_[link.first_pred.index()];
    if (before.many_succ || before.received || graph.definition(link.first_pred).structured()) {
      link.first_pred = NodeId();
      return;
    }
    link.behind += before.behind;
    link.first_pred = before.many_pred ? NodeId() : before.first_pred;
  }
}

void ChainLinks::retire(const TaskGraph& graph, const std::unordered_set<std::uint32_t>& staying) {
  for (std::uint32_t node : staying) reach_back(graph, NodeId(node), staying);
  links_.retire([&](std::size_t node) { return staying.contains(static_cast<std::uint32_t>(node)); });
}

}  // namespace taskspec
