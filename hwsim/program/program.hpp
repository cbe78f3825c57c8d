// A mapped program: what each core of a chip holds, does in each phase, and sends to whom. The mapper writes it, the
// behaviour runs it, the clock times it; none of them knows more than stands here.
//
// A step (one frame, one time step) repeats the phases of each core. Phase k computes the unit k of the core, sends
// what it made, and meanwhile receives what the unit of the phase behind reads:
//
//   core 3:  phase 0 | axon conv1 | soma1 relu1 | send 3 messages | receive, then soma2 moves into the input of conv4
//            phase 1 | axon conv4 | ...
//
// Messages carry runs of bytes from a buffer of one core into the receive buffer of another one. The host is a core
// number of its own, which holds inputs and outputs of the net.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hwsim/chip/chip.hpp"
#include "hwsim/net/net.hpp"
#include "hwsim/program/layout.hpp"

namespace taskspec {

inline constexpr std::int32_t host_core = -1;
inline constexpr std::int32_t no_buffer = -1;

enum class BufferUse : std::uint8_t {
  fixed,    // weights, bias, tables: written once, when the program is loaded
  state,    // of neurons: goes on from step to step
  input,    // what an axon or soma reads
  receive,  // where packets arrive, until they are moved into an input
  sum,      // what an axon made, for the soma behind it
  result,   // what is sent
  memory,   // what a block remembers for itself: shift register, counters
};

struct ChipBuffer {
  BufferUse use = BufferUse::input;
  std::string name;  // "conv1.weight": for errors and reports
  BlockId block;     // that it belongs to
  ChipLayout layout;
  std::int64_t address = 0;  // in the core's memory
  std::int64_t slots = 1;    // receive: one per step that packets wait and one more, or two: double; at whole words
  std::int64_t bytes = 0;    // of all slots
  Box box = {};              // of the cluster or the block's values: the part that it holds
  // Streams: it holds so many rows of the box at a time. An input keeps row y at y mod kept_rows, sums their row of
  // the call likewise; what arrives, and results, begin at the first row of their batch. 0: all rows, each in place.
  std::int64_t kept_rows = 0;
  // Of a ring whose rows are read in steps behind the one in which they came: it goes on from step to step, with so
  // many rows a step. 0: it begins anew in each one.
  std::int64_t step_rows = 0;
  std::int64_t slot_bytes() const { return slots == 1 ? layout.bytes : (layout.bytes + 7) / 8 * 8; }
  std::optional<Array> data;  // fixed, state: its first contents
  std::vector<Array> early;   // receive: by slot, what comes before the first values do; of a ring by step
  std::int32_t first_phase = 0, last_phase = 0;  // it lives; first > last: around the end of the step
  bool is_persistent = false;
};

// An axon or a soma on operands in memory.
struct ChipCall {
  TaskBlock block;               // of the piece
  BlockId whole;                 // the block that it is a piece of
  Box out;                       // which part of that
  std::vector<Box> reads = {};   // by cluster: what it reads, of the cluster's array; of a whole buffer as of a ring
  std::vector<std::int32_t> in;  // buffers, by cluster
  std::int32_t result = no_buffer, memory = no_buffer;
  BlockUse use;  // for cycles
  std::int64_t cycles = 0;
};

// soma2: from a receive buffer into the input.
struct ChipMove {
  std::int32_t from = no_buffer, to = no_buffer;
  std::int32_t delay = 0;
  struct Run {
    std::int64_t byte = 0, bytes = 0;  // the same in both; in a stream, from the first row of the batch
  };
  std::vector<Run> runs;
  Box box = {};  // what it brings, of the cluster's array: all that `to` holds, or a batch of rows
};

// The soma works on rows of sums while the axon makes the next ones.
struct RowPipeline {
  std::int64_t first = 0;           // rows of sums that the first row of the soma reads
  std::int64_t axon = 0, soma = 0;  // rows that they make
};

struct ChipPhase {
  std::optional<ChipCall> axon, soma;
  std::optional<RowPipeline> pipeline;
  std::vector<std::int32_t> sends;     // messages
  std::vector<ChipMove> moves;         // for the unit of the phase behind
  std::vector<std::int32_t> receives;  // messages without delay that these wait for
  std::int64_t move_cycles = 0;
  std::int32_t group = 0;  // cores of one group start each phase together
};

// When axon and soma of a phase are done, from its start on: one behind the other, or row by row.
inline std::int64_t computed_at(const ChipPhase& phase, std::int64_t start) {
  const std::int64_t axon = phase.axon ? phase.axon->cycles : 0, soma = phase.soma ? phase.soma->cycles : 0;
  if (!phase.pipeline) return axon + soma;
  auto divided_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const RowPipeline& rows = *phase.pipeline;
  const std::int64_t fill = start + divided_up((axon - start) * rows.first, rows.axon);
  return std::max(fill + soma, axon + divided_up(soma, rows.soma));
}

struct ChipCore {
  std::int32_t core = 0;  // y * width + x over all chips
  // Mode A2S2: soma2 does not wait for packets. It moves what came in the phase before, while the next ones come.
  bool a2s2 = false;
  std::vector<ChipBuffer> buffers;
  std::vector<ChipPhase> phases;
  std::int64_t bytes = 0;  // in use at the worst moment
};

struct ChipMessage {
  struct Run {
    std::int64_t from = 0, to = 0, bytes = 0;
  };
  std::int32_t from_core = host_core, to_core = host_core;  // positions in ChipProgram::cores
  std::int32_t from_phase = -1;
  std::int32_t from_buffer = no_buffer, to_buffer = no_buffer;
  std::int32_t delay = 0;
  std::vector<Run> runs;
  std::int64_t packets = 0, heads = 0;
  std::int64_t singles = 0;  // of its packets: those with a byte each, since 8-byte places do not fit
  // The way (map/chains.hpp). Of a multicast: the message whose packets its target sends on as these, a clk behind,
  // to the same places; the sender sends the first message of a chain alone. Relays: cores, y * width + x, that send
  // them on and keep nothing, from the sender, or the target before, to the target.
  static constexpr std::int32_t no_message = -1;
  std::int32_t behind = no_message;
  std::vector<std::int32_t> relays = {};
};

// Steps that a message waits in its receive buffer until it is moved: its delay. A batch of rows is moved in the step
// in which it comes, into the rows of a later one.
inline std::int64_t steps_waiting(const std::vector<ChipCore>& cores, const ChipMessage& message) {
  if (message.to_core == host_core || message.delay == 0) return message.delay;
  const std::vector<ChipBuffer>& buffers = cores[static_cast<std::size_t>(message.to_core)].buffers;
  const auto number = static_cast<std::size_t>(message.to_buffer);
  return message.to_buffer >= 0 && number < buffers.size() && buffers[number].kept_rows > 0 ? 0 : message.delay;
}

struct ChipProgram {
  std::shared_ptr<const Chip> chip;
  ChipExtent chips;
  ChipNet net;
  std::int32_t width = 0;  // cores of a row, over all chips
  std::vector<ChipCore> cores;
  std::vector<ChipMessage> messages;
  std::vector<ChipBuffer> inputs, outputs;  // of the host, as the net has them
  // A core computes and sends in a phase, or moves what came in it: in an order in which nobody waits.
  struct Turn {
    std::int32_t core = 0, phase = 0;  // position in cores
    bool moves = false;
    BlockId unit = {};  // the first work of the unit that computes, or reads what is moved
  };
  std::vector<Turn> order;
  std::int32_t groups = 0;
  // By group of cores: its step group, whose groups start each step together. None: groups follow their packets alone.
  std::vector<std::int32_t> step_groups;
  std::int32_t cores_there = 0;  // that the mapper might take
  std::vector<std::string> notes;
};

}  // namespace taskspec
