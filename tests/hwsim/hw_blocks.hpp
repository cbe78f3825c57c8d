// Blocks by their names, for tests of what they cost on a chip.
#pragma once
#include "stdlib/blocks.hpp"

namespace taskspec::tests {

inline TaskBlock hw_block(std::string_view name, const BlockShape& shape, Precision precision,
                          BiasKind bias = BiasKind::none) {
  TaskBlock block;
  block.def = standard_blocks().find(name);
  block.name = "b";
  block.shape = shape;
  block.precision = precision;
  block.bias = bias;
  return block;
}

}  // namespace taskspec::tests
