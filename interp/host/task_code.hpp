// What a plan's tasks do, ready to run on bytes: a kernel, a native function, a body of the interpreter, or
// (fused_code.hpp) the compiled bodies of several tasks of a chain.
//
//   if (!code.run(operands, context)) ... context.faults says which task failed, and why
#pragma once
#include <memory>
#include <span>

#include "interp/host/op_times.hpp"
#include "interp/host/run_flags.hpp"
#include "ir/plan/backend.hpp"

namespace taskspec {

struct TaskFault {
  std::uint32_t task = 0;  // among those of the code
  Fault fault;
};

// What a worker lends to the code it runs.
struct TaskContext {
  std::byte* scratch = nullptr;  // TaskCode::scratch_bytes() of it
  Parallel* parallel = nullptr;
  const RunFlags* flags = nullptr;  // null: nobody interrupts
  std::span<const char> dead;       // empty, or true per task that must not run: an input is poisoned
  std::vector<TaskFault> faults;    // in order of tasks; left alone when nothing fails
};

// One op of a code, as in OpSite.
struct CodeOp {
  std::uint32_t task = 0;  // among those of the code
  OpInstance instance = {};
  std::string_view name = "body";
  Span span = {};
  std::shared_ptr<const std::string> in_task = nullptr;
  bool fused = false;
};

// A code that runs again and again on operands that stay where they are: what depends on that is made once.
class BoundCode {
 public:
  virtual ~BoundCode() = default;
  virtual bool run(TaskContext& context) = 0;           // as TaskCode::run
  virtual bool needs_scratch() const { return false; }  // that which it was bound to
};

class TaskCode {
 public:
  TaskCode(std::size_t inputs, std::size_t outputs, std::size_t tasks = 1)
      : inputs(static_cast<std::uint32_t>(inputs)),
        outputs(static_cast<std::uint32_t>(outputs)),
        tasks(static_cast<std::uint32_t>(tasks)) {}
  virtual ~TaskCode() = default;
  const std::uint32_t inputs, outputs, tasks;

  virtual std::size_t scratch_bytes() const { return 0; }
  virtual Work work() const { return {}; }  // nothing where nobody knows
  // Those of a task in the order by which OpTimes counts them.
  virtual std::vector<CodeOp> ops() const { return std::vector<CodeOp>(1); }
  // `operands`: the inputs, then the outputs. False when a task failed.
  virtual bool run(std::byte* const* operands, TaskContext& context) const = 0;
  // The operands, and the context with its scratch, stay where they are; what lies there may become something else
  // between its runs. It does not run when this is gone. Null: nothing is gained by it. Never throws.
  virtual std::unique_ptr<BoundCode> bind(std::byte* const* /*operands*/, TaskContext& /*context*/) const {
    return nullptr;
  }
  // The same as run, and what each op took: here it is one.
  virtual bool run_timed(std::byte* const* operands, TaskContext& context, OpTimes& times) const;
};

// Adds what is being thrown to `context.faults`; for use in a catch block.
void keep_thrown(TaskContext& context, std::uint32_t task = 0);

// One op.
class KernelCode final : public TaskCode {
 public:
  KernelCode(std::shared_ptr<const Kernel> kernel, const OpInstance& instance);
  std::size_t scratch_bytes() const override { return kernel_->scratch_bytes(); }
  Work work() const override { return work_; }
  std::vector<CodeOp> ops() const override { return {{.instance = instance_}}; }
  bool run(std::byte* const* operands, TaskContext& context) const override;

 private:
  std::shared_ptr<const Kernel> kernel_;
  Work work_;
  bool same_bytes_;
  const OpInstance instance_;
};

// A C++ function.
class NativeCode final : public TaskCode {
 public:
  NativeCode(NativeTask task, std::size_t inputs, std::size_t outputs) : TaskCode(inputs, outputs), task_(task) {}
  bool run(std::byte* const* operands, TaskContext& context) const override {
    try {
      task_.run(task_.context, {operands, inputs}, {operands + inputs, outputs});
      return true;
    } catch (...) {
      keep_thrown(context);
      return false;
    }
  }

 private:
  NativeTask task_;
};

// A node that only the interpreter can run: control that depends on data.
class InterpretedCode final : public TaskCode {
 public:
  InterpretedCode(Bodies& bodies, std::shared_ptr<const Plan> plan, NodeId node, std::vector<ArrayType> in,
                  std::vector<ArrayType> out)
      : TaskCode(in.size(), out.size()),
        bodies_(bodies),
        plan_(std::move(plan)),
        node_(node),
        in_(std::move(in)),
        out_(std::move(out)) {}
  bool run(std::byte* const* operands, TaskContext& context) const override;

 private:
  Bodies& bodies_;
  std::shared_ptr<const Plan> plan_;
  NodeId node_;
  std::vector<ArrayType> in_, out_;
};

}  // namespace taskspec
