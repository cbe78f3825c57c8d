// Makes op lists (ir/graph/op_list.hpp): runs the body of a task on values that have a type and no contents, and writes
// down what it does to them. A pure function of the program, of what its top level holds, and of what is known of the
// task's inputs; errors, E3005 among them, come as diagnostics.
//
//   Result<OpList> list = op_list(interpreter, graph, node);   // for the types and host values that the node has
//   Result<OpList> list = op_list(interpreter, task);          // extents and host values are symbols
//
// A number among the arguments of a task is an input of its list where all that it does is to go into ops as a number;
// where it decides which ops there are, or an extent, the list is one for each value.
#pragma once
#include <atomic>
#include <optional>
#include <variant>

#include "interp/control/interpreter.hpp"
#include "ir/base/result.hpp"
#include "ir/graph/op_list.hpp"

namespace taskspec {

// `outer` gives the program, and the top-level values that bodies may read.
Result<OpList> op_list(const Interpreter& outer, const TaskGraph& graph, NodeId node);
Result<OpList> op_list(const Interpreter& outer, FunctionId task);
// From outside of a running program: what the task reads of the top level is computed first. E5009 when `interrupted`
// becomes true.
Result<OpList> op_list(const Program& program, FunctionId task, const OpTable& ops,
                       const std::atomic<bool>* interrupted = nullptr);

// Of a fn or task as it works on tensors of any shapes and float precisions, whatever its text says: types go by the
// rules of its ops. A number whose argument is a type is an input, as in a task; other arguments are values. The
// outputs of a fn are called `value`; those of a task have the versions of its places behind them.
using GenericArgument = std::variant<Type, Value>;
Result<OpList> generic_op_list(const Interpreter& outer, const Value& callable,
                               const std::vector<GenericArgument>& arguments);

// By parameter of the task: a number that its node may read from an input of one element, of `run_precision`, because
// nothing is decided by it. `type_of` those arguments that are tensors.
std::vector<bool> numbers_at_run(const Interpreter& outer, const TaskCall& call,
                                 FunctionRef<Type(const Value&)> type_of);
Precision run_precision(const Type& number);

// The call of a task node: `input` gives what stands for its tensors, and for the numbers that are inputs.
class NodeCall {
 public:
  using Input = FunctionRef<Value(std::size_t input, const Parameter& parameter)>;
  NodeCall(const Program& program, const TaskGraph& graph, NodeId node, Input input);
  NodeCall(const NodeCall&) = delete;
  const TaskCall& operator*() const { return call_; }

 private:
  std::optional<Agent> self_;
  TaskCall call_;
};

// The outputs that a body leaves, and the new versions of its places behind them.
std::vector<Value> run_body(Interpreter& interpreter, const TaskCall& call);

}  // namespace taskspec
