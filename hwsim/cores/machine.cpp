#include "hwsim/cores/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "hwsim/cores/check_ways.hpp"
#include "hwsim/cores/core_call.hpp"
#include "hwsim/program/batch_turns.hpp"

namespace taskspec {

struct ChipMachine::Parts {
  struct Core {
    Core(const ChipProgram& program, std::int32_t position) : memory(program, position) {
      for (const ChipPhase& phase : program.cores[static_cast<std::size_t>(position)].phases) {
        axons.push_back(ready(phase.axon));
        somas.push_back(ready(phase.soma));
        arrived.emplace_back(0);
      }
    }
    CoreMemory memory;
    struct Call {
      CoreCall* ready = nullptr;  // none: nothing to do
      Array made;
    };
    std::vector<Call> axons, somas;     // by phase
    std::vector<std::int64_t> arrived;  // heads whose last packet came, for the moves of the phase

   private:
    Call ready(const std::optional<ChipCall>& call) {
      if (!call) return {};
      Array made = Array::make(value_type(call->block));
      for (CoreCall& other : calls)
        if (other.does_the_same(*call)) return {&other, std::move(made)};
      return {&calls.emplace_back(*call), std::move(made)};
    }
    std::deque<CoreCall> calls;
  };

  explicit Parts(std::shared_ptr<const ChipProgram> given) : program(std::move(given)), turns(*program) {
    check_ways(*program);
    for (std::size_t i = 0; i < program->cores.size(); ++i) cores.emplace_back(*program, static_cast<std::int32_t>(i));
    came.assign(program->messages.size(), 0);
    for (std::size_t i = 0; i < cores.size(); ++i) await_early(program->cores[i], cores[i].memory);
    mover.assign(program->messages.size(), -1);
    for (const ChipCore& core : program->cores)
      for (std::size_t k = 0; k < core.phases.size(); ++k)
        for (std::int32_t message : core.phases[k].receives)
          mover[static_cast<std::size_t>(message)] = static_cast<std::int32_t>(k);
    sent_on.assign(program->messages.size(), ChipMessage::no_message);
    for (std::size_t i = 0; i < program->messages.size(); ++i) {
      const ChipMessage& message = program->messages[i];
      if (message.behind != ChipMessage::no_message)
        sent_on[static_cast<std::size_t>(message.behind)] = static_cast<std::int32_t>(i);
      else if (message.from_core == host_core)
        host_sends[message.from_phase].push_back(static_cast<std::int32_t>(i));
    }
    for (const ChipBuffer& port : program->inputs) in_bytes.emplace_back(static_cast<std::size_t>(port.bytes));
    for (const ChipBuffer& port : program->outputs) {
      out_bytes.emplace_back();
      for (std::size_t slot = 0; slot < static_cast<std::size_t>(port.slots); ++slot) {
        out_bytes.back().emplace_back(static_cast<std::size_t>(port.bytes));
        put(port.layout, slot < port.early.size() ? port.early[slot] : *port.data, out_bytes.back()[slot].data());
      }
      out_heads.push_back(0);
      out_left.push_back(0);
    }
    for (const ChipMessage& message : program->messages)
      if (message.to_core == host_core) out_left[static_cast<std::size_t>(message.to_buffer)] += message.heads;
  }

  // What lies in a delayed receive buffer before the first packets come is as unread as they are.
  static void await_early(const ChipCore& core, CoreMemory& memory) {
    for (std::size_t k = 0; k < core.phases.size(); ++k)
      for (const ChipMove& move : core.phases[k].moves) {
        memory.works(static_cast<std::int32_t>(k), ChipStage::soma2);
        for (std::size_t slot = 0; slot < memory.buffer(move.from).early.size(); ++slot)
          for (const ChipMove::Run& run : move.runs) memory.await(move.from, static_cast<std::int64_t>(slot), run);
      }
  }

  std::shared_ptr<const ChipProgram> program;
  BatchTurns turns;
  std::deque<Core> cores;
  std::map<std::int32_t, std::vector<std::int32_t>> host_sends;  // by turn
  std::vector<std::int32_t> mover;                               // by message, the phase that moves what it brings
  std::vector<std::int32_t> sent_on;                             // by message: the next one of its multicast
  std::vector<std::vector<std::byte>> in_bytes;
  std::vector<std::vector<std::vector<std::byte>>> out_bytes;  // by output and step of delay
  std::vector<std::int64_t> out_heads, out_left;               // that came in this step; that come in each
  std::vector<std::int32_t> came;                              // by message: how often, since it was looked at
  MachineCounts counts;

  void send(std::int32_t number, std::int32_t phase);
  void deliver(const ChipMessage& sent, const std::vector<const std::byte*>& packets, std::int32_t number);
  void move(std::int32_t core, std::int32_t phase);
  void place(CoreMemory& memory, const ChipMove& move, const ChipMove::Run& run, const std::byte* from) const;
  FaultPlace missing(FaultPlace place, const std::vector<std::int32_t>& expected) const;
  void turn(const ChipProgram::Turn& turn);
  void end_step();
};

ChipMachine::ChipMachine(std::shared_ptr<const ChipProgram> program)
    : parts_(std::make_unique<Parts>(std::move(program))) {}
ChipMachine::~ChipMachine() = default;
ChipMachine::ChipMachine(ChipMachine&&) noexcept = default;

const MachineCounts& ChipMachine::counts() const { return parts_->counts; }

void ChipMachine::Parts::send(std::int32_t number, std::int32_t phase) {
  const ChipMessage& message = program->messages[static_cast<std::size_t>(number)];
  if (message.from_core != host_core) {
    const FaultPlace place{.core = message.from_core,
                           .phase = phase,
                           .stage = ChipStage::send,
                           .block = sender_of(*program, number).block};
    if (message.from_phase != phase)
      chip_fault(*program, place, fmt::format("phase {} sends what phase {} makes", phase, message.from_phase));
    cores[static_cast<std::size_t>(message.from_core)].memory.works(phase, place.stage, place.block);
  }
  auto bytes_of = [&](const ChipMessage::Run& run) -> const std::byte* {
    if (message.from_core == host_core)
      return in_bytes[static_cast<std::size_t>(message.from_buffer)].data() + run.from;
    return cores[static_cast<std::size_t>(message.from_core)].memory.read(message.from_buffer, 0, counts.steps,
                                                                          run.from, run.bytes);
  };
  std::vector<const std::byte*> packets;
  for (const ChipMessage::Run& run : message.runs) packets.push_back(bytes_of(run));
  for (std::int32_t to = number; to != ChipMessage::no_message; to = sent_on[static_cast<std::size_t>(to)]) {
    if (to != number) counts.copies += message.packets;
    deliver(message, packets, to);
  }
}

// What was sent comes to the target of a message: of itself, or of one that stands behind it in a multicast, whose core
// gets the packets, and the places in them, as the first did.
void ChipMachine::Parts::deliver(const ChipMessage& sent, const std::vector<const std::byte*>& packets,
                                 std::int32_t number) {
  const ChipMessage& message = program->messages[static_cast<std::size_t>(number)];
  counts.packets += sent.packets;
  ++came[static_cast<std::size_t>(number)];
  if (message.to_core == host_core) {
    auto& slots = out_bytes[static_cast<std::size_t>(message.to_buffer)];
    std::vector<std::byte>& port = slots[static_cast<std::size_t>(counts.steps + message.delay) % slots.size()];
    for (std::size_t i = 0; i < packets.size(); ++i)
      std::memcpy(port.data() + sent.runs[i].to, packets[i], static_cast<std::size_t>(sent.runs[i].bytes));
    out_heads[static_cast<std::size_t>(message.to_buffer)] += sent.heads;
    return;
  }
  Core& target = cores[static_cast<std::size_t>(message.to_core)];
  const std::int64_t waits = steps_waiting(program->cores, message);
  const std::int64_t slot = turns.of(number).slot(counts.steps, waits, target.memory.buffer(message.to_buffer).slots);
  target.memory.works(mover[static_cast<std::size_t>(number)], ChipStage::receive, {}, number);
  for (std::size_t i = 0; i < packets.size(); ++i)
    target.memory.arrive(message.to_buffer, slot, sent.runs[i].to, packets[i], sent.runs[i].bytes,
                         counts.steps + waits);
  if (waits == 0 && mover[static_cast<std::size_t>(number)] >= 0)
    target.arrived[static_cast<std::size_t>(mover[static_cast<std::size_t>(number)])] += sent.heads;
}

// The soma2 of a phase: what was received goes into the inputs of the phase behind.
void ChipMachine::Parts::move(std::int32_t position, std::int32_t phase) {
  const ChipCore& core = program->cores[static_cast<std::size_t>(position)];
  Core& state = cores[static_cast<std::size_t>(position)];
  const ChipPhase& now = core.phases[static_cast<std::size_t>(phase)];
  std::int64_t expected = 0;
  std::vector<std::int32_t> awaited;
  for (std::int32_t number : now.receives) {
    const ChipMessage& message = program->messages[static_cast<std::size_t>(number)];
    if (steps_waiting(program->cores, message) != 0) continue;
    expected += message.heads;
    awaited.push_back(number);
  }
  std::int64_t& arrived = state.arrived[static_cast<std::size_t>(phase)];
  if (arrived != expected)
    chip_fault(*program, missing({.core = position, .phase = phase, .stage = ChipStage::receive}, awaited),
               fmt::format("{} stop flags are awaited, {} came", expected, arrived));
  arrived = 0;
  for (std::int32_t number : awaited) came[static_cast<std::size_t>(number)] = 0;
  state.memory.works(phase, ChipStage::soma2);
  for (const ChipMove& move : now.moves) {
    const std::int64_t slot =
        turns.of(position, move.from, phase).slot(counts.steps, 0, state.memory.buffer(move.from).slots);
    for (const ChipMove::Run& run : move.runs) {
      const std::byte* from = state.memory.read(move.from, slot, counts.steps, run.byte, run.bytes);
      place(state.memory, move, run, from);
      state.memory.moved(move.from, slot, run);
    }
  }
}

// The message that did not come, or came twice, and who waits for it.
FaultPlace ChipMachine::Parts::missing(FaultPlace place, const std::vector<std::int32_t>& expected) const {
  for (std::int32_t number : expected) {
    const bool is_odd = came[static_cast<std::size_t>(number)] != 1;
    if (is_odd || !place.block.valid()) place.block = receiver_of(*program, number).block;
    if (!is_odd) continue;
    place.message = number;
    break;
  }
  return place;
}

// Rows of a batch go where the ring has them.
void ChipMachine::Parts::place(CoreMemory& memory, const ChipMove& move, const ChipMove::Run& run,
                               const std::byte* from) const {
  const ChipBuffer& to = memory.buffer(move.to);
  if (to.kept_rows == 0) {
    std::memcpy(memory.write(move.to, 0, counts.steps, run.byte, run.bytes), from, static_cast<std::size_t>(run.bytes));
    return;
  }
  const std::int64_t row_bytes = to.layout.strides[0] / 8, step = counts.steps + move.delay;
  for (std::int64_t done = 0; done < run.bytes;) {
    const std::int64_t byte = run.byte + done, begin = byte % row_bytes;
    const std::int64_t row = step * to.step_rows + move.box.position[0] + byte / row_bytes;
    const std::int64_t bytes = std::min(run.bytes - done, row_bytes - begin);
    const std::int64_t at = (row - to.box.position[0]) % to.kept_rows;
    std::memcpy(memory.write_row(move.to, at, row, step, begin, begin + bytes), from + done,
                static_cast<std::size_t>(bytes));
    done += bytes;
  }
}

void ChipMachine::Parts::turn(const ChipProgram::Turn& turn) {
  if (turn.core == host_core) {
    for (std::int32_t number : host_sends[turn.phase]) send(number, turn.phase);
    return;
  }
  if (turn.moves) return move(turn.core, turn.phase);
  const ChipCore& core = program->cores[static_cast<std::size_t>(turn.core)];
  Core& state = cores[static_cast<std::size_t>(turn.core)];
  const auto k = static_cast<std::size_t>(turn.phase);
  const ChipPhase& phase = core.phases[k];
  Core::Call &axon = state.axons[k], &soma = state.somas[k];
  auto count = [&](const BlockRun& run) {
    counts.saturations += run.saturations;
    counts.ordered += run.ordered ? 1 : 0;
  };
  if (phase.axon) state.memory.works(turn.phase, ChipStage::axon, phase.axon->whole);
  if (axon.ready && soma.ready && state.memory.buffer(phase.axon->result).kept_rows > 0) {
    count(CoreCall::run_rows(*axon.ready, *soma.ready, state.memory, phase, axon.made, soma.made, counts.steps));
  } else {
    if (axon.ready) count(axon.ready->run(state.memory, *phase.axon, axon.made, counts.steps));
    if (phase.soma) state.memory.works(turn.phase, ChipStage::soma1, phase.soma->whole);
    if (soma.ready) count(soma.ready->run(state.memory, *phase.soma, soma.made, counts.steps));
  }
  for (std::int32_t number : phase.sends) send(number, turn.phase);
}

void ChipMachine::Parts::end_step() {
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const auto position = static_cast<std::int32_t>(i);
    if (const std::int32_t left = cores[i].memory.unread(counts.steps); left != no_buffer)
      chip_fault(*program, user_of(*program, position, left),
                 fmt::format("packets for '{}' are left at the end of a step", cores[i].memory.buffer(left).name));
    cores[i].memory.works(-1, ChipStage::axon);
  }
  for (std::size_t i = 0; i < out_heads.size(); ++i) {
    if (out_heads[i] != out_left[i]) {
      std::vector<std::int32_t> expected;
      for (std::size_t m = 0; m < program->messages.size(); ++m)
        if (program->messages[m].to_core == host_core && program->messages[m].to_buffer == static_cast<std::int32_t>(i))
          expected.push_back(static_cast<std::int32_t>(m));
      const FaultPlace place = missing({.stage = ChipStage::receive, .block = program->outputs[i].block}, expected);
      chip_fault(*program, place,
                 fmt::format("{} stop flags are awaited for '{}', {} came", out_left[i], program->outputs[i].name,
                             out_heads[i]));
    }
    out_heads[i] = 0;
  }
  std::ranges::fill(came, 0);  // delayed ones, and those of outputs
  ++counts.steps;
}

std::vector<Array> ChipMachine::run(std::span<const Array> inputs) {
  Parts& p = *parts_;
  const ChipProgram& program = *p.program;
  if (inputs.size() != program.inputs.size()) bug("a chip was given another number of inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) put(program.inputs[i].layout, inputs[i], p.in_bytes[i].data());
  const auto step = static_cast<std::size_t>(p.counts.steps);
  for (const ChipProgram::Turn& turn : program.order) p.turn(turn);
  p.end_step();
  std::vector<Array> outputs;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    Array made = Array::make(program.outputs[i].layout.type);
    take(program.outputs[i].layout, p.out_bytes[i][step % p.out_bytes[i].size()].data(), made);
    outputs.push_back(std::move(made));
  }
  return outputs;
}

void ChipMachine::reset() {
  const std::shared_ptr<const ChipProgram> program = parts_->program;
  *parts_ = Parts(program);
}

namespace {

// Copies a part to its place in the whole, or out of it.
void exchange_part(Array& whole, const Box& box, Array& part, bool into_whole) {
  const std::vector<std::int32_t> places = places_in(whole.extents(), box);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    into_whole ? whole.set_integer(places[i], part.integer(at)) : part.set_integer(at, whole.integer(places[i]));
  }
}

template <class F>
void each_state(const ChipProgram& program, BlockId storage, F&& visit) {
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (const ChipProgram::Turn& turn : program.order) {
    if (turn.moves || turn.core == host_core) continue;
    const ChipPhase& phase =
        program.cores[static_cast<std::size_t>(turn.core)].phases[static_cast<std::size_t>(turn.phase)];
    for (const std::optional<ChipCall>* call : {&phase.axon, &phase.soma}) {
      if (!*call) continue;
      for (std::int32_t buffer : (*call)->in) {
        if (buffer == no_buffer) continue;
        const ChipBuffer& held =
            program.cores[static_cast<std::size_t>(turn.core)].buffers[static_cast<std::size_t>(buffer)];
        if (held.use == BufferUse::state && held.block == storage && seen.emplace(turn.core, buffer).second)
          visit(turn.core, buffer, held.box);
      }
    }
  }
}

}  // namespace

Array ChipMachine::state(BlockId storage) const {
  const ChipProgram& program = *parts_->program;
  Array all = Array::make(value_type((*program.net.graph)[storage]));
  each_state(program, storage, [&](std::int32_t core, std::int32_t buffer, const Box& box) {
    const CoreMemory& memory = parts_->cores[static_cast<std::size_t>(core)].memory;
    const ChipLayout& layout = memory.buffer(buffer).layout;
    Array part = Array::make(layout.type);
    take(layout, memory.read(buffer, 0, parts_->counts.steps), part);
    exchange_part(all, box, part, true);
  });
  return all;
}

void ChipMachine::set_state(BlockId storage, const Array& contents) {
  Array all = contents;
  each_state(*parts_->program, storage, [&](std::int32_t core, std::int32_t buffer, const Box& box) {
    CoreMemory& memory = parts_->cores[static_cast<std::size_t>(core)].memory;
    const ChipLayout& layout = memory.buffer(buffer).layout;
    Array part = Array::make(layout.type);
    exchange_part(all, box, part, false);
    put(layout, part, memory.write(buffer, 0, parts_->counts.steps));
  });
}

Array ChipMachine::value(BlockId block) const {
  const ChipProgram& program = *parts_->program;
  Array all = Array::make(value_type((*program.net.graph)[block]));
  for (const ChipProgram::Turn& turn : program.order) {
    if (turn.moves || turn.core == host_core) continue;
    const Parts::Core& core = parts_->cores[static_cast<std::size_t>(turn.core)];
    const ChipPhase& phase =
        program.cores[static_cast<std::size_t>(turn.core)].phases[static_cast<std::size_t>(turn.phase)];
    for (const auto& [call, made] : {std::pair{&phase.axon, &core.axons[static_cast<std::size_t>(turn.phase)].made},
                                     {&phase.soma, &core.somas[static_cast<std::size_t>(turn.phase)].made}}) {
      if (!*call || (*call)->whole != block) continue;
      Array part = *made;
      exchange_part(all, (*call)->out, part, true);
    }
  }
  return all;
}

}  // namespace taskspec
