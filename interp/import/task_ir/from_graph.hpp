// A block graph to the messages of a Task IR file: the least that says it, so that equal graphs give equal bytes.
#pragma once
#include "interp/import/task_ir/task_ir.pb.h"
#include "ir/base/diag.hpp"
#include "ir/blocks/block_graph.hpp"

namespace taskspec::task_ir {

// E4008, all at once: what such files cannot say.
Diags check_sayable(const BlockGraph& graph);

// Of a graph that is well formed and sayable.
tianjic_ir::TaskGraph from_graph(const BlockGraph& graph);

}  // namespace taskspec::task_ir
