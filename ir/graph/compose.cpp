// Composition of tasks:  in(T2 . T1) = in(T1) + (in(T2) \ out(T1)),  F = F1 ++ F2,
// out = out(T2) + live(out(T1)). References are identified by (task, slot): a version of a place is one as well.
#include <algorithm>
#include <unordered_set>

#include "ir/graph/boost_graph.hpp"
#include "ir/graph/chains.hpp"

namespace taskspec {

namespace {

class Members {
 public:
  Members(const TaskGraph& graph, std::span<const Ref> received) : graph_(graph), received_(received) {}

  void add(std::span<const NodeId> nodes) { nodes_.insert(nodes.begin(), nodes.end()); }
  bool contains(NodeId node) const { return nodes_.count(node) != 0; }

  // Needed by somebody outside: another task, the host or the graph's result.
  bool is_live(Ref output) const {
    for (const GraphResult& result : graph_.results())
      if (same(result.ref, output)) return true;
    for (Ref ref : received_)
      if (same(ref, output)) return true;
    const BoostTaskGraph& boost = boost_graph(graph_);
    auto [begin, end] = out_edges(output.id, boost);
    for (auto edge = begin; edge != end; ++edge) {
      NodeId reader(target(*edge, boost));
      if (contains(reader)) continue;
      for (Ref ref : graph_.in(reader))
        if (same(ref, output)) return true;
    }
    return false;
  }

 private:
  static bool same(Ref a, Ref b) { return a.kind == b.kind && a.id == b.id && a.slot == b.slot; }

  const TaskGraph& graph_;
  std::span<const Ref> received_;
  std::unordered_set<NodeId> nodes_;
};

// Each reference once, in order of first use; whether it went through a place makes no difference here.
class InputSet {
 public:
  void add(Ref ref) {
    ref.through_place = false;
    std::uint64_t key =
        (std::uint64_t{ref.id} << 24) | (std::uint64_t{ref.slot} << 8) | static_cast<unsigned>(ref.kind);
    if (seen_.insert(key).second) refs.push_back(ref);
  }
  std::vector<Ref> refs;

 private:
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

Composite compose(const TaskGraph& graph, std::span<const NodeId> members, std::span<const Ref> received) {
  Composite composite;
  composite.steps.assign(members.begin(), members.end());
  Members inside(graph, received);
  inside.add(members);
  InputSet in;
  for (NodeId node : members) {
    for (Ref ref : graph.in(node))
      if (!ref.is_future() || !inside.contains(ref.node())) in.add(ref);
    for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot)
      if (Ref output = Ref::future(node, slot); node == members.back() || inside.is_live(output))
        composite.out.push_back(output);
  }
  composite.in = std::move(in.refs);
  return composite;
}

Composite compose(const TaskGraph& graph, const Composite& first, const Composite& second,
                  std::span<const Ref> received) {
  if (first.steps.empty()) return second;
  if (second.steps.empty()) return first;
  Members of_first(graph, received), inside(graph, received);
  of_first.add(first.steps);
  inside.add(first.steps);
  inside.add(second.steps);

  Composite composite{{}, first.steps, {}};
  composite.steps.insert(composite.steps.end(), second.steps.begin(), second.steps.end());
  InputSet in;
  for (Ref ref : first.in) in.add(ref);
  for (Ref ref : second.in)
    if (!ref.is_future() || !of_first.contains(ref.node())) in.add(ref);
  composite.in = std::move(in.refs);
  for (Ref ref : first.out)
    if (inside.is_live(ref)) composite.out.push_back(ref);
  composite.out.insert(composite.out.end(), second.out.begin(), second.out.end());
  return composite;
}

}  // namespace taskspec
