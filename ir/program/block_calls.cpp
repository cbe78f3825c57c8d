#include "ir/program/block_calls.hpp"

namespace taskspec {

std::shared_ptr<const BlockGraph> blocks_of(const Program& program, FunctionId id) {
  if (!id.valid()) return nullptr;
  const Function& function = program[id];
  if (function.kind != FunctionKind::task || !function.name.empty()) return nullptr;
  for (const Call& call : function.calls)
    if (call.op && call.op->serves == Serves::blocks)
      if (auto* graph = function[call.in[0]].value.as<BlockGraphValue>()) return graph->graph;
  return nullptr;
}

}  // namespace taskspec
