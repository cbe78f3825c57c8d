// What one shard adds to the total of a field (interp/host/root_tree.hpp): the subtrees of blocks all of whose elements
// it has, folded; of blocks of which others have a part its own elements, as they are. All shards are told these and
// finish the same tree.
//
//   TotalShare share(points, own);                   // of the field; of this shard: made once for a configuration
//   add_up(port, share, ReduceOp::sum, Precision::f64, field, packed, into, meanwhile);
#pragma once
#include <span>

#include "interp/shards/data/data_port.hpp"
#include "ir/records/reduce_op.hpp"
#include "ir/region/packed_places.hpp"

namespace taskspec {

class TotalShare {
 public:
  // A subtree of the blocks that have an element, by their numbers; and the elements in it, of `elements()`.
  struct Node {
    Run numbers;
    std::size_t first = 0, last = 0;
  };

  // Runs of the root's index: all elements, and those that this shard answers for.
  TotalShare(const Intervals& points, const Intervals& own);

  std::uint64_t id() const { return id_; }             // equal content, equal id
  const Intervals& blocks() const { return blocks_; }  // that have an element, of any shard
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Run> elements() const { return elements_; }
  const Intervals& parts() const { return parts_; }  // of blocks that others have elements of, too
  std::size_t bytes() const;

 private:
  Intervals blocks_, parts_;
  std::vector<Node> nodes_;
  std::vector<Run> elements_;
  std::uint64_t id_ = 0;
};

// All shards call it in one order. `into` has the precision of reduced_precision.
void add_up(DataPort& port, const TotalShare& share, ReduceOp op, Precision precision, const std::byte* field,
            const PackedPlaces* packed, std::byte* into, FunctionRef<void()> meanwhile);

}  // namespace taskspec
