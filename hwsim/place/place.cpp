#include "hwsim/place/place.hpp"

#include <fmt/format.h>

#include <numeric>

#include "hwsim/place/links.hpp"

namespace taskspec {

namespace {

std::string placement_fault(const PlaceProblem& problem) {
  const auto area = static_cast<std::int64_t>(problem.width) * problem.height;
  if (problem.width < 1 || problem.height < 1 || problem.router_width < 1) return "there are no cores";
  std::vector<char> allowed(static_cast<std::size_t>(area));
  const std::vector<std::int32_t> cores = cores_to_take(problem);
  for (const std::int32_t core : cores) {
    if (core < 0 || core >= area) return fmt::format("there is no core {}", core);
    allowed[static_cast<std::size_t>(core)] = 1;
  }
  if (problem.vertices > static_cast<std::int64_t>(cores.size()))
    return fmt::format("{} vertices, {} cores", problem.vertices, cores.size());
  for (const PlaceEdge& edge : problem.edges)
    if (edge.from < 0 || edge.from >= problem.vertices || edge.to < 0 || edge.to >= problem.vertices)
      return fmt::format("an edge from {} to {}, of {} vertices", edge.from, edge.to, problem.vertices);
  for (std::int32_t vertex = 0; vertex < problem.vertices; ++vertex) {
    const std::int32_t core = fixed_core(problem, vertex);
    if (core < 0) continue;
    if (core >= area || allowed[static_cast<std::size_t>(core)] != 1)
      return fmt::format(
          "vertex {} is fixed on core {}, which {}", vertex, core,
          core < area && allowed[static_cast<std::size_t>(core)] == 2 ? "another one has" : "may not be taken");
    allowed[static_cast<std::size_t>(core)] = 2;
  }
  return "";
}

}  // namespace

std::vector<std::int32_t> cores_to_take(const PlaceProblem& problem) {
  if (!problem.cores.empty()) return problem.cores;
  std::vector<std::int32_t> all(static_cast<std::size_t>(problem.width) * static_cast<std::size_t>(problem.height));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::int32_t fixed_core(const PlaceProblem& problem, std::int32_t vertex) {
  return static_cast<std::size_t>(vertex) < problem.fixed.size() ? problem.fixed[static_cast<std::size_t>(vertex)] : -1;
}

PlaceNet::PlaceNet(const PlaceProblem& problem) : edges(problem.edges) {
  std::erase_if(edges, [](const PlaceEdge& edge) { return edge.from == edge.to || edge.packets <= 0; });
  const auto ends = [](const PlaceEdge& edge) { return std::pair(edge.from, edge.to); };
  std::ranges::stable_sort(edges, {}, ends);
  std::size_t kept = 0;
  for (const PlaceEdge& edge : edges) {
    if (kept > 0 && ends(edges[kept - 1]) == ends(edge))
      edges[kept - 1].packets += edge.packets;
    else
      edges[kept++] = edge;
  }
  edges.resize(kept);
  begin.assign(static_cast<std::size_t>(problem.vertices) + 1, 0);
  for (const PlaceEdge& edge : edges)
    for (const std::int32_t end : {edge.from, edge.to}) ++begin[static_cast<std::size_t>(end) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  at.resize(2 * edges.size());
  std::vector<std::int32_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < edges.size(); ++i)
    for (const std::int32_t end : {edges[i].from, edges[i].to})
      at[static_cast<std::size_t>(next[static_cast<std::size_t>(end)]++)] = static_cast<std::int32_t>(i);
}

PlaceCost place_cost(const PlaceProblem& problem, const std::vector<std::int32_t>& core_of) {
  const RouterMap routers(problem);
  LinkLoads loads(routers, problem.y_first);
  PlaceCost cost;
  for (const PlaceEdge& edge : problem.edges) {
    const std::int32_t from = core_of[static_cast<std::size_t>(edge.from)];
    const std::int32_t to = core_of[static_cast<std::size_t>(edge.to)];
    if (edge.packets <= 0) continue;
    cost.packet_hops += edge.packets * routers.hops(from, to);
    loads.add(from, to, edge.packets);
  }
  cost.busiest = loads.busiest();
  return cost;
}

Placement place(const PlaceProblem& problem) {
  Placement placed;
  placed.fault = placement_fault(problem);
  if (!placed.fault.empty()) return placed;
  const PlaceNet net(problem);
  placed.core_of = bisect(problem, net);
  placed.cost = placed.start = place_cost(problem, placed.core_of);
  anneal(problem, net, placed);
  return placed;
}

}  // namespace taskspec
