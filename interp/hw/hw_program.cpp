#include "interp/hw/hw_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "hwsim/program/fault_place.hpp"
#include "interp/hw/frames.hpp"

namespace taskspec {

HwProgram::HwProgram(LoweredGraph lowered, std::shared_ptr<const ChipProgram> program)
    : ChipRun(std::move(lowered)), program_(std::move(program)) {
  if (program_) machine_.emplace(program_);
}

namespace {

Result<ChipProgram> mapped_net(ChipNet net, const HwOptions& options) {
  if (!options.mapping && !options.optimise) return map_net(net, options);
  Result<ChipMapping> mapping =
      options.mapping ? apply(*options.mapping, std::move(net), options) : ChipMapping::make(std::move(net), options);
  if (!mapping) return mapping.diags();
  std::vector<std::string> notes;
  if (options.optimise) {
    // As it finds them, and in the report: the number of moves gives the same again.
    auto tell = [&](const std::string& line) {
      std::fputs((line + "\n").c_str(), stderr);
      notes.push_back(line);
    };
    const Optimised done = optimise(*mapping, *options.optimise, tell);
    tell(fmt::format("{} moves, {} accepted", done.moves, done.accepted));
  }
  Result<ChipProgram> program = mapping->program();
  if (program) program->notes.insert(program->notes.end(), notes.begin(), notes.end());
  return program;
}

}  // namespace

Result<std::unique_ptr<HwProgram>> HwProgram::make(LoweredGraph lowered, const HwOptions& options) {
  if (lowered.outputs.empty() && lowered.states.empty())  // the host has computed it
    return std::unique_ptr<HwProgram>(new HwProgram(std::move(lowered), nullptr));
  auto graph = std::make_shared<const BlockGraph>(lowered.graph);
  Result<ChipNet> net = chip_net(graph);
  if (!net) return net.diags();
  Result<ChipProgram> mapped = mapped_net(*std::move(net), options);
  if (!mapped) return mapped.diags();
  return with(std::move(lowered), *std::move(mapped), options);
}

Result<std::unique_ptr<HwProgram>> HwProgram::with(LoweredGraph lowered, ChipProgram mapped, const HwOptions& options) {
  Result<ChipTiming> timing =
      time_program(mapped, {.noc = options.noc, .frames = options.frames, .keeps_stages = options.keeps_pictures});
  if (!timing) return timing.diags();
  auto program = std::make_shared<const ChipProgram>(std::move(mapped));
  std::unique_ptr<HwProgram> made(new HwProgram(std::move(lowered), program));
  made->timing_ = *std::move(timing);
  made->picture_ = chip_picture(*program, made->timing_, account_of(*program, made->timing_));
  made->picture_.noc = name_of(options.noc);
  if (options.keeps_pictures) made->neurons_.emplace(*program);
  if (options.checks_values) {
    Result<ExactEngine> engine = ExactEngine::make(std::make_shared<const BlockGraph>(made->lowered_.graph), {});
    if (!engine) return engine.diags();
    made->judge_ = *std::move(engine);
  }
  return made;
}

std::vector<Array> HwProgram::step(std::span<const Array> tensors) {
  if (!program_) return {};
  return frame_by_frame(lowered_, tensors, [&](std::span<const Array> one) { return frame(one); });
}

std::vector<Array> HwProgram::frame(std::span<const Array> tensors) {
  std::vector<Array> inputs;
  for (BlockId id : program_->net.inputs) {
    const auto port = std::ranges::find(lowered_.inputs, id, &LoweredPort::block);
    inputs.push_back(to_block(*port, tensors[static_cast<std::size_t>(port - lowered_.inputs.begin())]));
  }
  const std::vector<Array> made = machine_->run(inputs);
  ++version_;
  if (neurons_) neurons_->look(*machine_);
  for (const Array& values : made) values_.bytes({values.raw(), values.bytes()});
  if (judge_) compare(inputs);
  std::vector<Array> outputs;
  for (const LoweredPort& port : lowered_.outputs) {
    const auto output = std::ranges::find(program_->net.outputs, port.block, &NetOutput::block);
    outputs.push_back(from_block(port, made[static_cast<std::size_t>(output - program_->net.outputs.begin())]));
  }
  return outputs;
}

// Every block's values against those of the exact engine.
void HwProgram::compare(std::span<const Array> inputs) {
  judge_->run(inputs);
  for (const NetWork& work : program_->net.works) {
    if (work.block.index() >= lowered_.graph.blocks.size()) continue;  // a part of a sum that the mapper cut
    const Array wanted = judge_->value(work.block), made = machine_->value(work.block);
    for (std::int64_t i = 0; i < wanted.elements(); ++i)
      if (wanted.integer(i) != made.integer(i))
        chip_fault(*program_, maker_of(*program_, work.block, i),
                   fmt::format("{} at place {} of what it makes, where the exact engine has {}, in step {}",
                               made.integer(i), i, wanted.integer(i), version_ - 1));
  }
}

// States of real numbers begin at 0, whatever integers those are: potentials leak behind a step, and are kept as the
// next one begins with them.
Array HwProgram::moved(const LoweredState& state, Array integers, int sign) const {
  const TaskBlock& block = lowered_.graph[state.storage];
  if (!is_float(state.port.tensor.precision) || !block.data) return integers;
  const PrecisionInfo& limits = info(integers.precision());
  for (std::int64_t i = 0; i < integers.elements(); ++i)
    integers.set_integer(
        i, std::clamp(integers.integer(i) + sign * block.data->integer(i), limits.minimum, limits.maximum));
  return integers;
}

Array HwProgram::state(std::size_t number) const {
  const LoweredState& state = lowered_.states[number];
  return from_block(state.port, moved(state, machine_->state(state.storage), -1));
}

void HwProgram::set_state(std::size_t number, const Array& tensor) {
  const LoweredState& state = lowered_.states[number];
  const Array contents = moved(state, to_block(state.port, tensor), 1);
  machine_->set_state(state.storage, contents);
  if (judge_) judge_->set_state(state.storage, contents);
}

void HwProgram::begin_state(std::size_t number) {
  const LoweredState& state = lowered_.states[number];
  if (!state.storage.valid()) return;
  const TaskBlock& block = lowered_.graph[state.storage];
  const Array first = block.data ? *block.data : Array::make(value_type(block));
  machine_->set_state(state.storage, first);
  if (judge_) judge_->set_state(state.storage, first);
}

std::int64_t HwProgram::cycles() const {
  return version_ == 0 || !program_ ? 0 : timing_.latency + (version_ - 1) * timing_.interval;
}

std::optional<ChipPicture> HwProgram::picture() const {
  if (!program_) return std::nullopt;
  ChipPicture picture = picture_;
  picture.title = title_;
  picture.steps = version_;
  picture.cycles = cycles();
  picture.values = values_.digest();
  if (neurons_) picture.populations = neurons_->populations();
  return picture;
}

}  // namespace taskspec
