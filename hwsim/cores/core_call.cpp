#include "hwsim/cores/core_call.hpp"

namespace taskspec {

CoreCall::CoreCall(const ChipCall& call, const ChipCore& core) : call_(call), core_(core) {
  operands_.resize(call.in.size());
  states_.resize(call.in.size());
  in_.assign(call.in.size(), nullptr);
  state_bytes_.assign(call.in.size(), nullptr);
  for (std::size_t c = 0; c < call.in.size(); ++c) {
    if (call.in[c] == no_buffer) continue;
    const ChipBuffer& buffer = core.buffers[static_cast<std::size_t>(call.in[c])];
    operands_[c] = Array::make(buffer.layout.type);
    in_[c] = operands_[c].raw();
    if (buffer.use != BufferUse::state) continue;
    states_[c] = Array::make(buffer.layout.type);
    state_bytes_[c] = states_[c].raw();
  }
  made_ = Array::make(value_type(call.block));
}

void CoreCall::reset() { runner_.reset(); }

void CoreCall::make_ready(const CoreMemory& memory, std::int64_t step) {
  std::vector<BlockOperand> operands(call_.in.size());
  for (std::size_t c = 0; c < call_.in.size(); ++c) {
    if (call_.in[c] == no_buffer) continue;
    const ChipBuffer& buffer = memory.buffer(call_.in[c]);
    operands[c] = {
        .there = true, .type = buffer.layout.type, .range = range_of(buffer.layout.type.precision), .fixed = nullptr};
    if (buffer.use != BufferUse::fixed) continue;
    take(buffer.layout, memory.read(call_.in[c], 0, step), operands_[c]);
    operands[c].range = range_of(buffer.layout.type.precision, operands_[c].raw(), operands_[c].elements());
    operands[c].fixed = operands_[c].raw();
  }
  runner_ = call_.block.def->numerics->prepare(call_.block, operands, BlockMode::chip);
  room_.resize(runner_->scratch_bytes() + 64);
  const auto begin = reinterpret_cast<std::uintptr_t>(room_.data());
  scratch_ = room_.data() + (64 - begin % 64) % 64;
}

BlockRun CoreCall::run(CoreMemory& memory, std::int64_t step) {
  if (!runner_) make_ready(memory, step);
  for (std::size_t c = 0; c < call_.in.size(); ++c) {
    if (call_.in[c] == no_buffer) continue;
    const ChipBuffer& buffer = memory.buffer(call_.in[c]);
    const std::byte* bytes = memory.read(call_.in[c], 0, step);
    if (buffer.use != BufferUse::fixed) take(buffer.layout, bytes, operands_[c]);
  }
  if (call_.memory != no_buffer) runner_->remember(memory.read(call_.memory, 0, step));
  const BlockRun made = runner_->run({.in = in_, .out = made_.raw(), .states = state_bytes_, .scratch = scratch_});
  const ChipBuffer& result = memory.buffer(call_.result);
  put(result.layout, made_, memory.write(call_.result, 0, step));
  for (std::size_t c = 0; c < call_.in.size(); ++c)
    if (state_bytes_[c]) put(memory.buffer(call_.in[c]).layout, states_[c], memory.write(call_.in[c], 0, step));
  if (call_.memory != no_buffer) runner_->save(memory.write(call_.memory, 0, step));
  return made;
}

}  // namespace taskspec
