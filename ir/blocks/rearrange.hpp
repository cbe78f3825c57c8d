// Rearrangements: what an edge of a block graph does to the box that it carries. Each is a map from places of the target
// to places of the source, with holes, which are zeros; the ones of an edge are composed, so that a chain of them is one
// gather, whatever its length.
//
//   img -> pad | reflect(axis: "x") | shift(left: 1, wrap: true)
//   IndexMap map = compose(edge.moves, {28, 28, 1});     map.target == Extents{28, 28, 1}
//   map.gather(source_bytes, target_bytes, element_size)
//
// Meaning of all eleven: the records, in rearrangements.cpp, one function each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/base/source.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

// Where each element of a target comes from. Held as an affine rule where it has one (strides and an offset within
// bounds), else as a table of places, -1 for a hole.
class IndexMap {
 public:
  static IndexMap identity(const Extents& extents);
  // target[i] = source[places[i]], 0 where that is -1. The places lie in the source.
  static IndexMap table(Extents source, Extents target, std::vector<std::int32_t> places);
  // Place = offset + sum of strides[k] * (index of axis k): all of them lie in the source.
  static IndexMap affine(Extents source, Extents target, std::int64_t offset, Extents strides);

  const Extents& source() const { return source_; }
  const Extents& target() const { return target_; }
  std::int64_t place(std::int64_t target) const;  // -1: a hole
  bool is_identity() const;                       // the same places in the same order; extents may differ
  bool is_affine() const { return places_ == nullptr; }
  bool is_bijection() const;
  IndexMap then(const IndexMap& next) const;  // next.source() has as many elements as target()
  IndexMap inverse() const;                   // of a bijection

  // Elements of 1, 2, 4 or 8 bytes; target elements in holes become 0.
  void gather(std::span<const std::byte> source, std::span<std::byte> target, std::size_t element) const;
  Array gather(const Array& source) const;

 private:
  Extents source_, target_, strides_;
  std::int64_t offset_ = 0;
  std::shared_ptr<const std::vector<std::int32_t>> places_;
};

struct RearrangeDef;

// A rearrangement of an edge. `numbers` is what files call its matrix, in the form that the record describes:
// PERMUTE the permutation, SHIFT [dy, dx, cyclic], ROTATE [degrees], SCALE [k, l], SHEAR [a, b], REFLECT [axis],
// AFFINE 2 x 3, PROJECT 3 x 3, SHUFFLE indices, RESHAPE axes from fastest to slowest.
struct Rearrangement {
  const RearrangeDef* def = nullptr;
  std::vector<std::int64_t> numbers;
  Span span = {};
  std::string text() const;  // "shift(left: 1, wrap: true)"
  friend bool operator==(const Rearrangement& a, const Rearrangement& b) {
    return a.def == b.def && a.numbers == b.numbers;
  }
};

struct RearrangeDef {
  std::string_view name;   // in a text: "reflect"
  std::string_view label;  // in files: "REFLECT"
  int number = 0;          // there
  std::string_view doc;
  // The map from extents [y, x, f], [y, x] or [f] (as the box has them). `wanted`: the extents at the other end, which
  // RESHAPE needs; empty: unknown. Errors say what does not fit.
  Result<IndexMap> (*map)(std::span<const std::int64_t> numbers, const Extents& source, const Extents& wanted,
                          Span span) = nullptr;
  std::string (*text)(std::span<const std::int64_t> numbers) = nullptr;  // its arguments in a text: "axis: \"x\""
};

std::span<const RearrangeDef* const> all_rearrangements();  // by number
const RearrangeDef* rearrangement_named(std::string_view name_or_label);

// One map for a list of them, from left to right.
Result<IndexMap> compose(std::span<const Rearrangement> moves, const Extents& source, const Extents& target, Span span);

}  // namespace taskspec
