// A task run op by op, each into bytes of its own, and looked at: an op that makes a nan of numbers that are none
// fails. Slow; what it computes is what the compiled task computes.
#pragma once
#include "interp/host/fused_body.hpp"
#include "interp/host/task_code.hpp"

namespace taskspec {

bool has_nan(const Array& array);

class WatchedCode final : public TaskCode {
 public:
  // `spans`: where each op of the body stands.
  WatchedCode(FusedBody body, std::vector<std::shared_ptr<const Kernel>> kernels, std::vector<Span> spans);
  std::size_t scratch_bytes() const override { return scratch_; }
  bool run(std::byte* const* operands, TaskContext& context) const override;

 private:
  std::optional<Fault> run(std::vector<Array>& values, TaskContext& context) const;
  Fault nan_of(std::size_t op) const;

  const FusedBody body_;
  const std::vector<std::shared_ptr<const Kernel>> kernels_;
  const std::vector<Span> spans_;
  std::size_t scratch_ = 0;
};

}  // namespace taskspec
