#include "interp/exact/engine.hpp"

#include <algorithm>
#include <cstring>

#include "interp/exact/control.hpp"
#include "interp/exact/fill.hpp"
#include "interp/exact/plan.hpp"
#include "ir/blocks/cost.hpp"
#include "ir/blocks/pack.hpp"
#include "ir/blocks/value.hpp"

namespace taskspec {

struct ExactEngine::Parts {
  ExactPlan plan;
  std::int64_t steps = 0;

  void take_inputs(std::span<const Array> inputs);
  void run_block(ExactBlock& block);
  void run_controlled();
  void note(ExactBlock& block);
  void reset();
};

Result<ExactEngine> ExactEngine::make(std::shared_ptr<const BlockGraph> graph, const ExactOptions& options) {
  Result<ExactPlan> plan = plan_exactly(std::move(graph), options);
  if (!plan) return plan.diags();
  auto parts = std::make_unique<Parts>(Parts{.plan = *std::move(plan)});
  parts->reset();
  return ExactEngine(std::move(parts));
}

ExactEngine::ExactEngine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ExactEngine::ExactEngine(ExactEngine&&) noexcept = default;
ExactEngine& ExactEngine::operator=(ExactEngine&&) noexcept = default;
ExactEngine::~ExactEngine() = default;

void ExactEngine::Parts::take_inputs(std::span<const Array> inputs) {
  if (inputs.size() != plan.inputs.size()) bug("a block graph was given another number of inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Array& values = plan.blocks[plan.inputs[i].index()].values;
    if (inputs[i].precision() != values.precision() || inputs[i].elements() != values.elements())
      bug("an input of a block graph is of another type");
    std::memcpy(values.raw(), inputs[i].raw(), values.bytes());
  }
}

void ExactEngine::Parts::run_block(ExactBlock& block) {
  ++block.row.runs;
  if (!block.runner) {
    const bool is_filled = !block.in.empty() && block.in[0].is_there() && block.values.valid();
    if (is_filled) block.row.saturations += fill_exactly(plan, block, steps);
    return;
  }
  for (ExactCluster& cluster : block.in)
    if (cluster.is_there() && !cluster.alias && !cluster.is_done) fill_exactly(plan, cluster, steps);
  const BlockRun run = block.runner->run({.in = block.in_bytes,
                                          .out = block.values.raw(),
                                          .states = block.state_bytes,
                                          .scratch = plan.scratch,
                                          .force_ordered = plan.options.force_ordered,
                                          .gives = block.gives});
  block.row.skipped += run.skipped;
  block.row.saturations += run.saturations;
  block.row.ordered_steps += run.ordered ? 1 : 0;
  if (run.ordered && block.row.reason.empty()) block.row.reason = "asked for";
}

// Only what has its inputs, and what a trigger lets run.
void ExactEngine::Parts::run_controlled() {
  ControlledStep control(plan, steps);
  for (BlockId id : plan.order) {
    ExactBlock& block = plan.blocks[id.index()];
    if (!control.may_run(block)) continue;
    run_block(block);
    control.has_run(block);
  }
  control.finish();
}

// What the values of a step were.
void ExactEngine::Parts::note(ExactBlock& block) {
  const std::int64_t count = block.type.elements();
  if (is_float(block.precision) || count == 0 || !block.ran) return;
  const ValueRange range = range_of(block.precision, block.bytes, count);
  BlockRow& row = block.row;
  row.range =
      row.range ? ValueRange{std::min(row.range->least, range.least), std::max(row.range->most, range.most)} : range;
  row.elements += count;
  const std::size_t element = info(block.precision).bytes;
  constexpr std::byte zero[8] = {};
  std::int64_t zeros = 0;
  for (std::int64_t i = 0; i < count; ++i)
    zeros += std::memcmp(block.bytes + static_cast<std::size_t>(i) * element, zero, element) == 0 ? 1 : 0;
  row.zeros += zeros;
  if (!row.nonzeros) return;
  row.nonzeros = std::max(*row.nonzeros, count - zeros);
  row.bytes = stored_bytes(*block.block, *row.nonzeros);
}

void ExactEngine::Parts::reset() {
  steps = 0;
  for (ExactTrigger& trigger : plan.triggers)
    for (ExactFeed& feed : trigger.cluster.feeds)
      for (Array& kept : feed.kept) std::memset(kept.raw(), 0, kept.bytes());
  for (ExactBlock& block : plan.blocks) {
    if (block.runner) block.runner->reset();
    block.row.range.reset();
    block.row.elements = block.row.zeros = block.row.saturations = block.row.ordered_steps = 0;
    block.row.runs = block.row.skipped = 0;
    if (block.row.nonzeros && !block.is_fixed) block.row.nonzeros = 0;
    if (block.is_held && !block.is_fixed && block.values.valid())
      std::memset(block.values.raw(), 0, block.values.bytes());
    for (ExactCluster& cluster : block.in)
      for (ExactFeed& feed : cluster.feeds)
        for (Array& kept : feed.kept) std::memcpy(kept.raw(), feed.first.raw(), kept.bytes());
    for (ExactState& state : block.states) {
      ExactBlock& storage = plan.blocks[state.storage.index()];
      std::memset(storage.values.raw(), 0, storage.values.bytes());
      if (!storage.block->data) continue;
      const Array first = converted(*storage.block->data, storage.precision);
      std::memcpy(storage.values.raw(), first.raw(), storage.values.bytes());
    }
  }
}

void ExactEngine::run(std::span<const Array> inputs, std::span<Array> outputs) {
  ExactPlan& plan = parts_->plan;
  parts_->take_inputs(inputs);
  if (plan.is_controlled)
    parts_->run_controlled();
  else
    for (BlockId id : plan.order) parts_->run_block(plan.blocks[id.index()]);
  if (plan.options.statistics)
    for (ExactBlock& block : plan.blocks) parts_->note(block);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    std::memcpy(outputs[i].raw(), plan.blocks[plan.outputs[i].index()].bytes, outputs[i].bytes());
  end_step(plan, parts_->steps);
  ++parts_->steps;
}

std::vector<Array> ExactEngine::run(std::span<const Array> inputs) {
  std::vector<Array> outputs;
  for (const ArrayType& type : output_types()) outputs.push_back(Array::make(type));
  run(inputs, outputs);
  return outputs;
}

void ExactEngine::set_state(BlockId storage, const Array& contents) {
  Array& values = parts_->plan.blocks[storage.index()].values;
  if (contents.type() != values.type()) bug("the contents of a storage are of another type");
  std::memcpy(values.raw(), contents.raw(), values.bytes());
}

namespace {

// Each delayed feed with the place of what it keeps.
template <class Plan, class F>
void each_delayed(Plan& plan, const BlockMemory& memory, F&& visit) {
  for (auto& block : plan.blocks)
    for (auto& cluster : block.in)
      for (auto& feed : cluster.feeds)
        for (const auto& [edge, place] : memory.delays)
          if (edge == feed.edge) visit(feed, static_cast<std::size_t>(place));
  for (auto& trigger : plan.triggers)
    for (auto& feed : trigger.cluster.feeds)
      for (const auto& [edge, place] : memory.delays)
        if (edge == feed.edge) visit(feed, static_cast<std::size_t>(place));
}

// Each block with values of its own that are held.
template <class Plan, class F>
void each_held(Plan& plan, const BlockMemory& memory, F&& visit) {
  for (const auto& [id, place] : memory.held)
    if (auto& block = plan.blocks[id.index()]; block.values.valid() && !block.is_fixed)
      visit(block, static_cast<std::size_t>(place));
}

constexpr std::size_t rounded_up(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

void ExactEngine::remember(std::span<const std::byte> bytes) {
  ExactPlan& plan = parts_->plan;
  std::memcpy(&parts_->steps, bytes.data(), sizeof parts_->steps);
  const bool is_first = parts_->steps == 0;
  const BlockMemory memory = memory_of(*plan.graph);
  each_delayed(plan, memory, [&](ExactFeed& feed, std::size_t place) {
    for (Array& kept : feed.kept) {
      std::memcpy(kept.raw(), is_first ? feed.first.raw() : bytes.data() + place, kept.bytes());
      place += rounded_up(kept.bytes());
    }
  });
  for (const auto& [id, place] : memory.blocks) {
    BlockRunner& runner = *plan.blocks[id.index()].runner;
    is_first ? runner.reset() : runner.remember(bytes.data() + place);
  }
  each_held(plan, memory, [&](ExactBlock& block, std::size_t place) {
    if (is_first)
      std::memset(block.values.raw(), 0, block.values.bytes());
    else
      std::memcpy(block.values.raw(), bytes.data() + place, block.values.bytes());
  });
}

void ExactEngine::save(std::span<std::byte> bytes) const {
  const ExactPlan& plan = parts_->plan;
  std::memcpy(bytes.data(), &parts_->steps, sizeof parts_->steps);
  const BlockMemory memory = memory_of(*plan.graph);
  each_delayed(plan, memory, [&](const ExactFeed& feed, std::size_t place) {
    for (const Array& kept : feed.kept) {
      std::memcpy(bytes.data() + place, kept.raw(), kept.bytes());
      place += rounded_up(kept.bytes());
    }
  });
  for (const auto& [id, place] : memory.blocks) plan.blocks[id.index()].runner->save(bytes.data() + place);
  each_held(plan, memory, [&](const ExactBlock& block, std::size_t place) {
    std::memcpy(bytes.data() + place, block.values.raw(), block.values.bytes());
  });
}

void ExactEngine::reset() { parts_->reset(); }

std::vector<ArrayType> ExactEngine::input_types() const {
  std::vector<ArrayType> types;
  for (BlockId id : parts_->plan.inputs) types.push_back(parts_->plan.blocks[id.index()].type);
  return types;
}

std::vector<ArrayType> ExactEngine::output_types() const {
  std::vector<ArrayType> types;
  for (BlockId id : parts_->plan.outputs) types.push_back(parts_->plan.blocks[id.index()].type);
  return types;
}

Array ExactEngine::value(BlockId block) const {
  Array values = Array::make(parts_->plan.blocks[block.index()].type);
  std::memcpy(values.raw(), parts_->plan.blocks[block.index()].bytes, values.bytes());
  return values;
}

ExactReport ExactEngine::report() const {
  ExactReport report{.rows = {}, .steps = parts_->steps};
  for (const ExactBlock& block : parts_->plan.blocks) report.rows.push_back(block.row);
  return report;
}

}  // namespace taskspec
