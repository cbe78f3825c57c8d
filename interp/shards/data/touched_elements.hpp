// Which elements of a region one shard touches: what its points take, what they get of others, what it answers for. Its
// memory has room for those alone, where they lie so thin that this pays.
//
//   TouchedElements touched(forest, TouchedElements::Memory::automatic);
//   if (touched.is_new(cells, Why::points, key)) touched.add(cells, pieces_of_own_points);
//   touched.each_change([&](RegionId root, auto packed) { recorder.want_memory(root, packed); });
//
// What touches no more than something did before need not be added. Elements never go.
#pragma once
#include <memory>
#include <set>

#include "ir/base/function_ref.hpp"
#include "ir/region/forest.hpp"
#include "ir/region/packed_places.hpp"

namespace taskspec {

class TouchedElements {
 public:
  enum class Memory : std::uint8_t {
    automatic,  // as it pays
    flat,       // always all elements
    packed,     // always those that are touched
  };
  enum class Why : std::uint8_t { points, contributions, total, fills };

  TouchedElements(const RegionForest& forest, Memory memory) : forest_(forest), memory_(memory) {}

  // Whether it matters what is touched there: else its memory has room for all elements anyway.
  bool asks(RegionId root);
  // It asks, and nothing that has this number for this reason has been added.
  bool is_new(RegionId root, Why why, std::uint64_t number);
  void add(RegionId root, const Intervals& elements);
  void add(RegionId root, const IndexSpace& points) { add(root, points.as_intervals(forest_[root].extents)); }
  // Regions that are to have other memory from now on, each once, and those that may once. Null: room for all elements.
  void each_change(FunctionRef<void(RegionId, std::shared_ptr<const PackedPlaces>)> visit);
  void forget(RegionId root);  // it has gone
  // Numbers may mean something else from now on.
  void forget_numbers();
  Intervals of(RegionId root);
  std::int64_t packed_elements() const;  // of all regions whose memory has room for no others
  std::size_t bytes() const;

 private:
  struct Tree {
    std::uint64_t serial = 0;  // of the region
    std::size_t width = 0;     // of its widest field
    Intervals touched;
    std::set<std::pair<Why, std::uint64_t>> known;
    bool is_told = false, is_packed = false, has_grown = false;
  };
  Tree& tree(RegionId root);

  const RegionForest& forest_;
  const Memory memory_;
  std::vector<Tree> trees_;  // by root
  std::vector<RegionId> grown_;
};

}  // namespace taskspec
