// Every movement of elements is a few nested loops with fixed steps on both sides: permute, slice, pad,
// concat, ... differ in the steps only. Steps may be negative (reverse) or 0 (broadcast).
//
//   CopyPart turn{.loops = {{columns, 1, rows}, {rows, columns, 1}}};   // {extent, step in x, step in the result}
//   std::unique_ptr<Kernel> transpose = copy_kernel(4, {turn});
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "ir/records/op.hpp"

namespace taskspec {

struct CopyLoop {
  std::int64_t extent, from, to;  // steps in elements
};

struct CopyPart {
  static constexpr std::size_t filling = SIZE_MAX;  // the source is one given element; steps `from` are 0

  std::size_t input = 0;
  std::int64_t from = 0, to = 0;  // first element
  std::vector<CopyLoop> loops;    // outermost first
};

// Parts may be empty; together they write every element of the result once.
std::unique_ptr<Kernel> copy_kernel(std::size_t element_bytes, std::vector<CopyPart> parts,
                                    std::array<std::byte, 8> filling = {});

// All elements of one array as they lie; nothing to do when the planner lets them share memory.
std::unique_ptr<Kernel> same_bytes_kernel(std::size_t bytes);

// Steps between neighbours along each axis of a row-major array.
std::vector<std::int64_t> steps_of(const Extents& extents);

}  // namespace taskspec
