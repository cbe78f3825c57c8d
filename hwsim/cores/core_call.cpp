#include "hwsim/cores/core_call.hpp"

#include <algorithm>

#include "ir/blocks/windows.hpp"

namespace taskspec {

namespace {

constexpr std::size_t none = SIZE_MAX;

// Some rows of a box, the first of them as `first` of the array that holds the box.
void put_row(CoreMemory& memory, std::int32_t number, const Array& values, std::int64_t at, std::int64_t row,
             std::int64_t place, std::int64_t step) {
  const ChipBuffer& buffer = memory.buffer(number);
  Extents size = buffer.layout.type.extents;
  size[0] = 1;
  const std::int64_t bytes = buffer.layout.strides[0] / 8;
  put(part_of(buffer.layout, size), values, memory.write_row(number, at, row, step, 0, bytes), place);
}

// What a call made, whole or row by row.
void put_result(CoreMemory& memory, const ChipCall& call, const Array& made, std::int64_t step) {
  const ChipBuffer& result = memory.buffer(call.result);
  if (result.kept_rows == 0) return put(result.layout, made, memory.write(call.result, 0, step));
  const std::int64_t per_row = made.elements() / call.out.size[0];
  for (std::int64_t i = 0; i < call.out.size[0]; ++i)
    put_row(memory, call.result, made, i % result.kept_rows, call.out.position[0] + i, i * per_row, step);
}

}  // namespace

CoreCall::CoreCall(const ChipCall& call) : call_(call) {
  operands_.resize(call.in.size());
  states_.resize(call.in.size());
  in_.assign(call.in.size(), nullptr);
  state_bytes_.assign(call.in.size(), nullptr);
}

bool CoreCall::does_the_same(const ChipCall& call) const {
  const TaskBlock &a = call_.block, &b = call.block;
  if (call.whole != call_.whole || a.shape != b.shape || a.attributes != b.attributes || a.bias != b.bias ||
      a.precision != b.precision || call.in != call_.in || call.memory != call_.memory)
    return false;
  for (std::size_t c = 0; c < call.reads.size(); ++c)
    if (call.reads[c].size != call_.reads[c].size) return false;
  return true;
}

void CoreCall::make_ready(const CoreMemory& memory, std::int64_t step) {
  std::vector<BlockOperand> operands(call_.in.size());
  for (std::size_t c = 0; c < call_.in.size(); ++c) {
    if (call_.in[c] == no_buffer) continue;
    const ChipBuffer& buffer = memory.buffer(call_.in[c]);
    const ArrayType type{buffer.layout.type.precision, call_.reads[c].size};
    operands_[c] = Array::make(type);
    in_[c] = operands_[c].raw();
    if (buffer.use == BufferUse::state) {
      states_[c] = Array::make(type);
      state_bytes_[c] = states_[c].raw();
    }
    operands[c] = {.there = true, .type = type, .range = range_of(type.precision), .fixed = nullptr};
    if (buffer.use != BufferUse::fixed || call_.reads[c] != buffer.box) continue;
    take(buffer.layout, memory.read(call_.in[c], 0, step), operands_[c]);
    operands[c].range = range_of(type.precision, operands_[c].raw(), operands_[c].elements());
    operands[c].fixed = operands_[c].raw();
  }
  runner_ = call_.block.def->numerics->prepare(call_.block, operands, BlockMode::chip);
  room_.resize(runner_->scratch_bytes() + 64);
  const auto begin = reinterpret_cast<std::uintptr_t>(room_.data());
  scratch_ = room_.data() + (64 - begin % 64) % 64;
}

// A box of a buffer in which row `first_row` comes first.
void CoreCall::take_box(const CoreMemory& memory, std::int32_t number, const Box& box, std::int64_t first_row,
                        Array& operand, std::int64_t step) const {
  const ChipBuffer& buffer = memory.buffer(number);
  const ChipLayout& layout = buffer.layout;
  const std::size_t rank = box.size.size();
  std::int64_t skipped = 0;  // bits of a row before the box
  for (std::size_t i = 1; i < rank; ++i) skipped += (box.position[i] - buffer.box.position[i]) * layout.strides[i];
  if (buffer.kept_rows == 0) {
    const std::byte* bytes = memory.read(number, 0, step);
    skipped += rank > 0 ? (box.position[0] - buffer.box.position[0]) * layout.strides[0] : 0;
    if (skipped % 8 != 0) bug("a part of a buffer begins within a byte");
    return take(part_of(layout, box.size), bytes + skipped / 8, operand);
  }
  Extents size = box.size;
  size[0] = 1;
  const ChipLayout row_layout = part_of(layout, size);
  const std::int64_t per_row = row_layout.type.elements(), last = box.size[1] * layout.strides[1] / 8;
  for (std::int64_t i = 0; i < box.size[0]; ++i) {
    const std::int64_t row = step * buffer.step_rows + box.position[0] + i, at = (row - first_row) % buffer.kept_rows;
    const std::byte* bytes = memory.read_row(number, at, row, step, skipped / 8, skipped / 8 + last);
    take(row_layout, bytes, operand, i * per_row);
  }
}

void CoreCall::take_operands(CoreMemory& memory, const ChipCall& call, std::size_t without, std::int64_t step) {
  for (std::size_t c = 0; c < call.in.size(); ++c) {
    if (call.in[c] == no_buffer || c == without) continue;
    const ChipBuffer& buffer = memory.buffer(call.in[c]);
    const bool is_all = buffer.kept_rows == 0 && call.reads[c] == buffer.box;
    if (!is_all) {
      take_box(memory, call.in[c], call.reads[c], buffer.box.position.empty() ? 0 : buffer.box.position[0],
               operands_[c], step);
      continue;
    }
    const std::byte* bytes = memory.read(call.in[c], 0, step);
    if (buffer.use != BufferUse::fixed) take(buffer.layout, bytes, operands_[c]);
  }
}

BlockRun CoreCall::compute(CoreMemory& memory, const ChipCall& call, Array& made, std::int64_t step) {
  if (call.memory != no_buffer) runner_->remember(memory.read(call.memory, 0, step));
  return runner_->run({.in = in_, .out = made.raw(), .states = state_bytes_, .scratch = scratch_});
}

void CoreCall::leave(CoreMemory& memory, const ChipCall& call, std::int64_t step) {
  for (std::size_t c = 0; c < call.in.size(); ++c) {
    if (!state_bytes_[c]) continue;
    const ChipBuffer& buffer = memory.buffer(call.in[c]);
    if (call.reads[c] == buffer.box) {
      put(buffer.layout, states_[c], memory.write(call.in[c], 0, step));
      continue;
    }
    // Some rows of it, one behind the other.
    const std::int64_t row_bytes = buffer.layout.strides[0] / 8, rows = call.reads[c].size[0];
    const std::int64_t begin = (call.reads[c].position[0] - buffer.box.position[0]) * row_bytes;
    std::byte* bytes = memory.write(call.in[c], 0, step, begin, rows * row_bytes);
    put(part_of(buffer.layout, call.reads[c].size), states_[c], bytes);
  }
  if (call.memory != no_buffer) runner_->save(memory.write(call.memory, 0, step));
}

BlockRun CoreCall::run(CoreMemory& memory, const ChipCall& call, Array& made, std::int64_t step) {
  if (!runner_) make_ready(memory, step);
  take_operands(memory, call, none, step);
  const BlockRun run = compute(memory, call, made, step);
  put_result(memory, call, made, step);
  leave(memory, call, step);
  return run;
}

BlockRun CoreCall::run_rows(CoreCall& axon, CoreCall& soma, CoreMemory& memory, const ChipPhase& phase, Array& sums,
                            Array& made, std::int64_t step) {
  const ChipCall &first = *phase.axon, &second = *phase.soma;
  if (!axon.runner_) axon.make_ready(memory, step);
  if (!soma.runner_) soma.make_ready(memory, step);
  axon.take_operands(memory, first, none, step);
  const BlockRun run = axon.compute(memory, first, sums, step);
  axon.leave(memory, first, step);

  // Row by row through the memory of the core.
  const std::int64_t kept = memory.buffer(first.result).kept_rows, begin = first.out.position[0];
  const std::int64_t rows = first.out.size[0], per_row = sums.elements() / rows;
  const Box& reads = second.reads[0];
  const BlockWindow window = window_of(second.block, BlockAxis::y);
  const std::int64_t per_operand_row = soma.operands_[0].elements() / reads.size[0];
  std::int64_t put_rows = 0;
  auto put_until = [&](std::int64_t end) {
    memory.works(ChipStage::axon, first.whole);
    for (; put_rows < end; ++put_rows)
      put_row(memory, first.result, sums, put_rows % kept, begin + put_rows, put_rows * per_row, step);
  };
  for (std::int64_t o = 0; o < second.out.size[0]; ++o) {
    Box box = reads;
    const std::int64_t low = std::clamp<std::int64_t>(o * window.stride - window.before, 0, reads.size[0]);
    const std::int64_t high =
        std::clamp<std::int64_t>(o * window.stride - window.before + window.reach(), low, reads.size[0]);
    if (low == high) continue;
    box.position[0] += low;
    box.size[0] = high - low;
    put_until(box.position[0] + box.size[0] - begin);
    memory.works(ChipStage::soma1, second.whole);
    Array part = Array::make({soma.operands_[0].type().precision, box.size});
    soma.take_box(memory, second.in[0], box, begin, part, step);
    std::copy_n(
        part.raw(), part.bytes(),
        soma.operands_[0].raw() + static_cast<std::size_t>(low * per_operand_row) * info(part.type().precision).bytes);
  }
  put_until(rows);
  memory.works(ChipStage::soma1, second.whole);
  soma.take_operands(memory, second, 0, step);
  BlockRun other = soma.compute(memory, second, made, step);
  put_result(memory, second, made, step);
  soma.leave(memory, second, step);
  other.saturations += run.saturations;
  other.ordered |= run.ordered;
  return other;
}

}  // namespace taskspec
