// The judge of what shards find: each point of each operation of a program, in program order, by the exact users of
// ir/region; what the shards found together must order the same, and nothing else.
//
//   const Exact exact = exact_graph(forest, ops);
//   Graph graph;  Judge judge(graph, shard);            // an executor for each shard
//   judge_union(exact, graph);                          // graph.outcome.is_right()
#pragma once
#include <map>

#include "ir/region/users.hpp"
#include "tests/shards/operations.hpp"
#include "tests/shards/point_graph.hpp"

namespace taskspec {

inline Exact exact_graph(const RegionForest& forest, const std::vector<Operation>& ops) {
  Exact exact;
  FieldUsers users;
  for (const Operation& op : ops)
    for (std::int64_t i = 0; i < op.domain.size(); ++i) {
      const auto user = static_cast<FieldUsers::User>(exact.tasks.size());
      const LaunchPoint task{op.number, i};
      std::vector<FieldUsers::Edge> before;
      for (const LaunchUse& use : op.uses)
        users.add(forest, user, {use.at(op.domain.point(i)), use.fields, use.privilege, use.op}, before);
      for (const FieldUsers::Edge& edge : before) exact.edges.emplace(exact.tasks[edge.user], task);
      exact.tasks.push_back(task);
    }
  return exact;
}

struct JudgedOutcome {
  bool hung = false;
  std::size_t invalid_steps = 0;  // an edge from a task that is not there yet, or one found twice
  std::size_t out_of_time = 0;    // an edge between shards against Lamport's order
  std::size_t missing = 0;        // tasks that nobody found
  std::size_t unordered = 0;      // exact edges that are not in the union, directly or not
  std::size_t untrue = 0;         // edges of the union that no exact path has
  std::size_t across = 0;         // edges between shards
  std::size_t replayed = 0;       // points
  std::size_t spared = 0;         // fences, by further proofs
  std::vector<std::uint64_t> steps;
  bool is_right() const { return !hung && invalid_steps + out_of_time + missing + unordered + untrue == 0; }
};

struct Registered {
  std::size_t shard;
  std::uint64_t time;
};

// What the shards find together, looked at after every step.
class Graph {
 public:
  void add(std::uint64_t op, std::size_t shard, const FineResult& result, std::uint64_t time) {
    for (const PointEdge& edge : result.edges) {
      const auto from = tasks.find(edge.from);
      if (from == tasks.end()) {
        ++outcome.invalid_steps;
      } else if (from->second.shard != shard) {
        ++outcome.across;
        outcome.out_of_time += from->second.time >= time;
      }
      edges.emplace(edge.from, edge.to);
    }
    // What a trace has dispatched is found again where that trace was left in the middle.
    for (const std::int64_t point : result.own)
      outcome.invalid_steps +=
          tasks.emplace(LaunchPoint{op, point}, Registered{shard, time}).second == result.is_dispatched;
  }
  // Without a word between shards: what others have is not there yet, perhaps.
  void add_replayed(std::uint64_t op, std::size_t shard, const TemplateCall& call, bool with_carry) {
    for (const TemplateEdge& edge : call.edges) {
      if (!with_carry && call.is_carry(edge)) continue;
      if (!tasks.contains(call.from(edge))) not_there.emplace_back(call.from(edge), shard);
      edges.emplace(call.from(edge), LaunchPoint{op, edge.to});
    }
    for (const std::int64_t point : call.own)
      outcome.invalid_steps += !tasks.emplace(LaunchPoint{op, point}, Registered{shard, 0}).second;
    outcome.replayed += call.own.size();
  }

  std::map<LaunchPoint, Registered> tasks;
  std::vector<std::pair<LaunchPoint, std::size_t>> not_there;
  Edges edges;
  JudgedOutcome outcome;
};

class Judge final : public Executor {
 public:
  Judge(Graph& graph, std::size_t shard, bool with_carry = true)
      : graph_(graph), shard_(shard), with_carry_(with_carry) {}
  void found(const Operation& op, const FineResult& result, std::uint64_t time) override {
    graph_.add(op.number, shard_, result, time);
  }
  void replayed(const Operation& op, const TemplateCall& call) override {
    graph_.add_replayed(op.number, shard_, call, with_carry_);
  }

 private:
  Graph& graph_;
  const std::size_t shard_;
  const bool with_carry_;
};

// The union of what all shards found beside the exact graph.
inline void judge_union(const Exact& exact, Graph& graph) {
  for (const LaunchPoint& task : exact.tasks) graph.outcome.missing += !graph.tasks.contains(task);
  for (const auto& [task, shard] : graph.not_there)
    if (const auto known = graph.tasks.find(task); known != graph.tasks.end() && known->second.shard == shard)
      ++graph.outcome.invalid_steps;
  const Closure found = exact.closure(graph.edges), wanted = exact.closure(exact.edges);
  for (const auto& [from, to] : exact.edges) graph.outcome.unordered += !found.has(exact.place(to), exact.place(from));
  for (const auto& [from, to] : graph.edges) {
    const std::size_t before = exact.place(from), after = exact.place(to);
    graph.outcome.untrue += before == exact.tasks.size() || after == exact.tasks.size() || !wanted.has(after, before);
  }
}

}  // namespace taskspec
