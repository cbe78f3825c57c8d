// Where the boxes of a graph stand on a sheet: layers from left to right by longest path, boxes of a layer ordered so
// that edges cross little, and drawn level with their neighbours. A group of boxes is a sheet of its own that stands as
// one box among the others: so frames are disjoint or one inside the other, and hold their own boxes and no others.
// Deterministic; unit 1 px.
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

struct LayoutBox {
  std::int32_t x = 0, y = 0, width = 0, height = 0;  // top left corner
};

struct PlanePoint {
  std::int32_t x = 0, y = 0;
  friend bool operator==(PlanePoint, PlanePoint) = default;
};

struct Layout {
  std::vector<LayoutBox> nodes;
  std::vector<LayoutBox> frames;  // by group; of no width: there is none
  // From the right side of one box to the left side of another: between points 2k and 2k + 1 the line bends, from 2k +
  // 1 to 2k + 2 it runs level past the boxes of a layer. It bends between layers only, so it runs through no other box
  // and no frame that holds neither of its ends; only the longest edges of a very large graph run straight.
  std::vector<std::vector<PlanePoint>> edges;
};

// Boxes that stand together in a frame: a tree of groups in which a parent comes before its children. There is no frame
// around a group without boxes, around one that would have to stand before and behind the same box, and none deeper
// inside others or on a larger sheet than anybody can see.
struct LayoutGroups {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::vector<std::uint32_t> parent;  // by group; of the outermost ones: none
  std::vector<std::uint32_t> group;   // by node; none: it stands outside of all groups
  std::vector<std::int32_t> width;    // by group: what its title needs; empty: nothing
};

// Inside of a frame, around what it holds; above there is a line for its title, below one for words under boxes.
struct FrameRoom {
  static constexpr std::int32_t side = 16, top = 32, bottom = 26, port = 28;  // port: from a side that edges cross
};

// O((V + E) log V). Boxes of one layer do not overlap, and an edge always leads to the right.
Layout lay_out(std::span<const Extent> nodes, std::span<const LayoutEdge> edges, const LayoutGroups& groups = {});

}  // namespace taskspec
