// Rearrangements: what an edge of a block graph does to the box that it carries. Each is a map from places of the
// target to places of the source, with holes, which are zeros; the ones of an edge are composed, so that a chain of
// them is one gather, whatever its length.
//
//   img -> pad | reflect(axis: "x") | shift(left: 1, wrap: true)
//   Result<IndexMap> map = compose(edge.moves, {28, 28, 1}, {28, 28, 1}, edge.span);     map->gather(image)
//
// What the eleven mean: their records, in rearrange_order.cpp (those that keep the plane or know no plane) and
// rearrange_plane.cpp (those that know rows and columns).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/base/source.hpp"
#include "ir/blocks/index_map.hpp"
#include "ir/records/operand.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

struct RearrangeDef;

// A rearrangement of an edge. `numbers` is what files call its matrix, in the form that the record describes; each
// of them fits into 32 bits.
struct Rearrangement {
  const RearrangeDef* def = nullptr;
  std::vector<std::int64_t> numbers;
  Span span = {};
  std::string text() const;  // "shift(left: 1, wrap: true)"
  friend bool operator==(const Rearrangement& a, const Rearrangement& b) {
    return a.def == b.def && a.numbers == b.numbers;
  }
};

// What a record works on: the extents as the box has them, [y, x, f] or [y, x] or [f], or those of weights.
struct RearrangeCall {
  std::span<const std::int64_t> numbers;
  const Extents& source;
  const Extents& wanted;  // behind it, where that is known; else empty
  Span span;
};

struct RearrangeDef {
  std::string_view name;   // in a text: "reflect"
  std::string_view label;  // in files: "REFLECT"
  int number = 0;          // there
  std::string_view doc;    // what it does, and what its numbers are
  // As a text writes it: the operands of a call, and the numbers that they mean. `given` has a value per operand, its
  // default where none was given; a variadic one is a list.
  std::span<const Operand> operands;
  Result<std::vector<std::int64_t>> (*numbers)(std::span<const Value> given, Span span) = nullptr;
  std::string (*arguments)(std::span<const std::int64_t> numbers) = nullptr;  // back again: "axis: \"x\""
  // Which extents come out, at most 2^31 - 1 elements; E2001 or E2005: why it does not fit. Quick, whatever the
  // extents.
  Result<Extents> (*target)(const RearrangeCall& call) = nullptr;
  // The map to such a target.
  IndexMap (*map)(const RearrangeCall& call, const Extents& target) = nullptr;
  // The extents in front of it, from those behind; empty: they cannot be told.
  Extents (*before)(std::span<const std::int64_t> numbers, const Extents& target) = nullptr;
};

std::span<const RearrangeDef* const> all_rearrangements();  // by number
const RearrangeDef* rearrangement_named(std::string_view name_or_label);
const RearrangeDef* rearrangement_numbered(int number);

// Does a list of them, from left to right, make a target of a source? E2001, E2005: why not. Takes no time per element.
Diags check_rearrangements(std::span<const Rearrangement> moves, const Extents& source, const Extents& target,
                           Span span);

// One map for all of them.
Result<IndexMap> compose(std::span<const Rearrangement> moves, const Extents& source, const Extents& target, Span span);

}  // namespace taskspec
