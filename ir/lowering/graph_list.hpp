// A task graph as one op list: the lists of its tasks, one behind the other, so that lowering sees a layer and the
// batch norm behind it, whoever wrote them.
//
//   graph of Conv.forward, Norm.forward     %3 = conv2d(%0, %1, %2), %8 = running_batchnorm(%3, ...)
#pragma once
#include "ir/base/function_ref.hpp"
#include "ir/base/result.hpp"
#include "ir/graph/op_list.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec {

// `list_of`: of each task. Inputs and results are those of the graph. E4011: control that tensors decide about, numbers
// that are other ones in each run.
Result<OpList> graph_list(const TaskGraph& graph, FunctionRef<Result<OpList>(NodeId)> list_of);

}  // namespace taskspec
