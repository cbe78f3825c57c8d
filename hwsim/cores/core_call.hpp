// A primitive made ready: unpacks its operands from the bytes of the core, computes by its block's record, packs the
// result back.
#pragma once
#include "hwsim/cores/core_memory.hpp"
#include "ir/blocks/numerics.hpp"

namespace taskspec {

class CoreCall {
 public:
  CoreCall(const ChipCall& call, const ChipCore& core);
  // Reads and writes memory. Contents that never change are unpacked in the first run only.
  BlockRun run(CoreMemory& memory, std::int64_t step);
  void reset();  // states come from memory; what was unpacked is forgotten
  const Array& made() const { return made_; }

 private:
  void make_ready(const CoreMemory& memory, std::int64_t step);

  const ChipCall& call_;
  const ChipCore& core_;
  std::unique_ptr<BlockRunner> runner_;
  std::vector<Array> operands_, states_;  // by cluster
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> state_bytes_;
  std::vector<std::byte> room_;
  std::byte* scratch_ = nullptr;
  Array made_;
};

}  // namespace taskspec
