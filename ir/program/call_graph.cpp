// The calls of a program as a Boost.Graph: strong components tell who may call itself.
#include "ir/program/call_graph.hpp"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/range/iterator_range.hpp>

namespace taskspec {

CallGraph::CallGraph(const Program& program) : functions_(program.functions.size()) {
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    for (const Call& call : program.functions[i].calls)
      each_callee(program, call, [&](FunctionId callee) { add(FunctionId(i), callee); });
}

namespace {

using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                 boost::no_property, std::uint32_t, std::uint32_t>;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Graph graph_of(const Pairs& calls, std::size_t functions) {
  return Graph(boost::edges_are_unsorted_multi_pass, calls.begin(), calls.end(), functions);
}

// Adds to `found` whatever the graph's edges lead to.
std::vector<bool> spread(std::vector<bool> found, const Graph& graph) {
  std::vector<std::uint32_t> fresh;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i]) fresh.push_back(static_cast<std::uint32_t>(i));
  while (!fresh.empty()) {
    const std::uint32_t at = fresh.back();
    fresh.pop_back();
    for (auto edge : boost::make_iterator_range(boost::out_edges(at, graph))) {
      const std::uint32_t other = boost::target(edge, graph);
      if (!found[other]) fresh.push_back(other);
      found[other] = true;
    }
  }
  return found;
}

}  // namespace

std::vector<bool> CallGraph::with_callers(std::vector<bool> found) const {
  Pairs reversed;
  for (const auto& [caller, callee] : calls_) reversed.emplace_back(callee, caller);
  return spread(std::move(found), graph_of(reversed, functions_));
}

std::vector<bool> CallGraph::with_callees(std::vector<bool> found) const {
  return spread(std::move(found), graph_of(calls_, functions_));
}

std::vector<std::vector<FunctionId>> CallGraph::groups() const {
  std::vector<std::size_t> component(functions_);
  const Graph graph = graph_of(calls_, functions_);
  const std::size_t components = boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph)));
  std::vector<std::vector<FunctionId>> groups(components);  // the algorithm is done with callees first
  for (std::size_t i = 0; i < functions_; ++i) groups[component[i]].emplace_back(i);
  return groups;
}

// Those that share a group with another one, and those that call themselves directly.
std::vector<bool> CallGraph::recurring() const {
  std::vector<bool> found(functions_);
  for (const std::vector<FunctionId>& group : groups())
    for (FunctionId member : group) found[member.index()] = group.size() > 1;
  for (const auto& [caller, callee] : calls_)
    if (caller == callee) found[caller] = true;
  return found;
}

}  // namespace taskspec
