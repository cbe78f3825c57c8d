#include <fmt/format.h>

#include <algorithm>

#include "ir/base/text.hpp"
#include "ir/show/graph_text.hpp"

namespace taskspec {

namespace {

// "inc#0", "inc#0 and dbl#0", "a#0, b#0, c#0, d#0 and others"
std::string list_text(const TaskGraph& graph, const std::vector<NodeId>& nodes) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < nodes.size() && i < most; ++i) {
    if (i > 0) text += i + 1 == nodes.size() ? " and " : ", ";
    text += graph.path(nodes[i]);
  }
  return nodes.size() > most ? text + " and others" : text;
}

std::string control_text(const TaskGraph& graph, NodeId node) {
  switch (graph.definition(node).kind) {
    case Definition::Kind::branch:
      return "is an if, and control flow never chains (control)";
    case Definition::Kind::loop:
      return "is a loop, and control flow never chains (control)";
    default:
      return fmt::format("is a call of {}, and calls never chain (control)", graph.definition(node).name);
  }
}

// The places whose accesses put tasks of `later` behind tasks of `earlier`.
std::string places_text(const TaskGraph& graph, const std::vector<NodeId>& earlier, const std::vector<NodeId>& later) {
  auto contains = [](const auto& list, const auto& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  std::vector<std::string> names;
  for (NodeId node : later)
    for (const TaskEdge& edge : graph.edges_into(node)) {
      if (edge.kind != EdgeKind::order || !contains(earlier, edge.from)) continue;
      const std::string& name = graph.place_name(edge.place);
      if (!contains(names, name)) names.push_back(name);
    }
  return joined(names, ", ");
}

std::string observed_text(const TaskGraph& graph, bool observed, NodeId node) {
  for (const GraphResult& result : graph.results())
    if (result.ref.is_future() && result.ref.node() == node) return "the result " + result.name;
  return observed ? "received by the host" : "";
}

// What a task says of those before it, when that makes it the first of a chain.
std::string join_text(const TaskGraph& graph, const ChainEnd& end) {
  switch (end.rule) {
    case Stop::input:
      return "needs only inputs and constants (input)";
    case Stop::control:
      return control_text(graph, end.at);
    case Stop::order:
      return fmt::format("must follow {} (order of {})", list_text(graph, end.because),
                         places_text(graph, end.because, {end.at}));
    default:
      return fmt::format("joins {} (source rule)", list_text(graph, end.because));
  }
}

// What a task says of those after it, when that makes it the last of a chain.
std::string branch_text(const TaskGraph& graph, bool observed, const ChainEnd& end) {
  switch (end.rule) {
    case Stop::control:
      return control_text(graph, end.at);
    case Stop::order:
      return fmt::format("must precede {} (order of {})", list_text(graph, end.because),
                         places_text(graph, {end.at}, end.because));
    case Stop::result:
      return fmt::format("is also {} (result)", observed_text(graph, observed, end.at));
    default:
      return fmt::format("branches to {} (sink rule)", list_text(graph, end.because));
  }
}

}  // namespace

std::string chain_text(const TaskGraph& graph, const Chains& chains, ChainId chain) {
  std::string text = "[";
  for (NodeId node : chains.members(chain)) text += (text.size() > 1 ? ", " : "") + graph.definition(node).title();
  return text + "]";
}

std::string first_text(const TaskGraph& graph, const Chains& chains, ChainId chain) {
  NodeId head = chains.members(chain).front();
  ChainEnd end = chains.first(graph, chain);
  std::string why = end.at == head ? "it " + join_text(graph, end)
                                   : fmt::format("{} before it {}", graph.path(end.at),
                                                 branch_text(graph, chains.observed(graph, end.at), end));
  return fmt::format("starts with {}, because {}", graph.path(head), why);
}

std::string last_text(const TaskGraph& graph, const Chains& chains, ChainId chain) {
  NodeId tail = chains.members(chain).back();
  return last_text(graph, tail, chains.last(graph, chain), chains.observed(graph, tail));
}

std::string last_text(const TaskGraph& graph, NodeId tail, const ChainEnd& end, bool observed) {
  std::string why;
  if (end.at != tail) {
    why = fmt::format("{} after it {}", graph.path(end.at), join_text(graph, end));
  } else if (end.rule == Stop::result && end.because.empty()) {
    std::string text = observed_text(graph, observed, tail);
    if (text.empty() && graph[tail].first_value) text = "the first value of a slot";
    why = text.empty() ? "nothing follows (result)" : fmt::format("it is {} (result)", text);
  } else {
    why = "it " + branch_text(graph, observed, end);
  }
  return fmt::format("ends with {}, because {}", graph.path(tail), why);
}

std::string chains_text(const TaskGraph& graph, const Chains& chains) {
  std::string text =
      fmt::format("{}: {} in {}\n", graph.name, plural(graph.size(), "task"), plural(chains.size(), "chain"));
  for (std::size_t c = 0; c < chains.size(); ++c) {
    ChainId chain(c);
    text += fmt::format("\n{}\n  {}\n  {}\n", chain_text(graph, chains, chain), first_text(graph, chains, chain),
                        last_text(graph, chains, chain));
  }
  bool control = false;
  for (std::size_t i = 0; i < graph.size(); ++i) control = control || graph.definition(NodeId(i)).structured();
  if (control)
    text +=
        "\nhint: control flow in a graph is one task; a fn that is called outside of graphs unrolls, and its tasks "
        "chain\n";
  return text;
}

}  // namespace taskspec
