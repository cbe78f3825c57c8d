// Sums of products of bytes, the inner loops of convolutions and products over integers: for many pixels and outputs
// side by side, exact modulo 2^32. What makes them right is that the sums fit, which the caller has proven.
//
//   const DotSet& set = best_dot_set();
//   std::vector<std::byte> packed = pack_weights(set, shape, weights);          // once
//   set.run(task);                                                              // input packed as set.offset says
//
// A pixel's sum goes over runs of elements that lie side by side, for a convolution the rows of its window. Elements
// are taken in groups: pairs of 16 bits, or with VNNI four bytes, the input's without sign (+128, which `start` takes
// away). Pairs are widened before they are multiplied: instructions that add pairs of byte products cut the sums to 16
// bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace taskspec {

struct DotTask {
  const std::byte* input = nullptr;      // packed: int16, or bytes with the offset added
  const std::int32_t* pixels = nullptr;  // where each begins, in elements
  std::int64_t pixel_count = 0;
  const std::int32_t* groups = nullptr;  // where each group of elements begins, from the pixel's beginning on
  std::int64_t group_count = 0;          // zeros in weights fill groups that are not whole
  const std::byte* weights = nullptr;    // packed
  const std::int32_t* start = nullptr;   // what the sums begin with, for padded outputs
  std::int32_t* out = nullptr;           // [pixel][output]
  std::int64_t outputs = 0;
};

struct DotSet {
  std::string_view name;    // "AVX-512 VNNI"
  std::int64_t group = 2;   // elements: 2 of 16 bits, 4 of 8
  std::int64_t lanes = 4;   // outputs of a vector; outputs are taken in blocks of two vectors
  std::int32_t offset = 0;  // added to the input's elements, so that they have no sign
  bool (*available)() = nullptr;
  void (*run)(const DotTask& task) = nullptr;

  std::int64_t element_bytes() const { return group == 2 ? 2 : 1; }
  std::int64_t block() const { return 2 * lanes; }
  // Outputs that the packed weights and `start` have room for: a last block may be one vector.
  std::int64_t padded(std::int64_t outputs) const { return (outputs + lanes - 1) / lanes * lanes; }
};

std::span<const DotSet* const> all_dot_sets();  // that this processor has, the best one first
// For weights of one byte with sign, or else without VNNI.
const DotSet& best_dot_set(bool signed_bytes);
// For tests and benchmarks: what is made ready from now on takes this one where it can; null: the best again.
void prefer_dot_set(const DotSet* set);

// Elements of packed weights, int16 or bytes.
std::int64_t packed_weights(const DotSet& set, std::int64_t outputs, std::int64_t groups);

}  // namespace taskspec
