// One sheet of a layout: its boxes in layers, and the edges as lines.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/layout/layers.hpp"

namespace taskspec {

Neighbours::Neighbours(std::size_t boxes, std::span<const LayoutEdge> segments, bool forward) {
  starts_.assign(boxes + 1, 0);
  for (const LayoutEdge& s : segments) ++starts_[(forward ? s.from : s.to) + 1];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  items_.resize(segments.size());
  std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
  for (const LayoutEdge& s : segments)
    items_[next[forward ? s.from : s.to]++] =
        forward ? Neighbour{s.to, s.to_offset, s.from_offset} : Neighbour{s.from, s.from_offset, s.to_offset};
}

int sweeps_for(const Layers& layers, int most) {
  constexpr std::size_t work = 1'000'000;  // segments gone over by one phase
  return static_cast<int>(
      std::clamp<std::size_t>(work / (layers.segments.size() + 1), 2, static_cast<std::size_t>(most)));
}

namespace {

constexpr std::int32_t layer_gap = 72;

class SheetLayout {
 public:
  SheetLayout(std::span<const Extent> nodes, Ports ports, std::span<const LayoutEdge> edges, std::int32_t width)
      : edges_(edges), width_(width) {
    layers_.boxes.assign(nodes.begin(), nodes.end());
    layers_.nodes = nodes.size();
    layers_.ports = ports;
  }

  Sheet run() {
    assign_layers();
    add_bends();
    layers_.before = Neighbours(layers_.boxes.size(), layers_.segments, false);
    layers_.after = Neighbours(layers_.boxes.size(), layers_.segments, true);
    fill_layers();
    order_layers(layers_);
    middle_ = place_boxes(layers_);
    place_columns();
    return drawn();
  }

 private:
  // Longest paths; who has nothing before it moves up to who needs it first. Ports have a layer for themselves.
  void assign_layers() {
    std::vector<std::uint32_t>& layer = layers_.layer;
    const auto in = static_cast<std::uint32_t>(layers_.ports.in);
    const auto out = static_cast<std::uint32_t>(layers_.nodes - layers_.ports.out);
    layer.assign(layers_.nodes, in > 0 ? 1 : 0);
    std::fill(layer.begin(), layer.begin() + in, 0);
    // Sources of edges stand before their targets, so one pass over edges by target is enough.
    Neighbours before(layers_.nodes, edges_, false), after(layers_.nodes, edges_, true);
    for (std::uint32_t node = in; node < layers_.nodes; ++node)
      for (const Neighbour& from : before.of(node)) layer[node] = std::max(layer[node], layer[from.box] + 1);
    const std::uint32_t last = layer.empty() ? 0 : *std::max_element(layer.begin(), layer.end());
    const bool behind_boxes = out == in || *std::max_element(layer.begin() + in, layer.begin() + out) < last;
    std::fill(layer.begin() + out, layer.end(), behind_boxes ? last : last + 1);
    for (std::uint32_t node = in; node < out; ++node) {
      if (!before.of(node).empty() || after.of(node).empty()) continue;
      std::uint32_t first = UINT32_MAX;
      for (const Neighbour& to : after.of(node)) first = std::min(first, layer[to.box]);
      layer[node] = first - 1;
    }
  }

  // A long edge gets an empty box in each layer that it crosses, so that it takes its place among the others. There is
  // a limit to how many: edges over all of a long graph would cost layers x edges. The longest run straight.
  void add_bends() {
    std::uint32_t longest = longest_bend();
    for (const LayoutEdge& edge : edges_) {
      std::uint32_t at = edge.from, crossed = layers_.layer[edge.to] - layers_.layer[at] - 1;
      Bends& bends = bends_.emplace_back();
      bends.first = static_cast<std::uint32_t>(layers_.boxes.size());
      if (crossed > longest) continue;
      std::int32_t offset = edge.from_offset;
      for (std::uint32_t k = 0; k < crossed; ++k) {
        auto bend = static_cast<std::uint32_t>(layers_.boxes.size());
        layers_.boxes.push_back({0, 0});
        layers_.layer.push_back(layers_.layer[at] + 1);
        layers_.segments.push_back({at, bend, offset, 0});
        at = bend, offset = 0;
      }
      bends.count = crossed;
      layers_.segments.push_back({at, edge.to, offset, edge.to_offset});
    }
  }

  std::uint32_t longest_bend() const {
    std::vector<std::uint32_t> by_length;  // how many edges cross so many layers
    for (const LayoutEdge& edge : edges_) {
      std::uint32_t crossed = layers_.layer[edge.to] - layers_.layer[edge.from] - 1;
      if (by_length.size() <= crossed) by_length.resize(crossed + 1, 0);
      ++by_length[crossed];
    }
    std::uint64_t room = 20'000 + 2 * (layers_.nodes + edges_.size());
    for (std::uint32_t length = 0; length < by_length.size(); ++length) {
      std::uint64_t cost = std::uint64_t{length} * by_length[length];
      if (cost > room) return length - 1;
      room -= cost;
    }
    return UINT32_MAX;
  }

  void fill_layers() {
    const std::vector<std::uint32_t>& layer = layers_.layer;
    layers_.order.resize(layer.empty() ? 0 : *std::max_element(layer.begin(), layer.end()) + 1);
    for (std::uint32_t box = 0; box < layers_.boxes.size(); ++box) layers_.order[layer[box]].push_back(box);
  }

  // Where many lines pass from one layer to the next there is more room between them.
  void place_columns() {
    std::vector<std::uint32_t> slanted(layers_.order.size() + 1, 0);
    for (const LayoutEdge& s : layers_.segments)
      if (std::abs(middle_[s.from] + s.from_offset - middle_[s.to] - s.to_offset) > 200) ++slanted[layers_.layer[s.to]];
    const std::size_t count = layers_.order.size();
    const bool in = layers_.ports.in > 0, out = layers_.ports.out > 0;
    std::int32_t x = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::int32_t widest = 0;
      for (std::uint32_t box : layers_.order[i]) widest = std::max(widest, layers_.boxes[box].width);
      if (i > 0) {
        x += (in && i == 1) || (out && i + 1 == count) ? FrameRoom::port : layer_gap;
        x += static_cast<std::int32_t>(std::min<std::uint32_t>(slanted[i] * 4, 120));
      }
      if (out && i + 1 == count) x = std::max(x, width_);
      columns_.push_back({x, x + widest});
      x += widest;
    }
    width_ = std::max(width_, x);
  }

  // Whole pixels, nothing above or left of the origin. Middles are rounded down, so that distances lose at most one
  // and what is level stays level; a sum of fractions may end just below the whole pixel that it means.
  Sheet drawn() const {
    auto pixel = [&](std::uint32_t box) { return static_cast<std::int32_t>(std::floor(middle_[box] + 1e-6)); };
    std::int32_t top = layers_.boxes.empty() ? 0 : INT32_MAX;
    for (std::uint32_t box = 0; box < layers_.boxes.size(); ++box)
      top = std::min(top, pixel(box) - layers_.boxes[box].height / 2);
    auto y_of = [&](std::uint32_t box) { return pixel(box) - top; };
    auto column = [&](std::uint32_t box) -> const Column& { return columns_[layers_.layer[box]]; };
    Sheet sheet;
    sheet.width = width_;
    for (std::uint32_t box = 0; box < layers_.boxes.size(); ++box)
      sheet.height = std::max(sheet.height, y_of(box) - layers_.boxes[box].height / 2 + layers_.boxes[box].height);
    for (std::uint32_t node = 0; node < layers_.nodes; ++node) {
      const Extent& box = layers_.boxes[node];
      sheet.nodes.push_back({column(node).left, y_of(node) - box.height / 2, box.width, box.height});
    }
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      std::vector<PlanePoint>& line = sheet.edges.emplace_back();
      const LayoutEdge& edge = edges_[i];
      const std::int32_t begin = column(edge.from).left + layers_.boxes[edge.from].width;
      const std::int32_t level = y_of(edge.from) + edge.from_offset;
      line.push_back({begin, level});
      if (begin < column(edge.from).right) {  // a wider box of that layer may stand above or below
        line.push_back({begin, level});
        line.push_back({column(edge.from).right, level});
      }
      for (std::uint32_t bend = bends_[i].first; bend < bends_[i].first + bends_[i].count; ++bend) {
        line.push_back({column(bend).left, y_of(bend)});  // level past the boxes of that layer
        line.push_back({column(bend).right, y_of(bend)});
      }
      line.push_back({column(edge.to).left, y_of(edge.to) + edge.to_offset});
    }
    return sheet;
  }

  struct Bends {
    std::uint32_t first = 0, count = 0;
  };
  struct Column {
    std::int32_t left = 0, right = 0;
  };
  std::span<const LayoutEdge> edges_;
  Layers layers_;
  std::vector<Bends> bends_;     // by edge
  std::vector<Column> columns_;  // by layer
  std::vector<double> middle_;   // y
  std::int32_t width_;           // at least
};

}  // namespace

Sheet lay_out_sheet(std::span<const Extent> nodes, Ports ports, std::span<const LayoutEdge> edges, std::int32_t width) {
  return SheetLayout(nodes, ports, edges, width).run();
}

}  // namespace taskspec
