// The op that a call of the reverse of an `ir` declaration is: it runs a block graph of floats on the real engine. Its
// first operand is the graph, then come its inputs; it makes the gradients, in the shapes of the inputs that they are
// of.
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

extern const OpDef op_block_gradients;

}  // namespace taskspec
