// Placement: costs from scratch, small optima, never worse than where it began, the same every time.
#include "hwsim/place/place.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace taskspec::place_test {

namespace {

PlaceProblem chain(std::int32_t width, std::int32_t height, std::int32_t vertices) {
  PlaceProblem problem{.width = width, .height = height, .vertices = vertices};
  for (std::int32_t v = 1; v < vertices; ++v) problem.edges.push_back({v - 1, v, 10});
  return problem;
}

// Every packet on its way, link by link.
PlaceCost walked_cost(const PlaceProblem& problem, const std::vector<std::int32_t>& core_of) {
  std::map<std::array<std::int32_t, 4>, std::int64_t> links;
  PlaceCost cost;
  for (const PlaceEdge& edge : problem.edges) {
    const std::int32_t from = core_of[static_cast<std::size_t>(edge.from)],
                       to = core_of[static_cast<std::size_t>(edge.to)];
    std::array<std::int32_t, 2> at{from % problem.width / problem.router_width, from / problem.width};
    const std::array<std::int32_t, 2> end{to % problem.width / problem.router_width, to / problem.width};
    for (std::size_t axis : problem.y_first ? std::array<std::size_t, 2>{1, 0} : std::array<std::size_t, 2>{0, 1})
      while (at[axis] != end[axis]) {
        const std::array<std::int32_t, 2> before = at;
        at[axis] += at[axis] < end[axis] ? 1 : -1;
        links[{before[0], before[1], at[0], at[1]}] += edge.packets;
        cost.packet_hops += edge.packets;
      }
  }
  for (std::size_t v = 0; v < problem.host.size(); ++v)  // along its row
    for (std::int32_t x = core_of[v] % problem.width / problem.router_width; x > 0; --x) {
      const std::int32_t y = core_of[v] / problem.width;
      links[{x - 1, y, x, y}] += problem.host[v].in;
      links[{x, y, x - 1, y}] += problem.host[v].out;
      cost.packet_hops += problem.host[v].in + problem.host[v].out;
    }
  for (const auto& [link, packets] : links) cost.busiest = std::max(cost.busiest, packets);
  return cost;
}

PlaceProblem random_problem(std::mt19937_64& random) {
  const auto up_to = [&](std::int32_t most) {
    return 1 + static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(most));
  };
  PlaceProblem problem;
  problem.chip_width = up_to(5), problem.chip_height = up_to(4);
  problem.width = problem.chip_width * up_to(3), problem.height = problem.chip_height * up_to(2);
  if (up_to(3) == 1) problem.chip_width = problem.chip_height = 0;
  if (problem.width % 2 == 0 && up_to(3) == 1) problem.router_width = 2;
  problem.y_first = up_to(2) == 1;
  for (std::int32_t core = 0; core < problem.width * problem.height; ++core)
    if (up_to(8) > 1) problem.cores.push_back(core);
  if (problem.cores.empty()) problem.cores.push_back(0);
  const auto room = static_cast<std::int32_t>(problem.cores.size());
  problem.vertices = up_to(3) == 1 ? room : up_to(room);
  const std::int32_t edges = up_to(3 * problem.vertices) - 1;
  for (std::int32_t i = 0; i < edges; ++i)
    problem.edges.push_back({up_to(problem.vertices) - 1, up_to(problem.vertices) - 1, up_to(100) - 1});
  if (up_to(2) == 1)
    for (std::int32_t v = 0; v < problem.vertices; ++v) problem.host.push_back({up_to(20) - 1, up_to(20) - 1});
  if (up_to(2) == 1) {
    std::vector<std::int32_t> cores = problem.cores;
    std::shuffle(cores.begin(), cores.end(), random);
    for (std::int32_t v = 0; v < problem.vertices; ++v)
      problem.fixed.push_back(up_to(4) == 1 ? cores[static_cast<std::size_t>(v)] : -1);
  }
  return problem;
}

}  // namespace

TEST_CASE("a placement keeps to its rules, its cost is that of a walk, and it is not worse than its start [place]") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    const PlaceProblem problem = random_problem(random);
    CAPTURE(i);
    const Placement placed = place(problem);
    REQUIRE(placed.fault == "");
    REQUIRE(placed.core_of.size() == static_cast<std::size_t>(problem.vertices));
    CHECK(std::set<std::int32_t>(placed.core_of.begin(), placed.core_of.end()).size() == placed.core_of.size());
    for (std::size_t v = 0; v < placed.core_of.size(); ++v) {
      CHECK(std::ranges::binary_search(problem.cores, placed.core_of[v]));
      if (v < problem.fixed.size() && problem.fixed[v] >= 0) CHECK(placed.core_of[v] == problem.fixed[v]);
    }
    CHECK(placed.cost == place_cost(problem, placed.core_of));  // incremental: from scratch
    CHECK(placed.cost == walked_cost(problem, placed.core_of));
    CHECK(placed.cost.total() <= placed.start.total());
    const Placement again = place(problem);
    CHECK(again.core_of == placed.core_of);
    CHECK(again.accepted == placed.accepted);
  }
}

TEST_CASE("small networks reach the best there is [place]") {
  // A chain that fills a rectangle: a path through all cores, each link once.
  for (const auto& [width, height] : {std::pair(2, 2), std::pair(3, 2), std::pair(4, 3), std::pair(4, 4)}) {
    const Placement placed = place(chain(width, height, width * height));
    CAPTURE(width);
    CHECK(placed.cost == PlaceCost{10 * (width * height - 1), 10});
  }
  // A hub of four: its neighbours.
  PlaceProblem star{.width = 5, .height = 5, .vertices = 5, .edges = {{0, 1, 7}, {0, 2, 7}, {3, 0, 7}, {4, 0, 7}}};
  CHECK(place(star).cost == PlaceCost{28, 7});
  // Beside what is fixed.
  PlaceProblem fixed{.width = 6, .height = 1, .vertices = 2, .edges = {{0, 1, 3}}, .fixed = {5, -1}};
  CHECK(place(fixed).core_of == std::vector<std::int32_t>{5, 4});
  // A chain whose ends talk to the host, at the west border of each row: side by side.
  PlaceProblem ends = chain(7, 5, 2);
  ends.host = {{20, 0}, {0, 20}};
  const Placement by_the_host = place(ends);
  CHECK(by_the_host.cost == PlaceCost{10, 10});
  for (const std::int32_t core : by_the_host.core_of) CHECK(core % 7 == 0);
  CHECK(place({.width = 9, .height = 1, .vertices = 1, .host = {{1, 0}}}).core_of == std::vector<std::int32_t>{0});
  // A chip far larger than what lies on it: the corner next to the host, and no longer than on a small one.
  PlaceProblem large = chain(4000, 4000, 6);
  large.host = {{20, 0}};
  const Placement in_the_corner = place(large);
  CHECK(in_the_corner.cost == PlaceCost{50, 10});
  for (const std::int32_t core : in_the_corner.core_of) CHECK(core % 4000 < 64);
  CHECK(in_the_corner.moves == 200 * 64 * 64);
  // Of its cores some alone: these.
  large.cores = {8'000'100, 8'000'101, 8'000'102, 8'000'103, 8'000'104, 8'000'105};
  CHECK(place(large).core_of[0] == 8'000'100);
  // One that is only wide needs all of them.
  const Placement wide = place(chain(80, 10, 800));
  CHECK(std::set<std::int32_t>(wide.core_of.begin(), wide.core_of.end()).size() == 800);
  CHECK(*std::ranges::min_element(wide.core_of) == 0);
  // Nothing to do.
  CHECK(place({.width = 1, .height = 1}).core_of.empty());
  CHECK(place({.width = 3, .height = 1, .vertices = 3}).cost.total() == 0);
}

TEST_CASE("beside every placement of small networks: nearly always none is better [place]") {
  std::mt19937_64 random(5);
  int best_ones = 0;
  for (int i = 0; i < 40; ++i) {
    PlaceProblem problem{.width = 3, .height = 2, .vertices = 6};
    for (int e = 0; e < 9; ++e)
      problem.edges.push_back({static_cast<std::int32_t>(random() % 6), static_cast<std::int32_t>(random() % 6),
                               static_cast<std::int64_t>(random() % 20)});
    std::vector<std::int32_t> cores(6);
    std::iota(cores.begin(), cores.end(), 0);
    std::int64_t best = INT64_MAX;
    do best = std::min(best, place_cost(problem, cores).total());
    while (std::next_permutation(cores.begin(), cores.end()));
    const std::int64_t found = place(problem).cost.total();
    best_ones += found == best ? 1 : 0;
    CHECK(found * 100 <= best * 115);
  }
  CHECK(best_ones >= 36);
}

TEST_CASE("chips first: few packets over the border [place]") {
  // Two groups of eight that talk inside, one thin edge between: one group on each chip.
  PlaceProblem problem{.width = 8, .height = 2, .chip_width = 4, .chip_height = 2, .vertices = 16};
  for (std::int32_t a = 0; a < 16; ++a)
    for (std::int32_t b = 0; b < 16; ++b)
      if (a != b && a % 2 == b % 2) problem.edges.push_back({a, b, 5});
  problem.edges.push_back({0, 1, 1});
  const Placement placed = place(problem);
  std::int64_t over = 0;
  for (const PlaceEdge& edge : problem.edges) {
    const auto chip = [&](std::int32_t v) { return placed.core_of[static_cast<std::size_t>(v)] % 8 / 4; };
    over += chip(edge.from) != chip(edge.to) ? edge.packets : 0;
  }
  CHECK(over == 1);
}

TEST_CASE("what fits on few of many chips stays on them [place]") {
  std::mt19937_64 random(3);
  for (const auto& [vertices, chips] : {std::pair{3, 1}, {16, 1}, {17, 2}, {33, 3}, {65, 5}, {80, 5}}) {
    PlaceProblem problem{.width = 20, .height = 4, .chip_width = 4, .chip_height = 4, .vertices = vertices};
    for (int e = 0; e < 100; ++e)
      problem.edges.push_back({static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(vertices)),
                               static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(vertices)), 9});
    for (const std::int32_t core : place(problem).core_of) CHECK(core % 20 / 4 < chips);
  }
}

TEST_CASE("more moves, another seed, none at all [place]") {
  std::mt19937_64 random(2);
  PlaceProblem problem{.width = 10, .height = 10, .vertices = 90};
  for (int e = 0; e < 300; ++e)
    problem.edges.push_back({static_cast<std::int32_t>(random() % 90), static_cast<std::int32_t>(random() % 90),
                             1 + static_cast<std::int64_t>(random() % 50)});
  problem.moves = 0;
  const Placement none = place(problem);
  CHECK(none.cost == none.start);
  CHECK(none.moves == 0);
  problem.moves = -1;
  const Placement some = place(problem);
  CHECK(some.moves == 20'000);
  CHECK(some.cost.total() < none.cost.total());
  problem.moves = 200'000;
  const Placement more = place(problem);
  CHECK(more.cost.total() < some.cost.total());
  problem.seed = 2;
  CHECK(place(problem).core_of != more.core_of);
}

TEST_CASE("what cannot be placed says why [place]") {
  CHECK(place({.width = 2, .height = 1, .vertices = 3}).fault == "3 vertices, 2 cores");
  CHECK(place({.width = 2, .height = 1, .cores = {0, 7}, .vertices = 1}).fault == "there is no core 7");
  CHECK(place({.width = 2, .height = 1, .vertices = 2, .fixed = {1, 1}}).fault ==
        "vertex 1 is fixed on core 1, which another one has");
  CHECK(place({.width = 2, .height = 1, .cores = {1}, .vertices = 1, .fixed = {0}}).fault ==
        "vertex 0 is fixed on core 0, which may not be taken");
  CHECK(place({.width = 2, .height = 1, .vertices = 1, .edges = {{0, 1, 1}}}).fault ==
        "an edge from 0 to 1, of 1 vertices");
}

}  // namespace taskspec::place_test
