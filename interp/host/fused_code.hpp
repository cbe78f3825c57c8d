// A body made ready to run: its kernels, its passes, its place in the scratch. One dispatch runs them all.
#pragma once
#include "interp/host/fused_layout.hpp"
#include "interp/host/task_code.hpp"

namespace taskspec {

class FusedCode final : public TaskCode {
 public:
  // `kernels` by op.
  FusedCode(FusedBody body, std::vector<std::shared_ptr<const Kernel>> kernels);
  std::size_t scratch_bytes() const override { return pointers_at_ + pointers_ * sizeof(std::byte*); }
  // Operations of all its ops; bytes of what comes in and goes out, since the rest stays in the scratch.
  Work work() const override;
  std::vector<CodeOp> ops() const override;
  bool run(std::byte* const* operands, TaskContext& context) const override { return run(operands, context, nullptr); }
  bool run_timed(std::byte* const* operands, TaskContext& context, OpTimes& times) const override {
    return run(operands, context, &times);
  }
  const FusedLayout& layout() const { return layout_; }

 private:
  struct RunState;  // of one run
  // `times`: null where nobody wants to know.
  bool run(std::byte* const* operands, TaskContext& context, OpTimes* times) const;
  bool run_passes(std::byte* const* operands, TaskContext& context, OpTimes* times) const;
  std::byte* address(const BytesAt& place, const RunState& state) const;
  void copy(const FusedCopy& copy, const RunState& state) const;
  bool run_kernel(const FusedPass& pass, RunState& state) const;
  // `spent`, by op of the pass: what its strips took on all threads together; null: nobody wants to know.
  bool run_strips(const FusedPass& pass, RunState& state, std::int64_t* spent = nullptr) const;
  bool run_pass(const FusedPass& pass, RunState& state, OpTimes* times) const;
  bool run_timed(const FusedPass& pass, RunState& state, OpTimes& times) const;
  void interrupt(TaskContext& context) const;
  std::vector<char> spread(std::span<const char> dead, std::span<const TaskFault> faults) const;

  FusedBody body_;
  std::vector<std::shared_ptr<const Kernel>> kernels_;
  FusedLayout layout_;
  std::vector<std::vector<std::uint32_t>> reads_;  // by task: earlier tasks whose values it reads
  std::vector<std::uint32_t> index_;               // by op: which one of its task it is
  std::size_t kernel_scratch_at_ = 0, pointers_at_ = 0, pointers_ = 0;
};

}  // namespace taskspec
