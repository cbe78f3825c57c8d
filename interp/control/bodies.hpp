// Bodies of tasks and structured nodes for backends: as straight op lists where possible, else run by the
// interpreter on arrays.
#pragma once
#include "interp/control/op_lists.hpp"
#include "interp/control/watched_target.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/graph/embedded_task.hpp"
#include "ir/plan/backend.hpp"
#include "ir/plan/extern_body.hpp"

namespace taskspec {

class ProgramBodies final : public Bodies, public ExternBodies {
 public:
  // `outer` gives the program, what is known about it, and the top-level values that bodies may read.
  explicit ProgramBodies(const Interpreter& outer, bool detects_nan = false)
      : outer_(outer), detects_nan_(detects_nan) {}
  bool detects_nan() const override { return detects_nan_; }
  const BlockTable* blocks() const override;
  const Program* program() const override;
  const OpTable* ops() const override;
  Value global(ModuleId module, VariableId variable) override;
  Result<OpList> list(const TaskGraph& graph, NodeId node) override {
    const Definition& definition = graph.definition(node);
    return definition.list ? *definition.list : op_list(outer_, graph, node);
  }
  std::vector<Array> run(const TaskGraph& graph, NodeId node, std::vector<Array> inputs) override;
  std::shared_ptr<const ExternBody> extern_body(FunctionId task, std::span<const ArrayType> inputs) override;
  void watch() { watches_ = true; }  // what runs inside of structured nodes, for a profile
  std::vector<OpRow> inner_rows() const { return inside_.rows(); }

 private:
  using Input = FunctionRef<Value(std::size_t position)>;
  std::vector<Array> run_on(Target& target, const TaskGraph& graph, NodeId node, std::span<const Array> inputs);
  std::vector<Value> values(Interpreter& interpreter, const TaskGraph& graph, NodeId node, Input input);
  std::vector<Value> run_structured(Interpreter& interpreter, const TaskGraph& graph, NodeId node,
                                    FunctionRef<Value(const Value&)> restore);
  static void check(const TaskGraph& graph, NodeId node, std::span<const Array> outputs);
  std::vector<Value> step_values(Target& target, const EmbeddedTask& task, Input input);
  std::vector<Array> run_forward(const EmbeddedTask& task, std::vector<Array> inputs);
  std::vector<Array> run_reverse(const EmbeddedTask& task, std::vector<Array> inputs);
  const Interpreter& outer_;
  const bool detects_nan_;
  bool watches_ = false;
  InnerProfile inside_;
};

}  // namespace taskspec
