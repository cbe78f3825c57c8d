#include "ir/layout/layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "tests/unit/random_cases.hpp"

namespace taskspec::layout_test {

namespace {

bool overlap(const LayoutBox& a, const LayoutBox& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

struct Sketch {
  std::vector<Extent> nodes;
  std::vector<LayoutEdge> edges;
};

Sketch random_sketch(std::mt19937_64& random, std::int64_t nodes, std::int64_t most_edges) {
  Sketch s;
  for (std::int64_t i = 0; i < nodes; ++i) {
    s.nodes.push_back(
        {static_cast<std::int32_t>(between(random, 10, 200)), static_cast<std::int32_t>(between(random, 10, 80))});
    for (std::int64_t k = i == 0 ? 0 : between(random, 0, most_edges); k > 0; --k)
      s.edges.push_back({static_cast<std::uint32_t>(between(random, std::max<std::int64_t>(0, i - 40), i - 1)),
                         static_cast<std::uint32_t>(i)});
  }
  return s;
}

}  // namespace

TEST_CASE("a chain runs from left to right on one line [layout]") {
  Layout sheet = lay_out(std::vector<Extent>{{80, 24}, {100, 40}, {60, 24}}, std::vector<LayoutEdge>{{0, 1}, {1, 2}});
  REQUIRE(sheet.nodes.size() == 3);
  CHECK(sheet.nodes[0].x == 0);
  CHECK(sheet.nodes[1].x == 152);
  CHECK(sheet.nodes[2].x == 324);
  CHECK(sheet.edges[0] == std::vector<PlanePoint>{{80, 20}, {152, 20}});
  CHECK(sheet.edges[1] == std::vector<PlanePoint>{{252, 20}, {324, 20}});
}

TEST_CASE("a fork that joins is drawn level, its branches one below the other [layout]") {
  std::vector<Extent> nodes(4, {50, 20});
  Layout sheet = lay_out(nodes, std::vector<LayoutEdge>{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  CHECK(sheet.nodes[1].x == sheet.nodes[2].x);
  CHECK(sheet.nodes[1].y + 20 < sheet.nodes[2].y);
  CHECK(sheet.nodes[0].y == sheet.nodes[3].y);
  CHECK(sheet.nodes[0].y * 2 == sheet.nodes[1].y + sheet.nodes[2].y);
}

TEST_CASE("crossings that can be avoided are avoided [layout]") {
  // 0 -> 3 and 1 -> 2: in the order of ids the edges would cross.
  Layout sheet = lay_out(std::vector<Extent>(4, {50, 20}), std::vector<LayoutEdge>{{1, 2}, {0, 3}});
  CHECK((sheet.nodes[0].y < sheet.nodes[1].y) == (sheet.nodes[3].y < sheet.nodes[2].y));
}

TEST_CASE("an edge over several layers passes by the boxes between [layout]") {
  std::vector<Extent> nodes(4, {50, 20});
  Layout sheet = lay_out(nodes, std::vector<LayoutEdge>{{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  const std::vector<PlanePoint>& way = sheet.edges[3];
  REQUIRE(way.size() == 6);
  for (std::size_t layer : {1, 2}) {
    const LayoutBox& box = sheet.nodes[layer];
    PlanePoint before = way[2 * layer - 1], after = way[2 * layer];
    CHECK(before.x == box.x);
    CHECK(after.x == box.x + box.width);
    CHECK(before.y == after.y);
    CHECK((before.y < box.y || before.y > box.y + box.height));
  }
}

TEST_CASE("nothing gives an empty sheet, and boxes without edges stand in one column [layout]") {
  CHECK(lay_out(std::span<const Extent>(), {}).nodes.empty());
  Layout sheet = lay_out(std::vector<Extent>(3, {50, 20}), {});
  CHECK(sheet.nodes[2].x == 0);
  CHECK(sheet.nodes[0].y < sheet.nodes[1].y);
  CHECK(sheet.nodes[1].y < sheet.nodes[2].y);
}

TEST_CASE("boxes do not overlap, edges lead to the right, and the same graph gives the same sheet [layout]") {
  for (std::uint64_t seed : random_seeds(60, 2000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Sketch s = random_sketch(random, between(random, 1, 60), 3);
    Layout sheet = lay_out(s.nodes, s.edges), again = lay_out(s.nodes, s.edges);
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
      const LayoutBox& box = sheet.nodes[i];
      REQUIRE(box.x >= 0);
      REQUIRE(box.y >= 0);
      REQUIRE(box.width == s.nodes[i].width);
      REQUIRE(box.y == again.nodes[i].y);
      for (std::size_t k = 0; k < i; ++k) REQUIRE_FALSE(overlap(box, sheet.nodes[k]));
    }
    for (std::size_t e = 0; e < s.edges.size(); ++e) {
      const std::vector<PlanePoint>& way = sheet.edges[e];
      REQUIRE(way.front().x == sheet.nodes[s.edges[e].from].x + s.nodes[s.edges[e].from].width);
      REQUIRE(way.back().x == sheet.nodes[s.edges[e].to].x);
      REQUIRE(std::is_sorted(way.begin(), way.end(), [](PlanePoint a, PlanePoint b) { return a.x < b.x; }));
    }
  }
}

TEST_CASE("edges touch the boxes where they are told to, and slots that match are level [layout]") {
  // The second row of one box leads to the first row of the next.
  Layout sheet = lay_out(std::vector<Extent>{{80, 60}, {80, 60}}, std::vector<LayoutEdge>{{0, 1, 20, -10}});
  CHECK(sheet.nodes[1].y == sheet.nodes[0].y + 30);
  CHECK(sheet.edges[0] == std::vector<PlanePoint>{{80, 50}, {152, 50}});
}

TEST_CASE("a source stands before who needs it first, not at the left end [layout]") {
  std::vector<Extent> nodes(4, {50, 20});  // 0 -> 1 -> 3 and 2 -> 3
  Layout sheet = lay_out(nodes, std::vector<LayoutEdge>{{0, 1}, {1, 3}, {2, 3}});
  CHECK(sheet.nodes[2].x == sheet.nodes[1].x);
}

TEST_CASE("a long edge runs straight [layout]") {
  std::vector<Extent> nodes(8, {50, 20});
  std::vector<LayoutEdge> edges;
  for (std::uint32_t i = 1; i < 8; ++i) edges.push_back({i - 1, i});
  edges.push_back({0, 7});
  edges.push_back({1, 6});
  Layout sheet = lay_out(nodes, edges);
  for (std::size_t e : {7, 8}) {
    const std::vector<PlanePoint>& way = sheet.edges[e];
    CHECK(way.size() > 8);
    for (std::size_t i = 2; i + 1 < way.size(); ++i) CHECK(way[i].y == way[1].y);
  }
}

TEST_CASE("a grid is drawn without crossings [layout]") {
  constexpr std::uint32_t rows = 6, columns = 6;
  std::vector<Extent> nodes(rows * columns, {50, 20});
  std::vector<LayoutEdge> edges;
  // Each row a chain; the ids of every other column run from bottom to top.
  auto id = [](std::uint32_t row, std::uint32_t column) {
    return column * rows + (column % 2 == 0 ? row : rows - 1 - row);
  };
  for (std::uint32_t column = 1; column < columns; ++column)
    for (std::uint32_t row = 0; row < rows; ++row) edges.push_back({id(row, column - 1), id(row, column)});
  Layout sheet = lay_out(nodes, edges);
  for (const LayoutEdge& edge : edges) CHECK(sheet.nodes[edge.from].y == sheet.nodes[edge.to].y);
}

TEST_CASE("ten thousand tasks, and chains with edges over all of them, are laid out [layout]") {
  std::mt19937_64 random(7);
  Sketch s = random_sketch(random, 10'000, 3);
  for (std::uint32_t i = 1; i < 10'000; i += 7) s.edges.push_back({0, i});
  auto begin = std::chrono::steady_clock::now();
  Layout sheet = lay_out(s.nodes, s.edges);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK(sheet.nodes.size() == 10'000);
  CHECK(sheet.edges.size() == s.edges.size());
  MESSAGE("layout of 10,000 tasks: " << seconds << " s");
}

TEST_CASE("a hundred thousand tasks are laid out, too [layout]") {
  std::mt19937_64 random(8);
  Sketch s = random_sketch(random, 100'000, 3);
  auto begin = std::chrono::steady_clock::now();
  CHECK(lay_out(s.nodes, s.edges).nodes.size() == 100'000);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  MESSAGE("layout of 100,000 tasks: " << seconds << " s");
}

TEST_CASE("tasks that have only each other stand level [layout]") {
  // Two chains between a fork and a join, and their ends at different heights of the boxes.
  std::vector<Extent> nodes(6, {50, 40});
  std::vector<LayoutEdge> edges{{0, 1, 0, 5}, {0, 2}, {1, 3, -7, 7}, {2, 4}, {3, 5, 0, -7}, {4, 5, 0, 7}};
  Layout sheet = lay_out(nodes, edges);
  for (std::size_t e : {2, 3}) CHECK(sheet.edges[e][0].y == sheet.edges[e][1].y);
}

}  // namespace taskspec::layout_test
