// Where the elements of a value come from, while a network becomes blocks: each from a place in what a block makes, or
// it is a constant. Slices, transposes, concatenations and pads only change such tables; what an edge needs of boxes
// and rearrangements is found when a block reads the value.
//
//   BlockGather g = BlockGather::of(conv, {24, 24, 6});
//   g = g.picked({6}, {0, 1, 2, 3, 4, 5});                 the channels of the first pixel
//   std::optional<std::vector<BlockLink>> links = links_of(g);     one box: [0, 0, 0..6], no rearrangement but reshape
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/blocks/block_graph.hpp"

namespace taskspec {

class BlockGather {
 public:
  struct Place {
    std::uint32_t source = 0;  // in sources(); constant: none
    std::int64_t place = 0;    // in what it makes; or the constant
    bool is_constant() const { return source == constant; }
    friend bool operator==(const Place&, const Place&) = default;
  };
  static constexpr std::uint32_t constant = UINT32_MAX;
  struct Source {
    BlockId block;
    Extents extents;
    friend bool operator==(const Source&, const Source&) = default;
  };

  static BlockGather of(BlockId block, Extents extents);
  static BlockGather joined(
      const std::vector<BlockGather>& parts);  // all elements of one behind those of another, as [f]

  const Extents& extents() const { return extents_; }
  std::int64_t size() const;
  const std::vector<Source>& sources() const { return sources_; }
  bool is_whole() const { return places_.empty(); }  // of one block, as that makes it; extents may differ
  Place at(std::int64_t place) const;
  // Element k is what `places` says: of this gather, or a constant.
  BlockGather picked(Extents extents, const std::vector<Place>& places) const;
  // The same with axes in another order: axis k is axis `order[k]`.
  BlockGather permuted(const std::vector<std::size_t>& order) const;
  BlockGather seen_as(Extents extents) const;  // in the same order
  // All elements of one block, each once; then `at` is a permutation of its places.
  bool is_permutation() const;

 private:
  Extents extents_;
  std::vector<Source> sources_;
  std::vector<Place> places_;
};

// One edge for a part of a gather, or a box of constants.
struct BlockLink {
  std::optional<BlockId> from;  // none: constants
  Box source, target;
  std::vector<Rearrangement> moves;
  std::vector<std::int64_t> constants;  // of the target's box
};

inline constexpr std::size_t most_links = 256;  // that fill one cluster

// The edges that bring it into a cluster of its extents; none: it takes more than `most_links`.
std::optional<std::vector<BlockLink>> links_of(const BlockGather& gather);

}  // namespace taskspec
