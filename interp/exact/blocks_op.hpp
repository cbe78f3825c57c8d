// The op that a call of an `ir` declaration is: it runs a graph of Task IR blocks on the exact engine. Its first
// operand is the graph, then come the inputs and the contents that are given with each run; it makes the outputs, and
// what the blocks leave in their states (ir/blocks/value.hpp says in which order).
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

extern const OpDef op_blocks;

}  // namespace taskspec
