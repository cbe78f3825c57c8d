// How the families of compute blocks compute; each in a file of its name.
#pragma once
#include "ir/blocks/numerics.hpp"

namespace taskspec {
struct RealArgs;
}

namespace taskspec::block_parts {

extern const BlockNumerics window_products;  // CC, CC2D, CVM: input, weight, bias
// The same where one of them is stored sparse.
std::unique_ptr<BlockRunner> sparse_products(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode);
extern const BlockNumerics sums;               // CADD: input, input2, ..., bias
extern const BlockNumerics window_sums;        // CAVG: input, bias
extern const BlockNumerics array_products;     // CVVH: input, input2, bias
extern const BlockNumerics channel_products;   // CAX: input, alpha, bias
extern const BlockNumerics constant_products;  // CVS: input, bias
extern const BlockNumerics compare_most;       // CCMPB
extern const BlockNumerics compare_least;      // CCMPS
extern const BlockNumerics table_look_up;      // CLUT: input, table
extern const BlockNumerics neuron_steps;       // CLIF: input, state, refractory, threshold, mask

extern const BlockNumerics token_moves;  // SWITCH: input, input2, ..., token
extern const BlockControl token_choice;
extern const BlockNumerics sum_tests;  // PREDICATE: input

// In real numbers (real_values.cpp): what reverses run on.
struct RealValues {
  static void window_products(const TaskBlock& block, const RealArgs& args);
  static void sums(const TaskBlock& block, const RealArgs& args);
  static void window_sums(const TaskBlock& block, const RealArgs& args);
  static void array_products(const TaskBlock& block, const RealArgs& args);
  static void channel_products(const TaskBlock& block, const RealArgs& args);
  static void constant_products(const TaskBlock& block, const RealArgs& args);
  static void compares(const TaskBlock& block, const RealArgs& args);
  static void neurons(const TaskBlock& block, const RealArgs& args);
};

}  // namespace taskspec::block_parts
