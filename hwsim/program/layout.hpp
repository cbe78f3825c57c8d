// How an array lies in a core's memory: a place in bits per element, rows aligned as the chip wants them.
//
//   ChipLayout l = layout_of(weights_def, {Precision::i8, {6, 1, 5, 5}});     l.bytes == 800
//   l.bit_of({0, 0, 0, 1}) == 256                   groups of 32 outputs, outputs fastest, then r, then kx, then ky
//
// Source: spec of the primitives; the records of storage blocks have order and alignment (BlockCost).
#pragma once
#include <cstddef>
#include <span>

#include "ir/blocks/block_graph.hpp"

namespace taskspec {

struct ChipLayout {
  ArrayType type;         // as on the host, row-major
  std::int64_t bits = 8;  // per element
  Extents strides;        // in bits, per axis of the type
  // One axis may lie in groups, each of them apart: weights, whose outputs are computed side by side.
  std::size_t grouped = SIZE_MAX;
  std::int64_t group = 1, group_stride = 0;
  std::int64_t bytes = 0;

  std::int64_t bit_of(const Extents& index) const;
  std::int64_t bit_of(std::int64_t place) const;  // row-major
};

// Of what a storage block of that kind holds, or a part of it.
ChipLayout layout_of(const BlockDef& holder, const ArrayType& type);
// The same with all of a row side by side, row behind row: of a ring of them, where planes would lie apart.
ChipLayout by_rows(ChipLayout layout);
// Of what a compute block makes: sums in lines of 128 bytes, all else in lines of 16.
ChipLayout result_layout(const TaskBlock& block);

// For each 8 bytes, a bit for those that hold elements; the others are padding.
std::vector<std::uint8_t> bytes_with_elements(const ChipLayout& layout);

// Into memory, and out of it. `memory` is layout.bytes long; what lies between elements stays as it is. On the host an
// element takes whole bytes; `first` is the place in the array where the elements begin.
void put(const ChipLayout& layout, const Array& array, std::byte* memory, std::int64_t first = 0);
void take(const ChipLayout& layout, const std::byte* memory, Array& array, std::int64_t first = 0);
// A part of an array with the same places for its elements, counted from its first one.
ChipLayout part_of(const ChipLayout& layout, const Extents& size);

}  // namespace taskspec
