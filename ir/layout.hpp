// Where the boxes of a graph stand on a sheet: layers from left to right by longest path, boxes of a layer ordered so
// that edges cross little and groups stay together, and drawn level with their neighbours. Deterministic; unit 1 px.
//
//   Layout sheet = lay_out({{80, 24}, {80, 24}}, {{0, 1}});
//   sheet.nodes[1].x == 152
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace taskspec {

struct Extent {
  std::int32_t width = 0, height = 0;
};

struct LayoutEdge {
  std::uint32_t from = 0, to = 0;               // from < to: nodes come in topological order
  std::int32_t from_offset = 0, to_offset = 0;  // where it touches the boxes, counted down from their middles
};

struct Box {
  std::int32_t x = 0, y = 0, width = 0, height = 0;  // top left corner
};

struct Point {
  std::int32_t x = 0, y = 0;
  friend bool operator==(Point, Point) = default;
};

struct Layout {
  std::vector<Box> nodes;
  // Polylines from the right side of one box to the left side of another: a point at each end, and two for every layer
  // crossed, where the line runs level past the boxes of that layer.
  std::vector<std::vector<Point>> edges;
};

// Boxes that would like to stand together: a tree of groups in which a parent comes before its children.
struct LayoutGroups {
  std::vector<std::uint32_t> parent;  // by group; of the outermost ones: themselves
  std::vector<std::uint32_t> group;   // by node
};

// O((V + E) log V). Boxes of one layer do not overlap, and an edge always leads to the right.
Layout lay_out(std::span<const Extent> nodes, std::span<const LayoutEdge> edges, const LayoutGroups& groups = {});

}  // namespace taskspec
