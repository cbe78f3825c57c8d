// How far down each box stands, order and distances given: as level with its neighbours as can be, long edges before
// all others.
#include <utility>

#include "ir/layout/layers.hpp"

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

  // Sweeps bring long edges and chains nearly level; where there is room they become so entirely: bends first, then
  // whatever has only each other.
  void straighten() {
    position_.resize(layers_.boxes.size());
    for (const std::vector<std::uint32_t>& layer : layers_.order)
      for (std::size_t k = 0; k < layer.size(); ++k) position_[layer[k]] = static_cast<std::uint32_t>(k);
    straighten_runs([this](std::uint32_t a, std::uint32_t b) { return layers_.is_bend(a) && layers_.is_bend(b); });
    straighten_runs([this](std::uint32_t a, std::uint32_t b) { return is_pair(a, b, false); });
  }

  // The one box after this one that it is linked to; itself if there is none.
  template <class Linked>
  std::uint32_t next_of(std::uint32_t box, const Linked& linked) const {
    std::span<const Neighbour> after = layers_.after.of(box);
    return after.size() == 1 && linked(box, after[0].box) ? after[0].box : box;
  }

  template <class Linked>
  void straighten_runs(const Linked& linked) {
    std::vector<bool> inside(layers_.boxes.size(), false);
    for (std::uint32_t box = 0; box < layers_.boxes.size(); ++box)
      if (std::uint32_t next = next_of(box, linked); next != box) inside[next] = true;
    std::vector<std::pair<std::uint32_t, double>> run;  // boxes, and how far below the first one each belongs
    for (std::uint32_t box = 0; box < layers_.boxes.size(); ++box) {
      if (inside[box] || next_of(box, linked) == box) continue;
      run.assign(1, {box, 0.0});
      double sum = middle_[box];
      for (std::uint32_t at = box, next; (next = next_of(at, linked)) != at; at = next) {
        const Neighbour& link = layers_.after.of(at)[0];
        run.emplace_back(next, run.back().second + link.own_offset - link.offset);
        sum += middle_[next] - run.back().second;
      }
      // At the mean of where they stand, else level with one of the ends.
      for (double first :
           {sum / static_cast<double>(run.size()), middle_[box], middle_[run.back().first] - run.back().second})
        if (move_run(run, first)) break;
    }
  }

  bool move_run(const std::vector<std::pair<std::uint32_t, double>>& run, double first) {
    for (const auto& [member, below] : run)
      if (!fits(member, first + below)) return false;
    for (const auto& [member, below] : run) middle_[member] = first + below;
    return true;
  }

  bool fits(std::uint32_t box, double y) const {
    const std::vector<std::uint32_t>& layer = layers_.order[layers_.layer[box]];
    std::size_t k = position_[box];
    constexpr double rounding = 1e-6;
    return (k == 0 || y - middle_[layer[k - 1]] >= distance(layer[k - 1], box) - rounding) &&
           (k + 1 == layer.size() || middle_[layer[k + 1]] - y >= distance(box, layer[k + 1]) - rounding);
  }

  const Layers& layers_;
  std::vector<double> middle_;
  std::vector<std::uint32_t> position_;  // in its layer
};

}  // namespace

std::vector<double> place_boxes(const Layers& layers) { return Placing(layers).run(); }

}  // namespace taskspec
