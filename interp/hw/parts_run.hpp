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
  static Result<std::unique_ptr<ChipRun>> make(const OpList& list, const ListStates& states,
                                               const LowerOptions& options, const MakeRun& make_run);

  std::vector<Array> step(std::span<const Array> tensors) override;
  Array state(std::size_t number) const override { return home(number).state(states_[number].second); }
  void set_state(std::size_t number, const Array& tensor) override {
    home(number).set_state(states_[number].second, tensor);
  }
  void begin_state(std::size_t number) override { home(number).begin_state(states_[number].second); }
  bool is_mapped() const override { return false; }  // its parts are
  std::int64_t cycles() const override { return 0; }
  std::span<const std::shared_ptr<ChipRun>> parts() const override { return on_chip_; }
  std::span<const std::string> host_ops() const override { return parts_.host_ops; }

 private:
  PartsRun() : ChipRun(LoweredGraph()) {}
  ChipRun& home(std::size_t state) const { return *on_chip_[states_[state].first]; }

  ListParts parts_;
  std::vector<std::shared_ptr<ChipRun>> on_chip_;            // in their order
  std::vector<std::pair<std::size_t, std::size_t>> states_;  // that stay in cores: of which run, and its number there
};

}  // namespace taskspec
