// Where on a chip a rule was broken: core, phase, stage, and the block that works there. Every fault of a run says it.
//
//   chip_fault(program, {.core = 3, .phase = 1, .stage = ChipStage::soma1, .block = relu}, "nobody wrote ...")
//   -> E5012 core 3, phase 1, soma1 of 'relu1': nobody wrote ...
#pragma once
#include "hwsim/program/program.hpp"

namespace taskspec {

enum class ChipStage : std::uint8_t { axon, soma1, send, receive, soma2 };

struct FaultPlace {
  std::int32_t core = host_core;  // position in ChipProgram::cores
  std::int32_t phase = -1;        // none: between steps
  ChipStage stage = ChipStage::axon;
  BlockId block = {};                              // none: nobody there computes it
  std::int32_t message = ChipMessage::no_message;  // receive: the one that comes; its sender is told, too
};

const TaskBlock* block_at(const ChipProgram& program, const FaultPlace& place);  // none: nullptr
std::string text_of(const ChipProgram& program, const FaultPlace& place);
// Throws Error E5012, at the line of the block's task: a rule of the chip that a mapped program broke.
[[noreturn]] void chip_fault(const ChipProgram& program, const FaultPlace& place, const std::string& what);

// Programs may be damaged: these look up no number that is not there.
FaultPlace sender_of(const ChipProgram& program, std::int32_t message);
FaultPlace receiver_of(const ChipProgram& program, std::int32_t message);
// Who moves, reads or makes what a buffer holds: the first one on its core.
FaultPlace user_of(const ChipProgram& program, std::int32_t core, std::int32_t buffer);
// The call that makes an element of a block, by its place in the block's array; an input comes from the host.
FaultPlace maker_of(const ChipProgram& program, BlockId block, std::int64_t place);

}  // namespace taskspec
