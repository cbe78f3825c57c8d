// Task IR blocks and rearrangements in the reference, out of their records.
#pragma once
#include <string>

#include "ir/blocks/block.hpp"
#include "ir/blocks/rearrange.hpp"

namespace taskspec {

std::string signature_text(const BlockDef& block);      // "conv : CC2D i32 [y, x, f, r, ky, kx] (stride_y: 1, ...)"
std::string signature_text(const RearrangeDef& moves);  // "a -> b | shift(left: 0, ...)"
// Its clusters, and what may feed what, in sentences.
std::string clusters_text(const BlockDef& block);

}  // namespace taskspec
