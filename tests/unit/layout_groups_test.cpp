// Frames around groups of boxes: disjoint or one inside the other, each around its own boxes and no others.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "ir/layout/layout.hpp"
#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::layout_groups_test {

namespace {

constexpr std::uint32_t none = LayoutGroups::none;

struct Nested {
  std::vector<Extent> nodes;
  std::vector<LayoutEdge> edges;
  LayoutGroups groups;

  bool holds(std::uint32_t group, std::uint32_t node) const { return is_inside(groups.group[node], group); }
  bool is_inside(std::uint32_t inner, std::uint32_t outer) const {
    while (inner != none && inner != outer) inner = groups.parent[inner];
    return inner == outer;
  }
};

bool apart(const LayoutBox& a, const LayoutBox& b) {
  return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
}

bool inside(const LayoutBox& inner, const LayoutBox& outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

void check_frames(const Nested& nested, const Layout& sheet) {
  const auto groups = static_cast<std::uint32_t>(sheet.frames.size());
  REQUIRE(groups == nested.groups.parent.size());
  for (std::uint32_t g = 0; g < groups; ++g) {
    const LayoutBox& frame = sheet.frames[g];
    if (frame.width == 0) continue;
    REQUIRE(frame.width >= nested.groups.width[g]);
    for (std::uint32_t node = 0; node < nested.nodes.size(); ++node) {
      CAPTURE(node);
      if (nested.holds(g, node))
        REQUIRE(inside(sheet.nodes[node], frame));
      else
        REQUIRE(apart(sheet.nodes[node], frame));
    }
    for (std::uint32_t other = 0; other < g; ++other) {
      if (sheet.frames[other].width == 0) continue;
      if (nested.is_inside(g, other))
        REQUIRE(inside(frame, sheet.frames[other]));
      else
        REQUIRE(apart(frame, sheet.frames[other]));
    }
  }
}

// What a bend or a level stretch of an edge lies in.
LayoutBox around(PlanePoint a, PlanePoint b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(b.x - a.x), std::abs(b.y - a.y)};
}

// An edge touches its two boxes, leads to the right, and runs through no other box and no frame that holds neither.
void check_edges(const Nested& nested, const Layout& sheet) {
  for (std::size_t e = 0; e < nested.edges.size(); ++e) {
    const LayoutEdge& edge = nested.edges[e];
    const std::vector<PlanePoint>& way = sheet.edges[e];
    const LayoutBox &from = sheet.nodes[edge.from], &to = sheet.nodes[edge.to];
    REQUIRE(way.size() % 2 == 0);
    REQUIRE(way.front() == PlanePoint{from.x + from.width, from.y + from.height / 2 + edge.from_offset});
    REQUIRE(way.back() == PlanePoint{to.x, to.y + to.height / 2 + edge.to_offset});
    REQUIRE(std::is_sorted(way.begin(), way.end(), [](PlanePoint a, PlanePoint b) { return a.x < b.x; }));
    std::vector<LayoutBox> others;
    for (std::uint32_t g = 0; g < sheet.frames.size(); ++g)
      if (sheet.frames[g].width > 0 && !nested.holds(g, edge.from) && !nested.holds(g, edge.to))
        others.push_back(sheet.frames[g]);
    for (std::uint32_t node = 0; node < sheet.nodes.size(); ++node)
      if (node != edge.from && node != edge.to) others.push_back(sheet.nodes[node]);
    for (std::size_t i = 1; i < way.size(); ++i) {
      if (i % 2 == 0) REQUIRE(way[i].y == way[i - 1].y);
      for (const LayoutBox& other : others) REQUIRE(apart(around(way[i - 1], way[i]), other));
    }
  }
}

// As calls nest: the nodes of a group come one after another.
void put_calls(std::mt19937_64& random, Nested& nested, std::uint32_t parent, std::int64_t nodes, int depth) {
  while (nodes > 0) {
    std::int64_t part = between(random, 1, nodes);
    nodes -= part;
    if (depth == 0 || between(random, 0, 2) == 0) {
      nested.groups.group.insert(nested.groups.group.end(), static_cast<std::size_t>(part), parent);
      continue;
    }
    auto group = static_cast<std::uint32_t>(nested.groups.parent.size());
    nested.groups.parent.push_back(parent);
    put_calls(random, nested, group, part, depth - 1);
  }
}

Nested random_nested(std::mt19937_64& random, bool as_calls) {
  Nested nested;
  const std::int64_t nodes = between(random, 1, 50);
  if (as_calls) {
    put_calls(random, nested, none, nodes, 5);
  } else {
    const std::int64_t groups = between(random, 0, 12);
    for (std::int64_t g = 0; g < groups; ++g)
      nested.groups.parent.push_back(static_cast<std::uint32_t>(between(random, -1, g - 1)));
    for (std::int64_t i = 0; i < nodes; ++i)
      nested.groups.group.push_back(static_cast<std::uint32_t>(between(random, -1, groups - 1)));
  }
  for (std::size_t g = 0; g < nested.groups.parent.size(); ++g)
    nested.groups.width.push_back(static_cast<std::int32_t>(between(random, 0, 300)));
  for (std::int64_t i = 0; i < nodes; ++i) {
    nested.nodes.push_back(
        {static_cast<std::int32_t>(between(random, 10, 200)), static_cast<std::int32_t>(between(random, 20, 80))});
    for (std::int64_t k = i == 0 ? 0 : between(random, 0, 3); k > 0; --k)
      nested.edges.push_back({static_cast<std::uint32_t>(between(random, std::max<std::int64_t>(0, i - 12), i - 1)),
                              static_cast<std::uint32_t>(i), static_cast<std::int32_t>(between(random, -9, 9)),
                              static_cast<std::int32_t>(between(random, -9, 9))});
  }
  return nested;
}

template <class Items, class Write>
std::string list_of(const Items& items, const Write& write) {
  std::string out = "[";
  for (const auto& item : items) out += (out.size() > 1 ? "," : "") + write(item);
  return out + "]";
}

std::string numbers(std::initializer_list<std::int64_t> items) {
  return list_of(items, [](std::int64_t n) { return std::to_string(n); });
}

// As tests/browser/pictures.js reads it; -1: none.
std::string case_json(const Nested& nested, const Layout& sheet) {
  const auto group = [](std::uint32_t g) { return g == none ? std::string("-1") : std::to_string(g); };
  const auto box = [](const LayoutBox& b) { return b.width == 0 ? "null" : numbers({b.x, b.y, b.width, b.height}); };
  return "{\"nodes\":" +
         list_of(nested.nodes,
                 [](const Extent& e) {
                   return "{\"w\":" + std::to_string(e.width) + ",\"h\":" + std::to_string(e.height) + "}";
                 }) +
         ",\"edges\":" +
         list_of(nested.edges,
                 [](const LayoutEdge& e) {
                   return "{\"from\":" + std::to_string(e.from) + ",\"to\":" + std::to_string(e.to) +
                          ",\"fromY\":" + std::to_string(e.from_offset) + ",\"toY\":" + std::to_string(e.to_offset) +
                          "}";
                 }) +
         ",\"groups\":{\"parent\":" + list_of(nested.groups.parent, group) +
         ",\"group\":" + list_of(nested.groups.group, group) +
         ",\"width\":" + list_of(nested.groups.width, [](std::int32_t w) { return std::to_string(w); }) +
         "},\"layout\":{\"nodes\":" + list_of(sheet.nodes, box) + ",\"frames\":" + list_of(sheet.frames, box) +
         ",\"edges\":" +
         list_of(sheet.edges,
                 [](const std::vector<PlanePoint>& way) {
                   return list_of(way, [](PlanePoint p) { return numbers({p.x, p.y}); });
                 }) +
         "}}";
}

}  // namespace

// The viewer lays out what C++ cannot know, by the same method.
TEST_CASE("the viewer puts boxes where C++ does, and draws what does not cross [layout]") {
  if (in_shell("node --version", TemporaryFolder()).code != 0) {
    MESSAGE("skipped: there is no node");
    return;
  }
  TemporaryFolder folder;
  std::vector<Nested> cases;
  for (std::uint64_t seed : random_seeds(60, 1000)) {
    std::mt19937_64 random(seed);
    cases.push_back(random_nested(random, seed % 2 == 0));
  }
  folder.put("cases.json", list_of(cases, [](const Nested& nested) {
               return case_json(nested, lay_out(nested.nodes, nested.edges, nested.groups));
             }));
  const std::string script = (source_root() / "tests/browser/pictures.js").string();
  const ToolOutcome drawn = in_shell("node '" + script + "' 40 cases.json", folder, 120);
  CHECK_MESSAGE(drawn.code == 0, drawn.out << drawn.err);
  CHECK(drawn.out.ends_with("all well\n"));
  const ToolOutcome told =
      in_shell("node '" + (source_root() / "tests/browser/happenings.js").string() + "'", folder, 60);
  CHECK_MESSAGE(told.code == 0, told.out << told.err);
}

TEST_CASE("frames of calls that nest hold their own boxes and no others, and edges go round the others [layout]") {
  for (std::uint64_t seed : random_seeds(200, 5000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Nested nested = random_nested(random, true);
    Layout sheet = lay_out(nested.nodes, nested.edges, nested.groups);
    check_frames(nested, sheet);
    check_edges(nested, sheet);
    for (const LayoutBox& frame : sheet.frames) REQUIRE(frame.width > 0);
    for (std::size_t i = 0; i < nested.nodes.size(); ++i)
      for (std::size_t k = 0; k < i; ++k) REQUIRE(apart(sheet.nodes[i], sheet.nodes[k]));
    Layout again = lay_out(nested.nodes, nested.edges, nested.groups);
    for (std::size_t e = 0; e < nested.edges.size(); ++e) REQUIRE(sheet.edges[e] == again.edges[e]);
  }
}

TEST_CASE("of groups that no order fits some have no frame, and those of the others are right [layout]") {
  std::size_t frames = 0, groups = 0;
  for (std::uint64_t seed : random_seeds(200, 5000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Nested nested = random_nested(random, false);
    Layout sheet = lay_out(nested.nodes, nested.edges, nested.groups);
    check_frames(nested, sheet);
    check_edges(nested, sheet);
    groups += sheet.frames.size();
    frames += static_cast<std::size_t>(std::count_if(sheet.frames.begin(), sheet.frames.end(),
                                                     [](const LayoutBox& frame) { return frame.width > 0; }));
  }
  CHECK(frames > groups / 10);
}

TEST_CASE("a group stands between what it reads and who reads it, behind one port per value [layout]") {
  // 0 -> (1 -> 2) -> 3, and 0 is read twice inside.
  std::vector<Extent> nodes(4, {50, 20});
  std::vector<LayoutEdge> edges{{0, 1}, {0, 2}, {1, 2}, {2, 3}};
  Layout sheet = lay_out(nodes, edges, {{none}, {none, 0, 0, none}, {}});
  const LayoutBox& frame = sheet.frames[0];
  CHECK(sheet.nodes[0].x + 50 < frame.x);
  CHECK(frame.x + frame.width < sheet.nodes[3].x);
  CHECK(sheet.edges[0][1].x == frame.x);
  CHECK(sheet.edges[0][1] == sheet.edges[1][1]);
  CHECK(sheet.edges[0][0].y == sheet.edges[0][1].y);
}

TEST_CASE("groups as deep as a recursion, and a title wider than what stands below it [layout]") {
  std::vector<Extent> nodes(3000, {50, 20});
  std::vector<LayoutEdge> edges;
  LayoutGroups groups;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    if (i > 0) edges.push_back({i - 1, i});
    groups.parent.push_back(i == 0 ? none : i - 1);
    groups.group.push_back(i);
    groups.width.push_back(400);
  }
  Layout sheet = lay_out(nodes, edges, groups);
  CHECK(sheet.frames[0].width > 0);
  CHECK(sheet.frames[2999].width == 0);
  CHECK(lay_out(std::vector<Extent>{{50, 20}}, {}, {{none}, {0}, {400}}).frames[0].width == 400);
}

}  // namespace taskspec::layout_groups_test
