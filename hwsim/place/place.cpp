#include "hwsim/place/place.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// The cores of as few chips as have room for all vertices, from the first chip on: what fits on one is not spread over
// several, whose borders are slow. All of them where some vertex has its core already.
PlaceProblem on_few_chips(const PlaceProblem& problem) {
  const bool has_chips = problem.chip_width > 0 && problem.chip_height > 0;
  if (!has_chips || std::ranges::any_of(problem.fixed, [](std::int32_t core) { return core >= 0; })) return problem;
  const std::int32_t across = problem.width / problem.chip_width, down = problem.height / problem.chip_height;
  const std::vector<std::int32_t> all = cores_to_take(problem);
  PlaceProblem few = problem;
  for (std::int32_t chips = 1; chips < across * down; ++chips)
    for (std::int32_t columns = std::min(across, chips); columns > 0; --columns) {
      if (chips % columns != 0 || chips / columns > down) continue;
      few.cores.clear();
      for (const std::int32_t core : all)
        if (core % problem.width < columns * problem.chip_width &&
            core / problem.width < chips / columns * problem.chip_height)
          few.cores.push_back(core);
      if (static_cast<std::int64_t>(few.cores.size()) >= problem.vertices) return few;
    }
  return problem;
}

// What is placed takes time for each core that may be taken. So of a chip with far more of them only those next to the
// host are looked at, in a corner that leaves each vertex room for several.
PlaceProblem in_a_corner(const PlaceProblem& problem) {
  constexpr std::int32_t least_side = 64, cores_of_vertex = 4;
  std::int32_t side = least_side;
  while (std::int64_t{side} * side < std::int64_t{cores_of_vertex} * problem.vertices) side += least_side;
  side = (side + problem.router_width - 1) / problem.router_width * problem.router_width;
  PlaceProblem corner = problem;
  corner.width = std::min(problem.width, side);
  corner.height = std::min(problem.height, side);
  if (corner.width == problem.width && corner.height == problem.height) return problem;
  if (std::ranges::any_of(problem.fixed, [](std::int32_t core) { return core >= 0; })) return problem;
  corner.cores.clear();
  for (const std::int32_t core : problem.cores)
    if (core % problem.width < corner.width && core / problem.width < corner.height)
      corner.cores.push_back(core / problem.width * corner.width + core % problem.width);
  if (!problem.cores.empty() && corner.cores.empty()) return problem;
  const auto room = [](const PlaceProblem& one) {
    return one.cores.empty() ? std::int64_t{one.width} * one.height : static_cast<std::int64_t>(one.cores.size());
  };
  const bool has_room =
      room(corner) == room(problem) || room(corner) >= std::int64_t{cores_of_vertex} * problem.vertices;
  return has_room ? corner : problem;
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

HostPackets host_packets(const PlaceProblem& problem, std::int32_t vertex) {
  return static_cast<std::size_t>(vertex) < problem.host.size() ? problem.host[static_cast<std::size_t>(vertex)]
                                                                : HostPackets();
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
  for (std::int32_t vertex = 0; vertex < problem.vertices; ++vertex) {
    const HostPackets packets = host_packets(problem, vertex);
    const std::int32_t core = core_of[static_cast<std::size_t>(vertex)];
    cost.packet_hops += (packets.in + packets.out) * routers.host_hops(core);
    loads.add(core, packets, 1);
  }
  cost.busiest = loads.busiest();
  return cost;
}

Placement place(const PlaceProblem& given) {
  Placement placed;
  placed.fault = placement_fault(given);
  if (!placed.fault.empty()) return placed;
  const PlaceProblem problem = in_a_corner(on_few_chips(given));
  const PlaceNet net(problem);
  placed.core_of = bisect(problem, net);
  placed.cost = placed.start = place_cost(problem, placed.core_of);
  anneal(problem, net, placed);
  for (std::int32_t& core : placed.core_of) core = core / problem.width * given.width + core % problem.width;
  return placed;
}

}  // namespace taskspec
