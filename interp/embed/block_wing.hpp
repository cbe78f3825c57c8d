// What Task IR brings: its blocks, and the ops that run graphs of them. A first tool is without.
#pragma once
#include <span>

#include "ir/blocks/block.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

struct BlockWing {
  std::span<const OpDef* const> ops = {};
  BlockTable blocks = {};
};

// A root that is without says so by a definition of its own.
BlockWing block_wing();

}  // namespace taskspec
