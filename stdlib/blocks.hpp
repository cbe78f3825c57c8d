// The blocks of Task IR as one table, made from blocks.def. Only the root and the tests ask for it; everybody else is
// handed a table.
//
//   BlockTable blocks = standard_blocks();     blocks.find("CC2D")->doc
#pragma once
#include "ir/blocks/block.hpp"

namespace taskspec {

BlockTable standard_blocks();

}  // namespace taskspec
