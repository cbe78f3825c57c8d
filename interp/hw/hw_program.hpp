// A graph of tensors on a chip: lowered, mapped and loaded once, then run step by step. States stay in the cores.
#pragma once
#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "hwsim/report/account.hpp"
#include "interp/exact/engine.hpp"
#include "interp/hw/list_parts.hpp"
#include "ir/lowering/lower.hpp"

namespace taskspec {

struct HwOptions {
  std::shared_ptr<const Chip> chip;
  ChipExtent chips{0, 0};
  std::optional<std::int32_t> cores = {};
  MapObjective objective = MapObjective::throughput;
  NocModel noc = NocModel::contended;
  std::int64_t frames = 0;
  bool checks_values = false;  // against the exact engine, block by block
  bool partial = false;        // ops without blocks run on the host
};

class HwProgram {
 public:
  // `known`: by input of the list, as LowerOptions has it; the first contents of states among them.
  static Result<std::unique_ptr<HwProgram>> make(const OpList& list, const BlockTable& blocks,
                                                 std::vector<std::optional<Array>> known, const HwOptions& options);

  const LoweredGraph& lowered() const { return lowered_; }
  const std::vector<std::optional<Array>>& known() const { return known_; }
  bool is_state(std::size_t input) const;
  // One step: tensors of the open inputs, in the order of the lowered graph; gives those of its outputs. A batch of
  // samples is as many steps. Errors E5012.
  std::vector<Array> step(std::span<const Array> tensors);
  Array state(std::size_t number) const;  // of LoweredGraph::states, as the tensor of the graph
  void set_state(std::size_t number, const Array& tensor);
  void begin_state(std::size_t number);              // as the graph has it
  std::int64_t version() const { return version_; }  // steps so far

  bool is_mapped() const { return program_ != nullptr; }  // not: all that it gives is known, or it is in parts
  // Of a list in parts: those on the chip, and the ops that are not.
  const std::vector<std::shared_ptr<HwProgram>>& chip_parts() const { return chip_parts_; }
  const std::vector<std::string>& host_ops() const { return parts_.host_ops; }
  const ChipProgram& program() const { return *program_; }
  const ChipTiming& timing() const { return timing_; }
  const ChipAccount& account() const { return account_; }
  std::int64_t cycles() const;  // of all steps so far, which follow each other as frames do

 private:
  HwProgram(LoweredGraph lowered, std::shared_ptr<const ChipProgram> program);
  std::int64_t frames_of(std::span<const Array> tensors) const;
  static Result<std::unique_ptr<HwProgram>> make_in_parts(const OpList& list, const BlockTable& blocks,
                                                          std::vector<std::optional<Array>> known,
                                                          const HwOptions& options);
  std::vector<Array> step_in_parts(std::span<const Array> tensors);
  static Array sample(const Array& batch, const ArrayType& type, std::int64_t number);
  std::vector<Array> frame(std::span<const Array> tensors);
  void compare(std::span<const Array> inputs);

  LoweredGraph lowered_;
  std::vector<std::optional<Array>> known_;
  std::shared_ptr<const ChipProgram> program_;  // none: all outputs are known
  std::optional<ChipMachine> machine_;
  ChipTiming timing_;
  ChipAccount account_;
  std::optional<ExactEngine> judge_;
  ListParts parts_;
  std::vector<std::shared_ptr<HwProgram>> chip_parts_;  // in their order
  std::int64_t version_ = 0;
};

}  // namespace taskspec
