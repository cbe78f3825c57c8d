// Receive buffers with several slots are filled in turn. Of a buffer that gets several batches of rows a step each
// batch has its number: all of them are counted on from step to step.
//
//   BatchTurns turns(program);
//   turns.of(message).slot(step, waits, buffer.slots)      where its packets go
#pragma once
#include <array>
#include <map>

#include "hwsim/program/program.hpp"

namespace taskspec {

struct BatchTurn {
  std::int64_t number = 0, of = 1;  // in a step
  // Of what comes in this step, and is moved so many steps behind it.
  std::int64_t slot(std::int64_t step, std::int64_t waits, std::int64_t slots) const {
    return ((step + waits) * of + number) % slots;
  }
  friend bool operator==(const BatchTurn&, const BatchTurn&) = default;
};

class BatchTurns {
 public:
  explicit BatchTurns(const ChipProgram& program);
  // That a core moves out of a buffer in a phase.
  BatchTurn of(std::int32_t core, std::int32_t buffer, std::int32_t phase) const;
  BatchTurn of(std::int32_t message) const { return by_message_[static_cast<std::size_t>(message)]; }

 private:
  std::map<std::array<std::int32_t, 3>, BatchTurn> turns_;  // core, buffer, phase
  std::vector<BatchTurn> by_message_;
};

// Phases of a core in the order in which a step comes: what the last one moves is what comes first.
inline std::size_t phase_in_turn(const ChipCore& core, std::size_t i) {
  return (i + core.phases.size() - 1) % core.phases.size();
}

}  // namespace taskspec
