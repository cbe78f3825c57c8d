// One sheet, without groups: boxes in layers, and the edges between neighbouring layers, which the phases of a layout
// hand on. Internal to ir/layout/.
//
//   order_layers(layers);                              // who stands above whom
//   std::vector<double> middles = place_boxes(layers);  // and how far down
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ir/layout/layout.hpp"

namespace taskspec {

// The end of a segment, seen from the box at its other end.
struct Neighbour {
  std::uint32_t box = 0;
  std::int32_t offset = 0, own_offset = 0;  // of the two ends, from the middles of the boxes
};

// Lists of neighbours, one after another.
class Neighbours {
 public:
  Neighbours() = default;
  Neighbours(std::size_t boxes, std::span<const LayoutEdge> segments, bool forward);
  std::span<const Neighbour> of(std::uint32_t box) const {
    return {items_.data() + starts_[box], items_.data() + starts_[box + 1]};
  }

 private:
  std::vector<std::uint32_t> starts_;
  std::vector<Neighbour> items_;
};

// Where edges come in and go out at the sides of a sheet: places of no size, the only ones of the first and of the last
// layer. Those where they come in stand before the boxes, those where they go out behind them.
struct Ports {
  std::size_t in = 0, out = 0;
};

struct Layers {
  std::vector<Extent> boxes;  // nodes and ports, then bends of long edges, which have no size either
  std::size_t nodes = 0;      // with ports
  Ports ports;
  std::vector<std::uint32_t> layer;               // by box
  std::vector<LayoutEdge> segments;               // between neighbouring layers
  Neighbours before, after;                       // along the segments
  std::vector<std::vector<std::uint32_t>> order;  // by layer: its boxes, from top to bottom
  bool is_bend(std::uint32_t box) const { return box < ports.in || box + ports.out >= nodes; }  // or a port
};

// How often a phase may go over everything: often where that is cheap, always at least twice.
int sweeps_for(const Layers& layers, int most);

void order_layers(Layers& layers);
std::vector<double> place_boxes(const Layers& layers);  // the middle of each box, from an arbitrary origin

// Of a sheet without groups: `nodes` with its ports, all in topological order. At least `width` wide; ports stand at
// its sides.
struct Sheet {
  std::vector<LayoutBox> nodes;
  std::vector<std::vector<PlanePoint>> edges;
  std::int32_t width = 0, height = 0;
};
Sheet lay_out_sheet(std::span<const Extent> nodes, Ports ports, std::span<const LayoutEdge> edges, std::int32_t width);

inline constexpr std::int32_t box_gap = 32, bend_gap = 24, line_gap = 10;  // box to box, box to bend, bend to bend

}  // namespace taskspec
