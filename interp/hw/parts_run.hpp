// A list of ops of which the chip runs what becomes blocks, and the host the rest (hw(partial: true)).
#pragma once
#include <functional>

#include "interp/hw/chip_run.hpp"
#include "interp/hw/list_parts.hpp"

namespace taskspec {

class PartsRun final : public ChipRun {
 public:
  using MakeRun = std::function<Result<std::unique_ptr<ChipRun>>(LoweredGraph)>;
  // Errors: those of the list, where it cannot be cut, and those of its parts.
  static Result<std::unique_ptr<ChipRun>> make(const OpList& list, const LowerOptions& options,
                                               const MakeRun& make_run);

  std::vector<Array> step(std::span<const Array> tensors) override;
  // No list that keeps states is cut.
  Array state(std::size_t) const override { return {}; }
  void set_state(std::size_t, const Array&) override {}
  void begin_state(std::size_t) override {}
  bool is_mapped() const override { return false; }  // its parts are
  std::int64_t cycles() const override { return 0; }
  std::span<const std::shared_ptr<ChipRun>> parts() const override { return on_chip_; }
  std::span<const std::string> host_ops() const override { return parts_.host_ops; }

 private:
  PartsRun() : ChipRun(LoweredGraph()) {}

  ListParts parts_;
  std::vector<std::shared_ptr<ChipRun>> on_chip_;  // in their order
};

}  // namespace taskspec
