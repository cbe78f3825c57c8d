// Bodies of tasks and structured nodes for backends: as straight op lists where possible, else run by the
// interpreter on arrays.
#pragma once
#include "interp/control/interpreter.hpp"
#include "ir/backend.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec {

class ProgramBodies final : public Bodies {
 public:
  // `outer` gives the program, what is known about it, and the top-level values that bodies may read.
  explicit ProgramBodies(const Interpreter& outer) : outer_(outer) {}
  std::optional<BodyTrace> trace(const TaskGraph& graph, NodeId node) override;
  std::vector<Array> run(const TaskGraph& graph, NodeId node, std::vector<Array> inputs) override;

 private:
  // The call of a task with inputs put in the places of its tensor parameters.
  TaskCall bind(const TaskGraph& graph, NodeId node, FunctionRef<Value(std::size_t)> input);
  std::vector<Value> run_task(Interpreter& interpreter, const TaskCall& call);
  std::vector<Value> run_structured(Interpreter& interpreter, const TaskGraph& graph, NodeId node,
                                    FunctionRef<Value(const Value&)> restore);
  const Interpreter& outer_;
};

}  // namespace taskspec
