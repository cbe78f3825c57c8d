// Compute blocks as plain loops, written from the rules and apart from the kernels: one output after the other, one
// addition after the other. What decides.
//
//   std::vector<std::int64_t> out = plain_block(block, {input, weight, bias}, BlockMode::chip);
#pragma once
#include "ir/blocks/numerics.hpp"

namespace taskspec {

// By cluster; an invalid array where it is absent. Not of neurons.
std::vector<std::int64_t> plain_block(const TaskBlock& block, const std::vector<Array>& in, BlockMode mode);

}  // namespace taskspec
