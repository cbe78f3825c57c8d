// Crossing reduction: layer by layer, boxes are sorted by where their neighbours in the layer before stand, forward and
// backward in turn; the order with the fewest crossings is kept.
#include <algorithm>
#include <cstdint>

#include "ir/layout_layers.hpp"

namespace taskspec {

namespace {

// Sums of beginnings of a list of counts that changes.
class PrefixSums {
 public:
  void reset(std::size_t size) { sums_.assign(size + 1, 0); }
  void add(std::size_t position) {
    for (++position; position < sums_.size(); position += position & (~position + 1)) ++sums_[position];
  }
  std::uint64_t before(std::size_t position) const {
    std::uint64_t sum = 0;
    for (; position > 0; position -= position & (~position + 1)) sum += sums_[position];
    return sum;
  }

 private:
  std::vector<std::uint32_t> sums_;
};

class Ordering {
 public:
  explicit Ordering(Layers& layers) : layers_(layers), position_(layers.boxes.size()), centred_(layers.boxes.size()) {
    for (const Layers::Groups& groups : layers.groups)
      for (std::uint32_t group : groups)
        if (group != Layers::no_group) group_count_ = std::max<std::size_t>(group_count_, group + 1);
    for (std::size_t i = 0; i < layers_.order.size(); ++i) note(i);
  }

  void run() {
    std::vector<std::vector<std::uint32_t>> best;
    std::uint64_t fewest = UINT64_MAX;
    int sweeps = sweeps_for(layers_, 24), since_best = 0;
    for (int sweep = 0; sweep < sweeps && fewest > 0 && since_best < 6; ++sweep, ++since_best) {
      find_means();
      for (std::size_t i = 0; i < layers_.order.size(); ++i)
        sort_layer(sweep % 2 == 0 ? i : layers_.order.size() - 1 - i, sweep % 2 == 0);
      std::uint64_t now = crossings(fewest);
      if (now >= fewest) continue;
      fewest = now;
      best = layers_.order;
      since_best = 0;
    }
    if (!best.empty()) layers_.order = std::move(best);
  }

 private:
  // What a box is sorted by: the means of its groups from the outermost on, then its own wish.
  struct Key {
    std::array<double, 3> mean;
    Layers::Groups group;
    double wish;
    std::uint32_t position, box;
    bool operator<(const Key& other) const {
      for (std::size_t i = 0; i < mean.size(); ++i) {
        if (group[i] == other.group[i] && group[i] != Layers::no_group) continue;
        if (mean[i] != other.mean[i]) return mean[i] < other.mean[i];
        if (group[i] != other.group[i]) return group[i] < other.group[i];
      }
      return wish != other.wish ? wish < other.wish : position < other.position;
    }
  };

  // Positions count from the middle of a layer, so that they mean the same in short and long ones.
  void note(std::size_t layer) {
    const std::vector<std::uint32_t>& boxes = layers_.order[layer];
    for (std::size_t k = 0; k < boxes.size(); ++k) {
      position_[boxes[k]] = static_cast<std::uint32_t>(k);
      centred_[boxes[k]] = static_cast<double>(k) - static_cast<double>(boxes.size() - 1) / 2;
    }
  }

  void find_means() {
    if (group_count_ == 0) return;
    means_.assign(group_count_, 0);
    std::vector<std::uint32_t> members(group_count_, 0);
    for (std::uint32_t box = 0; box < layers_.boxes.size(); ++box)
      for (std::uint32_t group : layers_.groups[box]) {
        if (group == Layers::no_group) break;
        means_[group] += centred_[box];
        ++members[group];
      }
    for (std::size_t group = 0; group < group_count_; ++group)
      if (members[group] > 0) means_[group] /= members[group];
  }

  Key key_of(std::uint32_t box, bool forward) const {
    std::span<const Neighbour> near = (forward ? layers_.before : layers_.after).of(box);
    double sum = 0;
    constexpr double tallest = 1024;  // so that ends at one box are told apart, and never change places with another
    for (const Neighbour& n : near) sum += centred_[n.box] + (n.offset - n.own_offset) / tallest;
    Key key{};
    key.wish = near.empty() ? centred_[box] : sum / static_cast<double>(near.size());
    key.position = position_[box];
    key.box = box;
    for (std::size_t i = 0; i < key.mean.size(); ++i) {
      key.group[i] = group_count_ == 0 ? Layers::no_group : layers_.groups[box][i];
      key.mean[i] = key.group[i] == Layers::no_group ? key.wish : means_[key.group[i]];
    }
    return key;
  }

  // Who has no neighbours on that side stays where he is.
  void sort_layer(std::size_t layer, bool forward) {
    std::vector<std::uint32_t>& boxes = layers_.order[layer];
    keys_.clear();
    for (std::uint32_t box : boxes) keys_.push_back(key_of(box, forward));
    std::sort(keys_.begin(), keys_.end());
    for (std::size_t k = 0; k < boxes.size(); ++k) boxes[k] = keys_[k].box;
    note(layer);
  }

  // All pairs of segments that cross, or some number from `enough` on.
  std::uint64_t crossings(std::uint64_t enough) {
    std::uint64_t count = 0;
    std::vector<std::uint32_t> ends;
    for (std::size_t i = 0; i + 1 < layers_.order.size() && count < enough; ++i) {
      std::uint64_t passed = 0;
      sums_.reset(layers_.order[i + 1].size());
      for (std::uint32_t box : layers_.order[i]) {
        ends.clear();
        for (const Neighbour& n : layers_.after.of(box)) ends.push_back(position_[n.box]);
        for (std::uint32_t end : ends) count += passed - sums_.before(end + 1);
        for (std::uint32_t end : ends) sums_.add(end);
        passed += ends.size();
      }
    }
    return count;
  }

  Layers& layers_;
  std::vector<std::uint32_t> position_;  // by box
  std::vector<double> centred_;          // by box
  std::size_t group_count_ = 0;
  std::vector<double> means_;  // by group
  std::vector<Key> keys_;
  PrefixSums sums_;
};

}  // namespace

void order_layers(Layers& layers) { Ordering(layers).run(); }

}  // namespace taskspec
