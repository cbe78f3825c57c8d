#include "interp/shards/data/total_share.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "interp/host/root_tree.hpp"
#include "interp/shards/bytes.hpp"
#include "interp/shards/collectives/tree.hpp"
#include "ir/base/diag.hpp"
#include "ir/base/hash.hpp"

namespace taskspec {
namespace {

constexpr std::int64_t block_size = RootTree::block_size;

Intervals blocks_of(const Intervals& elements) {
  std::vector<Run> blocks;
  for (const Run& run : elements.runs()) blocks.push_back({run.lo / block_size, (run.hi - 1) / block_size + 1});
  return Intervals::of(std::move(blocks));
}

Intervals elements_of(const Intervals& blocks) {
  std::vector<Run> runs;
  for (const Run& run : blocks.runs()) runs.push_back({run.lo * block_size, run.hi * block_size});
  return Intervals::of_sorted(std::move(runs));
}

}  // namespace

TotalShare::TotalShare(const Intervals& points, const Intervals& own) : blocks_(blocks_of(points)) {
  const Intervals of_others = blocks_of(points - own), whole = blocks_of(own) - of_others;
  parts_ = own & elements_of(of_others);
  std::vector<Run> numbers;
  for (const Run& run : whole.runs()) {
    const std::int64_t first = blocks_.rank_of(run.lo);
    numbers.push_back({first, first + run.size()});
  }
  const Intervals whole_numbers = Intervals::of_sorted(std::move(numbers));  // runs that follow each other are one
  for (const Run& node : whole_subtrees(blocks_.size(), whole_numbers.runs())) {
    const Intervals inside = points & elements_of(blocks_.ranked(node.lo, node.hi));
    const std::size_t first = elements_.size();
    elements_.insert(elements_.end(), inside.runs().begin(), inside.runs().end());
    nodes_.push_back({node, first, elements_.size()});
  }
  id_ = hash64(std::as_bytes(points.runs())) * 0x9E3779B97F4A7C15 ^ hash64(std::as_bytes(own.runs()));
}

std::size_t TotalShare::bytes() const {
  return sizeof *this + nodes_.capacity() * sizeof(Node) +
         (elements_.capacity() + blocks_.runs().size() + parts_.runs().size()) * sizeof(Run);
}

namespace {

// {number of nodes, {first, last, value}..., {first index, count, elements}...}
Bytes message_of(const TotalShare& share, ReduceOp op, Precision precision, const std::byte* field,
                 const PackedPlaces* packed) {
  const auto width = static_cast<std::size_t>(info(precision).bytes);
  const auto at = [&](const Run& run) { return field + static_cast<std::size_t>(place_in(packed, run.lo)) * width; };
  Bytes bytes;
  ByteWriter out(bytes);
  out.put(share.nodes().size());
  for (const TotalShare::Node& node : share.nodes()) {
    RootTree tree(op, precision);
    for (const Run& run : share.elements().subspan(node.first, node.last - node.first))
      tree.add(run.lo, at(run), run.size());
    out.put(node.numbers.lo).put(node.numbers.hi).put(tree.value());
  }
  for (const Run& run : share.parts().runs())
    out.put(run.lo).put(run.size()).raw(ByteView(at(run), static_cast<std::size_t>(run.size()) * width));
  return bytes;
}

// The tree, of what all shards have told.
class Told {
 public:
  Told(const Intervals& blocks, ReduceOp op, Precision precision)
      : blocks_(blocks), op_(op), precision_(precision), folds_(op, precision) {}

  void add(ByteView message) {
    const auto width = static_cast<std::size_t>(info(precision_).bytes);
    ByteReader in(message);
    for (auto nodes = in.get<std::size_t>(); nodes > 0 && in.ok(); --nodes) {
      const auto lo = in.get<std::int64_t>(), hi = in.get<std::int64_t>();
      nodes_[{lo, hi}] = in.get<RootTree::Wide>();
    }
    while (in.left() > 0) {
      const auto first = in.get<std::int64_t>(), count = in.get<std::int64_t>();
      parts_[first] = in.raw(static_cast<std::size_t>(count) * width);
    }
    if (!in.ok()) throw ContentsDiffer{"the total of a field cannot be read"};
  }
  void finish(std::byte* into) {
    const RootTree::Wide all = blocks_.empty() ? RootTree(op_, precision_).value() : value({0, blocks_.size()});
    folds_.put(all, reduced_precision(precision_, op_), into);
  }

 private:
  RootTree::Wide value(Run node) {
    if (const auto known = nodes_.find({node.lo, node.hi}); known != nodes_.end()) return known->second;
    if (node.size() == 1) return block(blocks_.nth(node.lo));
    const std::int64_t middle = node.lo + left_leaves(node.size());
    const RootTree::Wide left = value({node.lo, middle});
    return folds_.merged(left, value({middle, node.hi}));
  }
  RootTree::Wide block(std::int64_t number) {
    RootTree tree(op_, precision_);
    const auto width = static_cast<std::size_t>(info(precision_).bytes);
    const std::int64_t end = (number + 1) * block_size;
    for (auto part = first_in(number); part != parts_.end() && part->first < end; ++part) {
      const std::int64_t first = std::max(part->first, number * block_size);
      const std::int64_t last = std::min(part->first + static_cast<std::int64_t>(part->second.size() / width), end);
      tree.add(first, part->second.data() + static_cast<std::size_t>(first - part->first) * width, last - first);
    }
    if (tree.empty()) throw ContentsDiffer{"no shard has block " + std::to_string(number) + " of a field"};
    return tree.value();
  }
  // Parts may go on over several blocks.
  std::map<std::int64_t, ByteView>::const_iterator first_in(std::int64_t number) const {
    const std::int64_t begin = number * block_size;
    auto part = parts_.upper_bound(begin);
    const auto width = static_cast<std::size_t>(info(precision_).bytes);
    if (part != parts_.begin() &&
        std::prev(part)->first + static_cast<std::int64_t>(std::prev(part)->second.size() / width) > begin)
      --part;
    return part;
  }

  const Intervals& blocks_;
  const ReduceOp op_;
  const Precision precision_;
  RootTree folds_;
  std::map<std::pair<std::int64_t, std::int64_t>, RootTree::Wide> nodes_;
  std::map<std::int64_t, ByteView> parts_;
};

}  // namespace

void add_up(DataPort& port, const TotalShare& share, ReduceOp op, Precision precision, const std::byte* field,
            const PackedPlaces* packed, std::byte* into, FunctionRef<void()> meanwhile) {
  // The collective may outlive the wait, where `meanwhile` throws.
  const auto all = std::make_shared<std::optional<std::vector<Bytes>>>();
  port.collectives().all_gather(port.next_collective(), message_of(share, op, precision, field, packed),
                                [all](const std::vector<Bytes>& come) { *all = come; });
  port.wait_until([&] { return all->has_value(); }, meanwhile);
  Told told(share.blocks(), op, precision);
  for (const Bytes& of_shard : **all) told.add(of_shard);
  told.finish(into);
}

}  // namespace taskspec
