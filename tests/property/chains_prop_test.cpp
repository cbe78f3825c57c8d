// The invariants of chains on random graphs, and wrong algorithms that they must catch.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/plan/plan.hpp"
#include "ir/verify/verify.hpp"
#include "tests/property/random_graph.hpp"

namespace taskspec::chains_prop_test {

namespace {

using Lists = std::vector<std::vector<NodeId>>;

AggregateOptions options_of(const RandomGraph& g, SinkRule rule = SinkRule::task) { return {rule, g.received}; }

Lists lists_of(const Chains& chains) {
  Lists lists;
  for (std::size_t c = 0; c < chains.size(); ++c) {
    std::span<const NodeId> members = chains.members(ChainId(c));
    lists.emplace_back(members.begin(), members.end());
  }
  return lists;
}

std::set<std::vector<std::string>> names_of(const TaskGraph& graph, const Chains& chains) {
  std::set<std::vector<std::string>> names;
  for (const std::vector<NodeId>& list : lists_of(chains)) {
    std::vector<std::string> row;
    for (NodeId node : list) row.push_back(graph.definition(node).name);
    names.insert(std::move(row));
  }
  return names;
}

// Section 4 word by word: sets P and S, links, maximal paths. With a mistake when one is asked for.
enum class Mistake { none, ignore_orders, count_futures };

Lists chains_by_sets(const RandomGraph& g, Mistake mistake = Mistake::none) {
  const TaskGraph& graph = *g.graph;
  std::vector<std::multiset<NodeId>> before(graph.size()), after(graph.size());
  for (const TaskEdge& edge : graph.edges()) {
    if (mistake == Mistake::ignore_orders && edge.kind == EdgeKind::order) continue;
    bool again = before[edge.to.index()].count(edge.from) > 0;
    if (again && mistake != Mistake::count_futures) continue;
    before[edge.to.index()].insert(edge.from);
    after[edge.from.index()].insert(edge.to);
  }
  std::set<NodeId> host;
  for (const GraphResult& result : graph.results())
    if (result.ref.is_future()) host.insert(result.ref.node());
  for (Ref ref : g.received) host.insert(ref.node());
  std::map<NodeId, NodeId> link;
  std::set<NodeId> linked;
  for (std::size_t u = 0; u < graph.size(); ++u) {
    if (after[u].size() + host.count(NodeId(u)) != 1 || after[u].empty()) continue;
    NodeId v = *after[u].begin();
    if (before[v.index()].size() != 1 || graph.definition(v).structured() || graph.definition(NodeId(u)).structured())
      continue;
    link[NodeId(u)] = v;
    linked.insert(v);
  }
  Lists lists;
  for (std::size_t u = 0; u < graph.size(); ++u) {
    if (linked.count(NodeId(u))) continue;
    lists.push_back({NodeId(u)});
    while (link.count(lists.back().back())) lists.back().push_back(link[lists.back().back()]);
  }
  return lists;
}

// How many of the random graphs show that a wrong algorithm is wrong.
int caught(Mistake mistake) {
  int graphs = 0;
  for (std::uint64_t seed : random_seeds(300, 10'000)) {
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph_of_any_size(random);
    graphs += !verify_chains(*g.graph, Chains::of_lists(*g.graph, chains_by_sets(g, mistake), options_of(g))).empty();
  }
  return graphs;
}

}  // namespace

TEST_CASE("[A13] [chains-prop] I1-I4: chains partition the tasks into maximal paths with an acyclic quotient") {
  for (std::uint64_t seed : random_seeds(500, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph_of_any_size(random);
    REQUIRE(verify_graph(*g.graph) == "");
    for (SinkRule rule : {SinkRule::task, SinkRule::output}) {
      Chains chains = aggregate(*g.graph, options_of(g, rule));
      REQUIRE(verify_chains(*g.graph, chains) == "");
    }
    REQUIRE(lists_of(aggregate(*g.graph, options_of(g))) == chains_by_sets(g));
  }
}

TEST_CASE("[A13] [chains-prop] every end of a chain has its reason, and it is true") {
  for (std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph_of_any_size(random);
    const TaskGraph& graph = *g.graph;
    std::vector<std::set<NodeId>> before(graph.size()), after(graph.size());
    for (const TaskEdge& edge : graph.edges())
      before[edge.to.index()].insert(edge.from), after[edge.from.index()].insert(edge.to);
    for (SinkRule rule : {SinkRule::task, SinkRule::output}) {
      Chains chains = aggregate(graph, options_of(g, rule));
      for (std::size_t c = 0; c < chains.size(); ++c)
        for (const ChainEnd& end : {chains.first(graph, ChainId(c)), chains.last(graph, ChainId(c))}) {
          bool control = graph.definition(end.at).structured();
          REQUIRE((end.rule == Stop::control) == control);
          for (NodeId node : end.because)
            REQUIRE((before[end.at.index()].count(node) || after[end.at.index()].count(node)));
          if (end.rule == Stop::source) REQUIRE(before[end.at.index()].size() > 1);
          if (end.rule == Stop::sink) REQUIRE(after[end.at.index()].size() > 1);
          if (end.rule == Stop::input) REQUIRE(before[end.at.index()].empty());
          if (end.rule == Stop::result && !end.because.empty()) REQUIRE(chains.observed(graph, end.at));
          if (end.rule == Stop::order) REQUIRE(end.because.size() > 1);
        }
    }
  }
}

TEST_CASE("[A13] [chains-prop] I5: composing along a chain gives the n-ary rule") {
  for (std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph_of_any_size(random);
    for (const std::vector<NodeId>& members : lists_of(aggregate(*g.graph, options_of(g, SinkRule::output)))) {
      Composite folded;
      for (NodeId node : members)
        folded = compose(*g.graph, folded, compose(*g.graph, {&node, 1}, g.received), g.received);
      REQUIRE(folded == compose(*g.graph, members, g.received));
    }
  }
}

TEST_CASE("[A13] [chains-prop] I8: the order in which tasks and inputs are added changes no chain") {
  for (std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph_of_any_size(random);
    const TaskGraph& graph = *g.graph;
    // Any topological order: of the tasks that may come next, one by chance.
    std::vector<std::size_t> waits(graph.size());
    for (const TaskEdge& edge : graph.edges()) ++waits[edge.to.index()];
    std::vector<NodeId> ready, renamed(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i)
      if (waits[i] == 0) ready.push_back(NodeId(i));
    RandomGraph other{std::make_shared<TaskGraph>(), {}, {}};
    auto moved = [&](Ref ref) {
      ref.through_place = false;
      if (ref.is_future()) ref.id = renamed[ref.id].value;
      return ref;
    };
    for (const GraphInput& input : graph.inputs()) other.graph->add_input(input);
    other.graph->add_constant(graph.constant_type(0), Value());
    for (std::uint32_t p = 0; p < 3; ++p)  // as the maker of random graphs names them
      other.graph->add_place("p" + std::to_string(p), Ref::input(p));
    while (!ready.empty()) {
      std::swap(ready[static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(ready.size()) - 1))],
                ready.back());
      NodeId node = ready.back();
      ready.pop_back();
      std::vector<Ref> in(graph.in(node).begin(), graph.in(node).end());
      std::vector<std::uint16_t> slot(in.size());  // old slot -> new slot
      std::iota(slot.begin(), slot.end(), std::uint16_t{0});
      std::shuffle(slot.begin(), slot.end(), random);
      std::vector<Ref> shuffled(in.size());
      for (std::size_t k = 0; k < in.size(); ++k) shuffled[slot[k]] = moved(in[k]);
      std::vector<Requirement> requirements = g.requirements[node.index()];
      for (Requirement& requirement : requirements)
        if (requirement.reads()) requirement.slot_in = slot[requirement.slot_in];
      std::vector<TypeId> out(graph.out(node).size(), other.graph->intern(f32({4})));
      renamed[node.index()] =
          other.graph->add(other.graph->define(graph.definition(node)), {.in = shuffled, .out = out}, requirements);
      for (const TaskEdge& edge : graph.edges())
        if (edge.from == node && --waits[edge.to.index()] == 0) ready.push_back(edge.to);
    }
    REQUIRE(other.graph->size() == graph.size());
    for (GraphResult result : graph.results()) other.graph->add_result({result.name, result.type, moved(result.ref)});
    for (Ref ref : g.received) other.received.push_back(moved(ref));
    REQUIRE(verify_graph(*other.graph) == "");
    REQUIRE(names_of(graph, aggregate(graph, options_of(g))) ==
            names_of(*other.graph, aggregate(*other.graph, options_of(other))));
  }
}

TEST_CASE("[A13] [chains-prop] I9: one more consumer of an inner task splits exactly its chain") {
  int split = 0;
  for (std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph_of_any_size(random);
    Lists lists = lists_of(aggregate(*g.graph, options_of(g)));
    NodeId node(static_cast<std::size_t>(between(random, 0, static_cast<std::int64_t>(g.graph->size()) - 1)));
    auto chain = std::find_if(lists.begin(), lists.end(), [&](const auto& list) {
      return std::find(list.begin(), list.end(), node) != list.end();
    });
    if (chain->back() == node || g.graph->out(node).empty()) continue;
    ++split;
    auto after = std::find(chain->begin(), chain->end(), node) + 1;
    std::vector<NodeId> tail(after, chain->end());
    chain->erase(after, chain->end());
    lists.push_back(std::move(tail));
    std::vector<Ref> in{Ref::future(node, 0)};
    Definition extra;
    extra.name = "extra";
    lists.push_back({g.graph->add(g.graph->define(extra), {.in = in, .out = {}})});
    std::sort(lists.begin(), lists.end());
    REQUIRE(lists_of(aggregate(*g.graph, options_of(g))) == lists);
  }
  CHECK(split > 50);
}

TEST_CASE("[A13] [chains-prop] links kept while recording agree with aggregation") {
  for (std::uint64_t seed : random_seeds(100, 2'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph_of_any_size(random);
    ChainLinks links;
    for (std::size_t i = 0; i < g.graph->size(); ++i) links.add(*g.graph, NodeId(i));
    for (const GraphResult& result : g.graph->results())
      if (result.ref.is_future()) links.receive(result.ref.node());
    for (Ref ref : g.received) links.receive(ref.node());
    Chains chains = aggregate(*g.graph, options_of(g));
    for (std::size_t i = 0; i < g.graph->size(); ++i)
      REQUIRE(links.steps(*g.graph, NodeId(i)) == chains.steps(NodeId(i)));
  }
}

TEST_CASE("[A13] [chains-prop] order edges are those of last writer and readers since") {
  for (std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    RandomGraph g = random_graph(random, {.tasks = between(random, 1, 40), .places = 3});
    using Edge = std::tuple<std::size_t, std::size_t, std::size_t, Hazard>;
    std::set<Edge> expected, found;
    struct Touch {
      std::size_t task;
      bool reads, writes;
    };
    for (std::size_t place = 0; place < 3; ++place) {
      std::vector<Touch> touches;
      for (std::size_t i = 0; i < g.requirements.size(); ++i)
        for (const Requirement& requirement : g.requirements[i])
          if (requirement.place.index() == place) touches.push_back({i, requirement.reads(), requirement.writes()});
      for (std::size_t j = 0; j < touches.size(); ++j)
        for (std::size_t i = j; i-- > 0;) {
          if (touches[i].writes) {
            if (touches[j].reads || touches[j].writes)
              expected.emplace(touches[i].task, touches[j].task, place, touches[j].reads ? Hazard::raw : Hazard::waw);
            break;
          }
          if (touches[j].writes) expected.emplace(touches[i].task, touches[j].task, place, Hazard::war);
        }
    }
    for (const TaskEdge& edge : g.graph->edges())
      if (edge.kind == EdgeKind::order) found.emplace(edge.from.index(), edge.to.index(), edge.place.index(), edge.why);
    REQUIRE(found == expected);
  }
}

TEST_CASE("[A13] [chains-prop] mutation caught: order edges ignored") { CHECK(caught(Mistake::ignore_orders) > 10); }

TEST_CASE("[A13] [chains-prop] mutation caught: futures counted instead of tasks") {
  CHECK(caught(Mistake::count_futures) > 10);
}

TEST_CASE("[A13] [chains-prop] the graph of section 4.4 needs its order edges") {
  // a writes r; p reads r; b uses a.t and writes r: by futures alone a and b would chain around p.
  Sketch s("g");
  PlaceId r = s.graph->add_place("r", s.input("r"));
  NodeId a = s.add(s.define("a", {}, {"t", "r"}), {}, {f32({4}), f32({4})}, {{r, Privilege::out, 0, 1}});
  NodeId p = s.add(s.define("p", {"r"}, {"v"}), {s.graph->current(r)}, {f32({4})}, {{r, Privilege::in, 0}});
  NodeId b = s.add(s.define("b", {"t"}, {"r"}), {y(a)}, {f32({4})}, {{r, Privilege::out}});
  CHECK(lists(*s.graph, aggregate(*s.graph)) == "[[a], [p], [b]]");
  CHECK(verify_chains(*s.graph, Chains::of_lists(*s.graph, {{a, b}, {p}})) != "");
  CHECK(verify_chains(*s.graph, Chains::of_lists(*s.graph, {{a}, {p}})) != "");
  CHECK(verify_chains(*s.graph, Chains::of_lists(*s.graph, {{a}, {p, b}})) != "");
}

TEST_CASE("[A13] [chains-prop] lines and fans of any length need no stack") {
  constexpr std::size_t count = 200'000;
  Sketch line("line"), fan("fan");
  DefinitionId one = line.define("f", {"x"}, {"y"}), other = fan.define("f", {"x"}, {"y"});
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Ref> in, root;
    if (i > 0) in.push_back(y(NodeId(i - 1))), root.push_back(y(NodeId(0)));
    line.add(one, in, {f32({0})});
    fan.add(other, root, {f32({0})});
  }
  CHECK(aggregate(*line.graph).size() == 1);
  Chains chains = aggregate(*fan.graph);
  REQUIRE(chains.size() == count);
  std::size_t sinks = 0;  // a million tasks may ask the same task why they are not its only successor
  for (std::size_t c = 1; c < count; ++c) sinks += chains.first(*fan.graph, ChainId(c)).rule == Stop::sink;
  CHECK(sinks == count - 1);
}

}  // namespace taskspec::chains_prop_test
