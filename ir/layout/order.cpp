// Crossing reduction: layer by layer, boxes are sorted by where their neighbours in the layer before stand, forward and
// backward in turn; the order with the fewest crossings is kept.
#include <algorithm>
#include <cstdint>

#include "ir/layout/layers.hpp"

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
  explicit Ordering(Layers& layers)
      : layers_(layers),
        position_(layers.boxes.size()),
        centred_(layers.boxes.size()),
        first_end_(layers.boxes.size()) {
    find_ends();
    for (const Extent& box : layers.boxes) tallest_ = std::max(tallest_, static_cast<double>(box.height));
    for (std::size_t i = 0; i < layers_.order.size(); ++i) note(i);
  }

  void run() {
    std::vector<std::vector<std::uint32_t>> best;
    std::uint64_t fewest = UINT64_MAX;
    int sweeps = sweeps_for(layers_, 24), since_best = 0;
    for (int sweep = 0; sweep < sweeps && fewest > 0 && since_best < 6; ++sweep, ++since_best) {
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
  struct Key {
    double wish;
    std::uint32_t position, box;
    bool operator<(const Key& other) const {
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

  // Ends at one box are told apart, and never change places with another.
  Key key_of(std::uint32_t box, bool forward) const {
    std::span<const Neighbour> near = (forward ? layers_.before : layers_.after).of(box);
    double sum = 0;
    for (const Neighbour& n : near) sum += centred_[n.box] + n.offset / tallest_;
    return {near.empty() ? centred_[box] : sum / static_cast<double>(near.size()), position_[box], box};
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

  // Segments may cross in front of one box, too: where its ends are counts, from top to bottom.
  struct Out {
    std::uint32_t to = 0, end = 0;  // which end of that box
    std::int32_t own_offset = 0;
  };
  void find_ends() {
    const std::size_t boxes = layers_.boxes.size();
    ends_.resize(boxes), outs_.resize(boxes);
    for (std::uint32_t box = 0; box < boxes; ++box) {
      std::vector<std::int32_t>& ends = ends_[box];
      for (const Neighbour& n : layers_.before.of(box)) ends.push_back(n.own_offset);
      std::sort(ends.begin(), ends.end());
      ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    }
    for (std::uint32_t box = 0; box < boxes; ++box) {
      for (const Neighbour& n : layers_.after.of(box)) {
        const auto end = std::lower_bound(ends_[n.box].begin(), ends_[n.box].end(), n.offset) - ends_[n.box].begin();
        outs_[box].push_back({n.box, static_cast<std::uint32_t>(end), n.own_offset});
      }
      std::stable_sort(outs_[box].begin(), outs_[box].end(),
                       [](const Out& a, const Out& b) { return a.own_offset < b.own_offset; });
    }
  }

  // All pairs of segments that cross, or some number from `enough` on.
  std::uint64_t crossings(std::uint64_t enough) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i + 1 < layers_.order.size() && count < enough; ++i) {
      std::uint64_t passed = 0;
      std::uint32_t ends = 0;
      for (std::uint32_t box : layers_.order[i + 1]) {
        first_end_[box] = ends;
        ends += static_cast<std::uint32_t>(ends_[box].size());
      }
      sums_.reset(ends);
      for (std::uint32_t box : layers_.order[i]) {
        const std::vector<Out>& outs = outs_[box];
        for (std::size_t begin = 0, end = 0; begin < outs.size(); begin = end) {
          while (end < outs.size() && outs[end].own_offset == outs[begin].own_offset) ++end;
          for (std::size_t k = begin; k < end; ++k)
            count += passed - sums_.before(first_end_[outs[k].to] + outs[k].end + 1);
          for (std::size_t k = begin; k < end; ++k) sums_.add(first_end_[outs[k].to] + outs[k].end);
          passed += end - begin;
        }
      }
    }
    return count;
  }

  Layers& layers_;
  std::vector<std::uint32_t> position_;          // by box
  std::vector<double> centred_;                  // by box
  std::vector<std::uint32_t> first_end_;         // by box: of its layer, from top to bottom
  std::vector<std::vector<std::int32_t>> ends_;  // by box: offsets of those that segments lead to, ascending
  std::vector<std::vector<Out>> outs_;           // by box, by own offset
  double tallest_ = 1024;
  std::vector<Key> keys_;
  PrefixSums sums_;
};

}  // namespace

void order_layers(Layers& layers) { Ordering(layers).run(); }

}  // namespace taskspec
