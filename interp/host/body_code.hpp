// A body made ready to run: its kernels, its passes, its place in the scratch. One dispatch runs them all.
#pragma once
#include "interp/host/body_layout.hpp"
#include "interp/host/task_code.hpp"

namespace taskspec {

class BodyCode final : public TaskCode {
 public:
  // `kernels` by op.
  BodyCode(Body body, std::vector<std::shared_ptr<const Kernel>> kernels);
  std::size_t scratch_bytes() const override { return pointers_at_ + pointers_ * sizeof(std::byte*); }
  // Operations of all its ops; bytes of what comes in and goes out, since the rest stays in the scratch.
  Work work() const override;
  bool run(std::byte* const* operands, Surroundings& around) const override;
  const BodyLayout& layout() const { return layout_; }

 private:
  struct Frame;  // of one run
  bool run_passes(std::byte* const* operands, Surroundings& around) const;
  std::byte* address(const BodyPlace& place, const Frame& frame) const;
  void copy(const BodyCopy& copy, const Frame& frame) const;
  bool run_kernel(const BodyPass& pass, Frame& frame) const;
  bool run_strips(const BodyPass& pass, Frame& frame) const;
  void interrupt(Surroundings& around) const;
  std::vector<char> spread(std::span<const char> dead, std::span<const TaskFault> faults) const;

  Body body_;
  std::vector<std::shared_ptr<const Kernel>> kernels_;
  BodyLayout layout_;
  std::vector<std::vector<std::uint32_t>> reads_;  // by task: earlier tasks whose values it reads
  std::size_t kernel_scratch_at_ = 0, pointers_at_ = 0, pointers_ = 0;
};

}  // namespace taskspec
