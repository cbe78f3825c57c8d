#include "tests/hwsim/stream_run.hpp"

#include <doctest/doctest.h>

#include <set>

#include "hwsim/cores/machine.hpp"
#include "interp/exact/engine.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::tests {

namespace {

std::int64_t first_difference(const Array& a, const Array& b) {
  for (std::int64_t i = 0; i < a.elements(); ++i)
    if (a.integer(i) != b.integer(i)) return i;
  return -1;
}

void look_at(const ChipCore& core, StreamRun& run) {
  run.most_phases = std::max(run.most_phases, core.phases.size());
  run.ahead += core.a2s2 ? 1 : 0;
  bool has_rows = false;
  for (const ChipBuffer& buffer : core.buffers) {
    has_rows |= buffer.use == BufferUse::input && buffer.kept_rows > 0;
    run.rings += buffer.use == BufferUse::input && buffer.kept_rows > 0 && buffer.kept_rows < buffer.box.size[0];
    run.long_rings += buffer.step_rows > 0 ? 1 : 0;
    run.double_batches += buffer.use == BufferUse::receive && buffer.kept_rows > 0 && buffer.slots == 2;
  }
  std::set<BlockId> blocks;
  for (const ChipPhase& phase : core.phases) {
    run.pipelines += phase.pipeline.has_value();
    if (phase.axon) blocks.insert(phase.axon->whole);
    if (!phase.axon && phase.soma) blocks.insert(phase.soma->whole);
  }
  run.shared += has_rows && blocks.size() > 1 ? 1 : 0;
}

}  // namespace

std::string told(const Diags& diags) {
  std::string text = diags.items().front().code.text() + " " + diags.items().front().message;
  for (const std::string& note : diags.items().front().notes) text += "; " + note;
  return text;
}

std::shared_ptr<const Chip> tianjicx() { return chip_variant("tianjicx"); }

StreamRun run_beside_engine(const std::shared_ptr<const BlockGraph>& graph, const MapOptions& options, int steps) {
  Result<ChipProgram> mapped = map_net(chip_net(graph).value_or_throw(), options);
  REQUIRE_MESSAGE(mapped, (mapped ? "" : told(mapped.diags())));
  return run_program(graph, *std::move(mapped), steps);
}

StreamRun run_program(const std::shared_ptr<const BlockGraph>& graph, ChipProgram program, int steps) {
  StreamRun run{.program = std::make_shared<const ChipProgram>(std::move(program))};
  for (const ChipCore& core : run.program->cores) look_at(core, run);
  ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
  ChipMachine machine(run.program);
  std::mt19937_64 random(5);
  for (int step = 0; step < steps; ++step) {
    CAPTURE(step);
    std::vector<Array> inputs;
    for (const ArrayType& type : engine.input_types())
      inputs.push_back(random_array(random, type.precision, type.extents));
    const std::vector<Array> wanted = engine.run(inputs);
    std::vector<Array> made;
    try {
      made = machine.run(inputs);
    } catch (const Error& error) {
      FAIL(told(error.diags()));
    }
    const ChipNet net = chip_net(graph).value_or_throw();
    for (const NetWork& work : net.works) {
      CAPTURE((*graph)[work.block].name);
      REQUIRE(first_difference(engine.value(work.block), machine.value(work.block)) == -1);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE(first_difference(wanted[i], made[i]) == -1);
  }
  return run;
}

}  // namespace taskspec::tests
