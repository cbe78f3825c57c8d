// Random compute blocks with their operands, many of whose sums leave 32 bits on their way and come back.
//
//   RandomBlock made = random_block(random, "CC");     made.block_case().run({}) == plain_block(made.block, made.in,
//   ...)
#pragma once
#include "tests/unit/block_cases.hpp"

namespace taskspec {

struct RandomBlock {
  TaskBlock block;
  std::vector<Array> in;  // by cluster
  BlockCase block_case() const;
};

inline constexpr std::string_view compute_blocks[] = {"CADD", "CVVH", "CVM",   "CC",    "CAX", "CC2D",
                                                      "CVS",  "CAVG", "CCMPB", "CCMPS", "CLUT"};

// `overflows`: biases near the ends of 32 bits.
RandomBlock random_block(std::mt19937_64& random, std::string_view name, bool overflows);

}  // namespace taskspec
