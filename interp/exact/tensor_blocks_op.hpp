// The op that a net is once it was lowered: it runs a block graph on tensors, a whole batch of them, sample by sample.
// Numbers become integers by the scale and the layout of their block, and integers numbers again.
//
//   OpListBuilder list;
//   std::vector<Value> operands = tensor_blocks_operands(lowered);      // then come the tensors
//   list.emit(op_tensor_blocks, ...)
#pragma once
#include "ir/lowering/lower.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

extern const OpDef op_tensor_blocks;

// Its first two: the graph, and what lies at its borders.
std::vector<Value> tensor_blocks_operands(const LoweredGraph& lowered);

// Whether the op can run it. E4011: what keeps something from call to call; `name` is that of the net.
Diags check_tensor_blocks(const LoweredGraph& lowered, std::string_view name);

}  // namespace taskspec
