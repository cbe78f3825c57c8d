// The behaviour of a mapped program: cores compute on the bytes of their own memories, and data moves in packets alone.
// Untimed: what happens in a step happens in the order that data asks for; the clock is another matter (hwsim/time).
//
//   ChipMachine machine(program);
//   std::vector<Array> out = machine.run({image});      read from the packets that left the chip
//
// Everything of the host is gone after loading: weights are read from memory, in their layout there. What breaks a rule
// of the chip is error E5012 (core_memory.hpp), with core, buffer and address.
#pragma once
#include <memory>
#include <span>

#include "hwsim/program/program.hpp"

namespace taskspec {

struct MachineCounts {
  std::int64_t steps = 0, saturations = 0, ordered = 0;
  std::int64_t packets = 0, copies = 0;  // that arrived; of these, sent on by a core that keeps them, too
};

class ChipMachine {
 public:
  explicit ChipMachine(std::shared_ptr<const ChipProgram> program);
  ~ChipMachine();
  ChipMachine(ChipMachine&&) noexcept;

  // One step. Inputs as the net has them (our bug if not).
  std::vector<Array> run(std::span<const Array> inputs);
  // Contents of a storage in which neurons keep their state, put together from the cores.
  Array state(BlockId storage) const;
  void set_state(BlockId storage, const Array& contents);
  void reset();
  const MachineCounts& counts() const;
  // What a block made in the last step, put together from the cores; none: its bytes are others' by now.
  Array value(BlockId block) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace taskspec
