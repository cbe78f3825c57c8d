// Which core each vertex of a mapped network goes to. A pure function: equal problems give equal placements, on every
// machine.
//
//   PlaceProblem problem{.width = 16, .height = 10, .vertices = 3, .edges = {{0, 1, 100}, {1, 2, 50}}};
//   Placement placed = place(problem);      placed.core_of[0] == 37; placed.cost == 150 + 4 * 100
//
// What fits on few chips stays on them, and on a chip far larger than it in the corner next to the host. Recursive
// bisection of the cores with passes of Fiduccia and Mattheyses (DAC 1982), borders of chips first; then annealing by
// swaps and moves inside the chips. The cost: packets times hops, and four times the busiest link of the routes (x
// first, then y, or the other way round).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace taskspec {

struct PlaceEdge {
  std::int32_t from = 0, to = 0;
  std::int64_t packets = 0;  // per step
};

// Between a vertex and the host, which sits at the west border of each row.
struct HostPackets {
  std::int64_t in = 0, out = 0;  // per step
};

struct PlaceProblem {
  std::int32_t width = 0, height = 0;            // of all chips together; core = y * width + x
  std::int32_t chip_width = 0, chip_height = 0;  // 0: all is one chip
  std::int32_t router_width = 1;                 // neighbours in a row that share a router
  bool y_first = false;
  std::vector<std::int32_t> cores = {};  // that may be taken, ascending; none: all
  std::int32_t vertices = 0;
  std::vector<PlaceEdge> edges = {};
  std::vector<HostPackets> host = {};    // by vertex; none: nothing comes or goes
  std::vector<std::int32_t> fixed = {};  // by vertex: its core, or -1; none: all are free
  std::int64_t moves = -1;               // of the annealing; -1: 200 * cores, at most 2e6
  std::uint64_t seed = 1;
};

struct PlaceCost {
  std::int64_t packet_hops = 0, busiest = 0;
  std::int64_t total() const { return packet_hops + 4 * busiest; }
  friend bool operator==(const PlaceCost&, const PlaceCost&) = default;
};

struct Placement {
  std::vector<std::int32_t> core_of;  // by vertex; empty: `fault` says why
  PlaceCost cost, start;              // start: of the bisection
  std::int64_t moves = 0, accepted = 0;
  std::string fault;  // more vertices than cores; a vertex fixed on no core, or two on one
};

Placement place(const PlaceProblem& problem);
PlaceCost place_cost(const PlaceProblem& problem, const std::vector<std::int32_t>& core_of);  // from scratch

}  // namespace taskspec
