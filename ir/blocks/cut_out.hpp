// One part of a block, where the others are not wanted: what split gives for [begin, end), without making the rest.
//
//   Result<BlockPart> rows = cut_out(conv, BlockAxis::y, 4, 8);
#pragma once
#include "ir/blocks/rewrites.hpp"

namespace taskspec {

// 0 <= begin < end <= extent. Error E4002 where split into what lies before it, itself and what lies behind it has one.
Result<BlockPart> cut_out(const TaskBlock& block, BlockAxis axis, std::int64_t begin, std::int64_t end);

}  // namespace taskspec
