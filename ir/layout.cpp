#include "ir/layout.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace taskspec {

namespace {

constexpr std::int32_t layer_gap = 60, box_gap = 20;
constexpr std::uint32_t longest_bend = 16;  // edges over more layers run straight: bends would cost layers x edges
constexpr int ordering_sweeps = 4, levelling_sweeps = 4;

// Lists of neighbours, one after another.
struct Neighbours {
  std::vector<std::uint32_t> starts, items;
  std::span<const std::uint32_t> of(std::uint32_t node) const {
    return {items.data() + starts[node], items.data() + starts[node + 1]};
  }
};

Neighbours neighbours_of(std::size_t nodes, const std::vector<LayoutEdge>& edges, bool forward) {
  Neighbours lists;
  lists.starts.assign(nodes + 1, 0);
  for (const LayoutEdge& edge : edges) ++lists.starts[(forward ? edge.from : edge.to) + 1];
  std::partial_sum(lists.starts.begin(), lists.starts.end(), lists.starts.begin());
  lists.items.resize(edges.size());
  std::vector<std::uint32_t> next(lists.starts.begin(), lists.starts.end() - 1);
  for (const LayoutEdge& edge : edges)
    lists.items[next[forward ? edge.from : edge.to]++] = forward ? edge.to : edge.from;
  return lists;
}

class Sheet {
 public:
  Sheet(std::span<const Extent> nodes, std::span<const LayoutEdge> edges)
      : nodes_(nodes.size()), boxes_(nodes.begin(), nodes.end()), edges_(edges) {}

  Layout run() {
    assign_layers();
    add_bends();
    before_ = neighbours_of(boxes_.size(), segments_, false);
    after_ = neighbours_of(boxes_.size(), segments_, true);
    fill_layers();
    for (int sweep = 0; sweep < ordering_sweeps; ++sweep) order_layers(sweep % 2 == 0);
    place_columns();
    stack();
    for (int sweep = 0; sweep < levelling_sweeps; ++sweep) level(sweep % 2 == 0);
    return drawn();
  }

 private:
  void assign_layers() {
    layer_.assign(boxes_.size(), 0);
    // Sources of edges stand before their targets, so one pass over edges by target is enough.
    Neighbours before = neighbours_of(boxes_.size(), {edges_.begin(), edges_.end()}, false);
    for (std::uint32_t node = 0; node < boxes_.size(); ++node)
      for (std::uint32_t from : before.of(node)) layer_[node] = std::max(layer_[node], layer_[from] + 1);
  }

  // A long edge gets an empty box in each layer that it crosses, so that it takes its place among the others.
  void add_bends() {
    bends_.resize(edges_.size());
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      std::uint32_t at = edges_[i].from;
      std::uint32_t crossed = layer_[edges_[i].to] - layer_[at] - 1;
      bends_[i].first = static_cast<std::uint32_t>(boxes_.size());
      if (crossed >= longest_bend) continue;
      for (std::uint32_t k = 0; k < crossed; ++k) {
        auto bend = static_cast<std::uint32_t>(boxes_.size());
        boxes_.push_back({0, 0});
        layer_.push_back(layer_[at] + 1);
        segments_.push_back({at, bend});
        at = bend;
      }
      bends_[i].count = crossed;
      segments_.push_back({at, edges_[i].to});
    }
  }

  void fill_layers() {
    std::uint32_t count = layer_.empty() ? 0 : *std::max_element(layer_.begin(), layer_.end()) + 1;
    layers_.resize(count);
    position_.resize(boxes_.size());
    for (std::uint32_t node = 0; node < boxes_.size(); ++node) {
      position_[node] = static_cast<double>(layers_[layer_[node]].size());
      layers_[layer_[node]].push_back(node);
    }
  }

  // By the mean position of the neighbours on one side; who has none stays where it is.
  void order_layers(bool forward) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      std::vector<std::uint32_t>& layer = layers_[forward ? i : layers_.size() - 1 - i];
      std::vector<std::pair<double, std::uint32_t>> keys;
      keys.reserve(layer.size());
      for (std::uint32_t node : layer) {
        std::span<const std::uint32_t> near = (forward ? before_ : after_).of(node);
        double sum = 0;
        for (std::uint32_t other : near) sum += position_[other];
        keys.emplace_back(near.empty() ? position_[node] : sum / static_cast<double>(near.size()), node);
      }
      std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t k = 0; k < layer.size(); ++k) {
        layer[k] = keys[k].second;
        position_[layer[k]] = static_cast<double>(k);
      }
    }
  }

  void place_columns() {
    std::int32_t x = 0;
    for (const std::vector<std::uint32_t>& layer : layers_) {
      std::int32_t widest = 0;
      for (std::uint32_t node : layer) widest = std::max(widest, boxes_[node].width);
      columns_.push_back({x, x + widest});
      x += widest + layer_gap;
    }
  }

  double half(std::uint32_t node) const { return boxes_[node].height / 2.0; }
  double distance(std::uint32_t above, std::uint32_t below) const { return half(above) + half(below) + box_gap; }

  void stack() {
    middle_.resize(boxes_.size());
    for (const std::vector<std::uint32_t>& layer : layers_) {
      double y = 0;
      for (std::size_t k = 0; k < layer.size(); ++k) {
        if (k > 0) y += distance(layer[k - 1], layer[k]);
        middle_[layer[k]] = y;
      }
      double centre = y / 2;
      for (std::uint32_t node : layer) middle_[node] -= centre;
    }
  }

  void level(bool forward) {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      level_layer(layers_[forward ? i : layers_.size() - 1 - i], forward);
  }

  // The nearest places to where the boxes of a layer would like to be that keep order and distance: boxes that get
  // in each other's way move as one block to the mean of their wishes.
  void level_layer(const std::vector<std::uint32_t>& layer, bool forward) {
    struct Group {
      double wish = 0;  // summed over its boxes, each less its offset
      double count = 0;
      double mean() const { return wish / count; }
    };
    std::vector<Group> groups;
    std::vector<double> offset(layer.size(), 0);
    for (std::size_t k = 0; k < layer.size(); ++k) {
      if (k > 0) offset[k] = offset[k - 1] + distance(layer[k - 1], layer[k]);
      std::span<const std::uint32_t> near = (forward ? before_ : after_).of(layer[k]);
      double sum = 0;
      for (std::uint32_t other : near) sum += middle_[other];
      double wish = near.empty() ? middle_[layer[k]] : sum / static_cast<double>(near.size());
      Group group{wish - offset[k], 1};
      while (!groups.empty() && groups.back().mean() >= group.mean()) {
        group.wish += groups.back().wish;
        group.count += groups.back().count;
        groups.pop_back();
      }
      groups.push_back(group);
    }
    std::size_t k = 0;
    for (const Group& group : groups)
      for (double n = 0; n < group.count; ++n, ++k) middle_[layer[k]] = group.mean() + offset[k];
  }

  // Whole pixels, nothing above or left of the origin. Middles are rounded down, so that distances lose at most one
  // and what is level stays level; a sum of fractions may end just below the whole pixel that it means.
  Layout drawn() const {
    auto pixel = [&](std::uint32_t node) { return static_cast<std::int32_t>(std::floor(middle_[node] + 1e-6)); };
    std::int32_t top = 0;
    for (std::uint32_t node = 0; node < boxes_.size(); ++node)
      top = std::min(top, pixel(node) - boxes_[node].height / 2);
    auto y_of = [&](std::uint32_t node) { return pixel(node) - top; };
    Layout layout;
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      const Extent& box = boxes_[node];
      layout.nodes.push_back({columns_[layer_[node]].left, y_of(node) - box.height / 2, box.width, box.height});
    }
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      std::vector<Point>& line = layout.edges.emplace_back();
      std::uint32_t from = edges_[i].from, to = edges_[i].to;
      line.push_back({columns_[layer_[from]].left + boxes_[from].width, y_of(from)});
      for (std::uint32_t bend = bends_[i].first; bend < bends_[i].first + bends_[i].count; ++bend) {
        line.push_back({columns_[layer_[bend]].left, y_of(bend)});  // level past the boxes of that layer
        line.push_back({columns_[layer_[bend]].right, y_of(bend)});
      }
      line.push_back({columns_[layer_[to]].left, y_of(to)});
    }
    return layout;
  }

  struct Bends {
    std::uint32_t first = 0, count = 0;
  };
  struct Column {
    std::int32_t left = 0, right = 0;
  };
  std::size_t nodes_;
  std::vector<Extent> boxes_;  // nodes, then bends
  std::span<const LayoutEdge> edges_;
  std::vector<Bends> bends_;          // by edge
  std::vector<LayoutEdge> segments_;  // between neighbouring layers
  std::vector<std::uint32_t> layer_;
  Neighbours before_, after_;
  std::vector<std::vector<std::uint32_t>> layers_;
  std::vector<double> position_;  // in its layer
  std::vector<Column> columns_;   // by layer
  std::vector<double> middle_;    // y
};

}  // namespace

Layout lay_out(std::span<const Extent> nodes, std::span<const LayoutEdge> edges) { return Sheet(nodes, edges).run(); }

}  // namespace taskspec
