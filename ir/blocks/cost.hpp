// What a block costs on a chip: bytes in memory, multiply-adds, cycles. Functions of its shape; the constants of the
// cycle rules come from a chip file.
//
//   stored_bytes(weights) == 800;     cycles(conv, {.in = Precision::i8, .weight = Precision::i8}, figures) == 4998
#pragma once
#include <cstdint>
#include <span>

#include "ir/blocks/block_graph.hpp"

namespace taskspec {

// Of a chip whose cores run primitives; its file has the numbers.
struct CycleFigures {
  std::int64_t start = 0;                // at the beginning of each primitive
  std::int64_t bias_bytes_per_clk = 0;   // a vector of bias, as it is loaded
  std::int64_t axon_bytes_per_clk = 0;   // port of the multiply-add units
  std::int64_t soma_bytes_per_clk = 0;   // port of the soma unit: one line
  std::int64_t first_lines = 0;          // of the input, that nothing hides
  std::int64_t pixels = 0, outputs = 0;  // that are computed side by side
};

// What the edges of a block decide.
struct BlockUse {
  Precision in = Precision::i8;      // of its data input
  Precision weight = Precision::i8;  // of its weights, if it has some
  bool same_bank = false;            // input and weights lie in one bank of memory
};

// At the memory ports of a core.
struct PortBytes {
  std::int64_t read = 0, written = 0;
};

struct BlockCost {
  // Of storage: rows along this axis begin at multiples of so many bytes. 0: it has no memory of its own.
  BlockAxis aligned = BlockAxis::f;
  std::int64_t alignment = 0;
  std::int64_t wide_alignment = 0;        // of elements of four bytes, if it is another one
  std::span<const BlockAxis> order = {};  // in memory, from the fastest to the slowest
  bool is_grouped = false;  // as many along the aligned axis as fill a line lie together, with all of the other axes
  // Of compute blocks; none: 0.
  std::int64_t (*multiply_adds)(const TaskBlock& block) = nullptr;
  std::int64_t (*operations)(const TaskBlock& block) = nullptr;  // on elements, that are no multiply-adds
  bool only_reads = false;  // the operations take no arithmetic: what they cost is in the bytes
  std::int64_t (*cycles)(const TaskBlock& block, const BlockUse& use, const CycleFigures& figures) = nullptr;
  PortBytes (*port_bytes)(const TaskBlock& block, const BlockUse& use, const CycleFigures& figures) = nullptr;
};

// Of storage: as a chip holds it, rows aligned; with row pipelining the rows that are kept. Of sparse storage by its
// data, else by its attribute `occupancy`.
std::int64_t stored_bytes(const TaskBlock& block);

// How storage holds its zeros: each element; a bit for each and then those that are not 0; or those, each with its
// place, of two bytes up to 65536 elements, else of four.
enum class StoredForm : std::uint8_t { dense, bitmap, coo };
StoredForm stored_form(const TaskBlock& block);
// With so many elements that are not 0.
std::int64_t stored_bytes(const TaskBlock& block, std::int64_t nonzeros);
// The density below which its form takes fewer bytes than all elements would; of dense storage 1.
double break_even_density(const TaskBlock& block);
std::int64_t nonzeros_of(const Array& array);  // elements that are not 0
std::int64_t multiply_adds(const TaskBlock& block);
std::int64_t operations(const TaskBlock& block);
// The start included.
std::int64_t cycles(const TaskBlock& block, const BlockUse& use, const CycleFigures& figures);
// Of a compute block that runs once.
PortBytes port_bytes(const TaskBlock& block, const BlockUse& use, const CycleFigures& figures);

// Bits that an element takes in the memory of a chip: u4 4, tern 2, i9 16, i28 32.
std::int64_t packed_bits(Precision precision);

}  // namespace taskspec
