#include "hwsim/program/fault_place.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

namespace {

constexpr std::string_view stage_names[] = {"axon", "soma1", "send", "receive", "soma2"};

template <class T>
const T* entry(const std::vector<T>& list, std::int64_t number) {
  return number >= 0 && number < static_cast<std::int64_t>(list.size()) ? &list[static_cast<std::size_t>(number)]
                                                                        : nullptr;
}

// What a phase makes, and from where it is sent.
const ChipCall* last_call(const ChipPhase& phase) {
  return phase.soma ? &*phase.soma : phase.axon ? &*phase.axon : nullptr;
}

std::string where(const ChipProgram& program, const FaultPlace& place) {
  const TaskBlock* block = block_at(program, place);
  const std::string of = block ? fmt::format(" of '{}'", block->name) : "";
  const std::string_view stage = stage_names[static_cast<std::size_t>(place.stage)];
  const ChipCore* core = entry(program.cores, place.core);
  if (!core) return fmt::format("the host, {}{}", stage, of);
  if (place.phase < 0) return fmt::format("core {}, between steps{}", core->core, of);
  return fmt::format("core {}, phase {}, {}{}", core->core, place.phase, stage, of);
}

}  // namespace

const TaskBlock* block_at(const ChipProgram& program, const FaultPlace& place) {
  const BlockGraph* graph = program.net.graph.get();
  const bool is_there = graph && place.block.valid() && place.block.index() < graph->blocks.size();
  return is_there ? &(*graph)[place.block] : nullptr;
}

std::string text_of(const ChipProgram& program, const FaultPlace& place) {
  std::string text = where(program, place);
  if (place.message != ChipMessage::no_message)
    text += fmt::format(", from {}", where(program, sender_of(program, place.message)));
  return text;
}

void chip_fault(const ChipProgram& program, const FaultPlace& place, const std::string& what) {
  const TaskBlock* block = block_at(program, place);
  throw failure("E5012", block ? block->span : Span(), fmt::format("{}: {}", text_of(program, place), what));
}

FaultPlace sender_of(const ChipProgram& program, std::int32_t number) {
  FaultPlace place{.stage = ChipStage::send};
  const ChipMessage* message = entry(program.messages, number);
  if (!message) return place;
  const ChipCore* core = entry(program.cores, message->from_core);
  if (!core) {
    if (const ChipBuffer* port = entry(program.inputs, message->from_buffer)) place.block = port->block;
    return place;
  }
  place.core = message->from_core;
  place.phase = message->from_phase;
  const ChipPhase* phase = entry(core->phases, message->from_phase);
  if (const ChipCall* call = phase ? last_call(*phase) : nullptr)
    place.block = call->whole;
  else if (const ChipBuffer* from = entry(core->buffers, message->from_buffer))
    place.block = from->block;
  return place;
}

FaultPlace receiver_of(const ChipProgram& program, std::int32_t number) {
  FaultPlace place{.stage = ChipStage::receive};
  const ChipMessage* message = entry(program.messages, number);
  if (!message) return place;
  const ChipCore* core = entry(program.cores, message->to_core);
  if (!core) {
    if (const ChipBuffer* port = entry(program.outputs, message->to_buffer)) place.block = port->block;
    return place;
  }
  place = user_of(program, message->to_core, message->to_buffer);
  place.stage = ChipStage::receive;
  for (std::size_t k = 0; k < core->phases.size(); ++k)
    if (std::ranges::find(core->phases[k].receives, number) != core->phases[k].receives.end())
      place.phase = static_cast<std::int32_t>(k);
  return place;
}

FaultPlace user_of(const ChipProgram& program, std::int32_t position, std::int32_t number) {
  FaultPlace place{.core = position};
  const ChipCore* core = entry(program.cores, position);
  const ChipBuffer* buffer = core ? entry(core->buffers, number) : nullptr;
  if (!buffer) return place;
  place.phase = buffer->first_phase;
  place.block = buffer->block;
  std::int32_t read = number;  // what comes is read where it is moved to
  bool is_moved = false;
  for (std::size_t k = 0; k < core->phases.size() && !is_moved; ++k)
    for (const ChipMove& move : core->phases[k].moves) {
      if (move.from != number || is_moved) continue;
      is_moved = true;
      read = move.to;
      place.phase = static_cast<std::int32_t>(k);
      place.stage = ChipStage::soma2;
    }
  for (std::size_t k = 0; k < core->phases.size(); ++k) {
    const ChipPhase& phase = core->phases[k];
    for (const auto& [call, stage] : {std::pair{&phase.axon, ChipStage::axon}, {&phase.soma, ChipStage::soma1}}) {
      if (!*call) continue;
      const ChipCall& one = **call;
      if (std::ranges::find(one.in, read) == one.in.end() && one.result != read && one.memory != read) continue;
      place.block = one.whole;
      if (!is_moved) place.phase = static_cast<std::int32_t>(k), place.stage = stage;
      return place;
    }
  }
  if (buffer->use == BufferUse::receive) place.stage = ChipStage::soma2;
  return place;
}

FaultPlace maker_of(const ChipProgram& program, BlockId block, std::int64_t at) {
  FaultPlace place{.stage = ChipStage::send, .block = block};
  const TaskBlock* whole = block_at(program, place);
  if (!whole || !whole->def->computes()) return place;
  const Extents extents = value_type(*whole).extents;
  Extents index(extents.size());
  for (std::size_t i = extents.size(); i-- > 0; at /= std::max<std::int64_t>(1, extents[i]))
    index[i] = at % std::max<std::int64_t>(1, extents[i]);
  auto makes = [&](const ChipCall& call) {
    if (call.whole != block || call.out.size.size() != index.size()) return false;
    for (std::size_t i = 0; i < index.size(); ++i)
      if (index[i] < call.out.position[i] || index[i] >= call.out.position[i] + call.out.size[i]) return false;
    return true;
  };
  for (std::size_t c = 0; c < program.cores.size(); ++c)
    for (std::size_t k = 0; k < program.cores[c].phases.size(); ++k) {
      const ChipPhase& phase = program.cores[c].phases[k];
      for (const auto& [call, stage] : {std::pair{&phase.axon, ChipStage::axon}, {&phase.soma, ChipStage::soma1}})
        if (*call && makes(**call))
          return {.core = static_cast<std::int32_t>(c),
                  .phase = static_cast<std::int32_t>(k),
                  .stage = stage,
                  .block = block};
    }
  return place;
}

}  // namespace taskspec
