// A task written in C++ as an op list: one line, whose op calls the function and whose gradient calls its reverse. So
// whatever reads op lists has such a task as one of its lines; a step of training does.
//
//   %0 = input x : f32[8]      %2 = extern(%0, %1) : f32[8]      y = %2
//   %1 = input w : f32[8]
#pragma once
#include "interp/control/interpreter.hpp"
#include "ir/graph/op_list.hpp"

namespace taskspec {

class Natives;
struct NativeSite;

NativeSite native_site(const Program& program, FunctionId task, std::string instance);

// Of a node whose task is extern, for the types that it has; E7001 where no function stands behind its symbol.
OpList native_op_list(const Program& program, const Natives* natives, const TaskGraph& graph, NodeId node);

}  // namespace taskspec
