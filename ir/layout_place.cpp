// How far down each box stands, order and distances given: as level with its neighbours as can be, long edges before
// all others.
#include "ir/layout_layers.hpp"

namespace taskspec {

namespace {

class Placing {
 public:
  explicit Placing(const Layers& layers) : layers_(layers), middle_(layers.boxes.size()) {}

  std::vector<double> run() {
    stack();
    int sweeps = sweeps_for(layers_, 16);
    for (int sweep = 0; sweep < sweeps; ++sweep)
      for (std::size_t i = 0; i < layers_.order.size(); ++i)
        level(layers_.order[sweep % 2 == 0 ? i : layers_.order.size() - 1 - i], sweep % 2 == 0, sweep + 2 >= sweeps);
    straighten();
    return std::move(middle_);
  }

 private:
  double half(std::uint32_t box) const { return layers_.boxes[box].height / 2.0; }
  double distance(std::uint32_t above, std::uint32_t below) const {
    int bends = layers_.is_bend(above) + layers_.is_bend(below);
    return half(above) + half(below) + (bends == 0 ? box_gap : bends == 1 ? bend_gap : line_gap);
  }

  void stack() {
    for (const std::vector<std::uint32_t>& layer : layers_.order) {
      double y = 0;
      for (std::size_t k = 0; k < layer.size(); ++k) {
        if (k > 0) y += distance(layer[k - 1], layer[k]);
        middle_[layer[k]] = y;
      }
      for (std::uint32_t box : layer) middle_[box] -= y / 2;
    }
  }

  struct Wish {
    double place, weight;
  };

  // Neither has anybody else on the side of the other: tasks of a chain, mostly.
  bool is_pair(std::uint32_t box, std::uint32_t other, bool other_before) const {
    const Neighbours &towards = other_before ? layers_.before : layers_.after,
                     &back = other_before ? layers_.after : layers_.before;
    return towards.of(box).size() == 1 && back.of(other).size() == 1;
  }

  // Between two bends a line shall be straight, whatever that costs the boxes beside it.
  Wish wish_of(std::uint32_t box, bool forward, bool both) const {
    double sum = 0, weights = 0;
    for (bool side : {forward, !forward}) {
      if (side != forward && !both) break;
      for (const Neighbour& n : (side ? layers_.before : layers_.after).of(box)) {
        double weight = layers_.is_bend(box) && layers_.is_bend(n.box) ? 8 : is_pair(box, n.box, side) ? 4 : 1;
        sum += weight * (middle_[n.box] + n.offset - n.own_offset);
        weights += weight;
      }
    }
    if (weights == 0) return {middle_[box], 0.1};
    return {sum / weights, layers_.is_bend(box) ? 4.0 : 1.0};
  }

  // The nearest places to where the boxes of a layer would like to be that keep order and distance: boxes that get
  // in each other's way move as one block to the mean of their wishes.
  void level(const std::vector<std::uint32_t>& layer, bool forward, bool both) {
    struct Group {
      double sum, weight;  // of the wishes, each less its offset
      std::size_t boxes;
      double mean() const { return sum / weight; }
    };
    std::vector<Group> groups;
    std::vector<double> offset(layer.size(), 0);
    for (std::size_t k = 0; k < layer.size(); ++k) {
      if (k > 0) offset[k] = offset[k - 1] + distance(layer[k - 1], layer[k]);
      Wish wish = wish_of(layer[k], forward, both);
      Group group{wish.weight * (wish.place - offset[k]), wish.weight, 1};
      while (!groups.empty() && groups.back().mean() >= group.mean()) {
        group.sum += groups.back().sum;
        group.weight += groups.back().weight;
        group.boxes += groups.back().boxes;
        groups.pop_back();
      }
      groups.push_back(group);
    }
    std::size_t k = 0;
    for (const Group& group : groups)
      for (std::size_t n = 0; n < group.boxes; ++n, ++k) middle_[layer[k]] = group.mean() + offset[k];
  }

  // Sweeps bring a long edge nearly level; where there is room it becomes so entirely. The bends of an edge follow one
  // another.
  void straighten() {
    std::vector<std::uint32_t> position(layers_.boxes.size());
    for (const std::vector<std::uint32_t>& layer : layers_.order)
      for (std::size_t k = 0; k < layer.size(); ++k) position[layer[k]] = static_cast<std::uint32_t>(k);
    auto fits = [&](std::uint32_t bend, double y) {
      const std::vector<std::uint32_t>& layer = layers_.order[layers_.layer[bend]];
      std::size_t k = position[bend];
      constexpr double rounding = 1e-6;
      return (k == 0 || y - middle_[layer[k - 1]] >= distance(layer[k - 1], bend) - rounding) &&
             (k + 1 == layer.size() || middle_[layer[k + 1]] - y >= distance(bend, layer[k + 1]) - rounding);
    };
    for (auto first = static_cast<std::uint32_t>(layers_.nodes), end = first; first < layers_.boxes.size();
         first = end) {
      double sum = 0;
      for (bool more = true; more; more = layers_.is_bend(layers_.after.of(end - 1)[0].box)) sum += middle_[end++];
      double mean = sum / (end - first);
      bool room = true;
      for (std::uint32_t bend = first; bend < end; ++bend) room = room && fits(bend, mean);
      for (std::uint32_t bend = first; room && bend < end; ++bend) middle_[bend] = mean;
    }
  }

  const Layers& layers_;
  std::vector<double> middle_;
};

}  // namespace

std::vector<double> place_boxes(const Layers& layers) { return Placing(layers).run(); }

}  // namespace taskspec
