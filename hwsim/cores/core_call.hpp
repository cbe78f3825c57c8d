// A primitive made ready: unpacks its operands from the bytes of the core, computes by its block's record, packs the
// result back. Phases of a stream that do the same with other rows share it.
#pragma once
#include "hwsim/cores/core_memory.hpp"
#include "ir/blocks/numerics.hpp"

namespace taskspec {

class CoreCall {
 public:
  explicit CoreCall(const ChipCall& call);
  bool does_the_same(const ChipCall& call) const;

  // Reads and writes memory; `made` is what it makes, on the host, for those who look. Contents that never change are
  // unpacked in the first run only.
  BlockRun run(CoreMemory& memory, const ChipCall& call, Array& made, std::int64_t step);
  // An axon with the soma that reads its sums: of these, memory holds some rows at a time.
  static BlockRun run_rows(CoreCall& axon, CoreCall& soma, CoreMemory& memory, const ChipPhase& phase, Array& sums,
                           Array& made, std::int64_t step);

 private:
  void make_ready(const CoreMemory& memory, std::int64_t step);
  // Operands from memory, but `without`.
  void take_operands(CoreMemory& memory, const ChipCall& call, std::size_t without, std::int64_t step);
  void take_box(const CoreMemory& memory, std::int32_t buffer, const Box& box, std::int64_t first_row, Array& operand,
                std::int64_t step) const;
  BlockRun compute(CoreMemory& memory, const ChipCall& call, Array& made, std::int64_t step);
  void leave(CoreMemory& memory, const ChipCall& call, std::int64_t step);  // states

  const ChipCall& call_;  // the first of them
  std::unique_ptr<BlockRunner> runner_;
  std::vector<Array> operands_, states_;  // by cluster
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> state_bytes_;
  std::vector<std::byte> room_;
  std::byte* scratch_ = nullptr;
};

}  // namespace taskspec
