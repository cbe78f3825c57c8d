// A graph of tensors on a chip: lowered, mapped and loaded once, then run step by step. States stay in the cores.
#pragma once
#include "hwsim/cores/machine.hpp"
#include "hwsim/report/picture.hpp"
#include "interp/exact/engine.hpp"
#include "interp/hw/chip_run.hpp"
#include "interp/hw/hw_picture.hpp"

namespace taskspec {

class HwProgram final : public ChipRun {
 public:
  static Result<std::unique_ptr<HwProgram>> make(LoweredGraph lowered, const HwOptions& options);
  // Of a program that is mapped already; tests damage one.
  static Result<std::unique_ptr<HwProgram>> with(LoweredGraph lowered, ChipProgram mapped, const HwOptions& options);

  std::vector<Array> step(std::span<const Array> tensors) override;
  Array state(std::size_t number) const override;
  void set_state(std::size_t number, const Array& tensor) override;
  void begin_state(std::size_t number) override;
  bool is_mapped() const override { return program_ != nullptr; }
  std::int64_t cycles() const override;  // of all steps so far, which follow each other as frames do
  std::optional<ChipPicture> picture() const override;
  void note(const std::string& text) override { picture_.notes.push_back(text); }

 private:
  HwProgram(LoweredGraph lowered, std::shared_ptr<const ChipProgram> program);
  std::vector<Array> frame(std::span<const Array> tensors);
  void compare(std::span<const Array> inputs);
  Array moved(const LoweredState& state, Array integers, int sign) const;

  std::shared_ptr<const ChipProgram> program_;  // none: all outputs are known
  std::optional<ChipMachine> machine_;
  ChipTiming timing_;
  ChipPicture picture_;  // without what only a run knows
  std::optional<NeuronRecorder> neurons_;
  Hasher values_;  // of all that came out
  std::optional<ExactEngine> judge_;
};

}  // namespace taskspec
