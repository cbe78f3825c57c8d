// Chains that are kept while a graph grows are those of the whole graph, and what is said of their changes is what a
// comparison of all of them says.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interp/workspace/changes.hpp"
#include "ir/base/text.hpp"
#include "ir/graph/growing_chains.hpp"
#include "ir/show/graph_text.hpp"
#include "tests/property/random_graph.hpp"

namespace taskspec::growing_chains_prop_test {

namespace {

// The first tasks of a random graph: the same seed makes the same ones.
std::shared_ptr<TaskGraph> first_tasks(std::uint64_t seed, std::int64_t tasks) {
  std::mt19937_64 random(seed);
  RandomShape shape;
  shape.places = between(random, 0, 3);
  shape.structured_percent = between(random, 0, 1) * 5;
  shape.far_percent = between(random, 0, 60);
  shape.results = shape.receives = 0;
  shape.tasks = tasks;
  return random_graph(random, shape).graph;
}

std::vector<NodeId> members(const GrowingChains& chains, std::uint32_t chain) {
  std::vector<NodeId> list;
  for (NodeId node = chains.front(chain); node.valid(); node = chains.next(node)) list.push_back(node);
  return list;
}

// What GraphChanges says, found by comparing all chains of before and after.
class Compared {
 public:
  std::string since_last(const TaskGraph& graph, std::span<const Ref> received) {
    const Chains chains = aggregate(graph, {.received = received});
    std::vector<std::string> splits, grown, fresh;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      const auto now = chains.members(ChainId(c));
      const std::string text = chain_text(graph, chains, ChainId(c));
      if (now.front().index() >= tasks_) {
        fresh.push_back(text);
        continue;
      }
      const std::vector<NodeId>& was = members_[chain_of_[now.front().index()]];
      if (now.back().index() >= tasks_)
        grown.push_back("chain " + names(graph, was) + " grew to " + text);
      else if (now.size() < was.size() && now.front() == was.front())
        splits.push_back("chain " + names(graph, was) + " split after" +
                         last_text(graph, chains, ChainId(c)).substr(std::string("ends with").size()));
    }
    std::vector<std::string> parts;
    if (graph.size() > tasks_) parts.push_back("new task " + graph.path(NodeId(tasks_)));
    for (const auto* list : {&splits, &grown}) {
      for (std::size_t i = 0; i < list->size() && i < 4; ++i) parts.push_back((*list)[i]);
      if (list->size() > 4) parts.push_back(fmt::format("{} more like that", list->size() - 4));
    }
    for (const std::string& chain : fresh) parts.push_back("new chain " + chain);
    keep(graph, chains);
    return joined(parts, "; ");
  }

 private:
  static std::string names(const TaskGraph& graph, const std::vector<NodeId>& nodes) {
    std::vector<std::string> list;
    for (NodeId node : nodes) list.push_back(graph.definition(node).name);
    return "[" + joined(list, ", ") + "]";
  }
  void keep(const TaskGraph& graph, const Chains& chains) {
    tasks_ = graph.size();
    chain_of_.resize(tasks_);
    members_.clear();
    for (std::size_t c = 0; c < chains.size(); ++c) {
      const auto now = chains.members(ChainId(c));
      members_.emplace_back(now.begin(), now.end());
      for (NodeId node : now) chain_of_[node.index()] = c;
    }
  }

  std::size_t tasks_ = 0;
  std::vector<std::size_t> chain_of_;
  std::vector<std::vector<NodeId>> members_;
};

// Long chains are shortened in what a person reads.
bool is_short(const std::string& text) { return std::count(text.begin(), text.end(), ',') < 8; }

}  // namespace

TEST_CASE("[growth] chains that grow are those of the whole graph after each task") {
  for (std::uint64_t seed : random_seeds(100, 2'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed + 1'000'000);
    GrowingChains growing;
    GraphChanges changes;
    Compared compared;
    std::vector<Ref> received;
    for (std::int64_t tasks = 1; tasks <= 30; ++tasks) {
      CAPTURE(tasks);
      const std::shared_ptr<TaskGraph> graph = first_tasks(seed, tasks);
      growing.add(*graph, NodeId(static_cast<std::size_t>(tasks - 1)));
      const NodeId seen(static_cast<std::size_t>(between(random, 0, tasks - 1)));
      if (between(random, 0, 4) == 0 && !graph->out(seen).empty()) {
        received.push_back(Ref::future(seen, 0));
        growing.receive(*graph, seen);
      }
      const Chains chains = aggregate(*graph, {.received = received});
      for (std::size_t c = 0; c < chains.size(); ++c) {
        const auto wanted = chains.members(ChainId(c));
        const std::uint32_t chain = growing.of(wanted.front());
        REQUIRE(members(growing, chain) == std::vector<NodeId>(wanted.begin(), wanted.end()));
        REQUIRE(growing.size(chain) == wanted.size());
        REQUIRE(growing.back(chain) == wanted.back());
        for (NodeId node : wanted) REQUIRE(growing.of(node) == chain);
        REQUIRE(last_text(*graph, wanted.back(), growing.last(*graph, chain), growing.observed(wanted.back())) ==
                last_text(*graph, chains, ChainId(c)));
      }
      const std::string wanted = compared.since_last(*graph, received), said = changes.since_last(*graph, received);
      if (is_short(wanted)) REQUIRE(said == wanted);
    }
  }
}

TEST_CASE("[growth] a long chain that is cut again and again is not numbered anew each time") {
  Sketch sketch("long");
  const DefinitionId inc = sketch.define("inc", {"x"}, {"y"});
  GrowingChains chains;
  constexpr std::size_t tasks = 10'000;
  for (std::size_t i = 0; i < tasks; ++i)
    chains.add(*sketch.graph, sketch.add(inc, {i == 0 ? sketch.input("x") : y(NodeId(i - 1))}, {f32({4})}));
  CHECK(chains.chains() == 1);
  std::mt19937_64 random(1);
  for (int i = 0; i < 5'000; ++i)
    chains.receive(*sketch.graph, NodeId(static_cast<std::size_t>(between(random, 0, tasks - 1))));
  CHECK(chains.renumbered() < static_cast<std::size_t>(tasks * std::log2(tasks)));
  for (std::size_t i = 0; i < tasks; ++i) chains.receive(*sketch.graph, NodeId(i));
  CHECK(chains.chains() == tasks);
}

}  // namespace taskspec::growing_chains_prop_test
