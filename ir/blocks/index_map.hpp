// Which place of a source each place of a target comes from: what a rearrangement of an edge is, and what a chain of
// them is together. Holes, which come from nowhere, are zeros.
//
//   IndexMap mirrored = IndexMap::affine({2, 3}, {2, 3}, 2, {3, -1});     mirrored.place(0) == 2
//   IndexMap both = mirrored.then(mirrored);                              both.is_identity()
//   both.gather(source_bytes, target_bytes, element_size);                one pass, whatever it was composed of
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/types/array.hpp"

namespace taskspec {

// Elements of extents; -1: more than a map can tell apart (2^31 - 1), or an extent below 0.
std::int64_t places_of(const Extents& extents);

// Held as an affine rule where there is one (an offset and a stride per axis of the target), else as a table of places.
class IndexMap {
 public:
  static IndexMap identity(const Extents& extents);
  // target[i] = source[places[i]], 0 where that is -1. The others lie in the source.
  static IndexMap table(Extents source, Extents target, std::vector<std::int32_t> places);
  // Place = offset + sum of strides[k] * (index of axis k of the target): all of them lie in the source.
  static IndexMap affine(Extents source, Extents target, std::int64_t offset, Extents strides);

  const Extents& source() const { return source_; }
  const Extents& target() const { return target_; }
  std::int64_t place(std::int64_t target) const;  // -1: a hole
  bool is_identity() const;                       // the same places in the same order; extents may differ
  bool is_affine() const { return table_ == nullptr; }
  bool is_bijection() const;
  IndexMap then(const IndexMap& next) const;               // next.source() has as many elements as target()
  IndexMap inverse() const;                                // of a bijection
  IndexMap seen_as(Extents source, Extents target) const;  // the same places, other extents with as many elements

  // Elements of 1, 2, 4 or 8 bytes; target elements in holes become 0.
  void gather(std::span<const std::byte> source, std::span<std::byte> target, std::size_t element) const;
  Array gather(const Array& source) const;

 private:
  struct Run {  // of elements that lie side by side at both ends; source -1: of holes
    std::int32_t target, source, length;
  };
  struct Table {
    std::vector<std::int32_t> places;
    std::vector<Run> runs;  // empty where they are so short that element by element is quicker
  };

  template <class T>
  void gather_as(const T* source, T* target) const;
  std::vector<std::int32_t> all_places() const;
  void find_runs(Table& table) const;

  Extents source_, target_;
  Extents strides_;  // of an affine rule, one per axis of the target
  std::int64_t offset_ = 0;
  std::shared_ptr<const Table> table_;
};

}  // namespace taskspec
