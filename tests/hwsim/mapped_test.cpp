// Nets on a chip: values out of the cores' memories equal those of the exact engine, whatever the chip and the cuts.
#include <doctest/doctest.h>

#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "interp/exact/engine.hpp"
#include "stdlib/blocks.hpp"
#include "tests/unit/block_graphs.hpp"
#include "tests/unit/random_blocks.hpp"
#include "tests/unit/random_cases.hpp"

using namespace taskspec;

namespace {

std::shared_ptr<const Chip> chip_named(std::string_view name) {
  return std::make_shared<const Chip>(load_chip(name).value_or_throw());
}

bool same_bytes(const Array& a, const Array& b) {
  if (a.type() != b.type()) return false;
  for (std::int64_t i = 0; i < a.elements(); ++i)
    if (a.integer(i) != b.integer(i)) return false;
  return true;
}

// Steps on both, with random inputs.
void compare(std::mt19937_64& random, const std::shared_ptr<const BlockGraph>& graph, const MapOptions& options,
             int steps) {
  Result<ChipNet> net = chip_net(graph);
  REQUIRE_MESSAGE(net, (net ? "" : net.diags().items().front().message));
  Result<ChipProgram> program = map_net(*net, options);
  REQUIRE_MESSAGE(program, (program ? "" : program.diags().items().front().message));
  ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
  ChipMachine machine(std::make_shared<const ChipProgram>(*std::move(program)));
  for (int step = 0; step < steps; ++step) {
    std::vector<Array> inputs;
    for (const ArrayType& type : engine.input_types())
      inputs.push_back(random_array(random, type.precision, type.extents));
    const std::vector<Array> wanted = engine.run(inputs), made = machine.run(inputs);
    REQUIRE(wanted.size() == made.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(same_bytes(wanted[i], made[i]));
  }
}

}  // namespace

TEST_CASE("single blocks on a core make what the engine makes [chip-exact]") {
  const auto chip = chip_named("tianjicx");
  for (std::uint64_t seed : random_seeds(100, 5'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (std::string_view name : compute_blocks) {
      CAPTURE(name);
      const RandomBlock made = random_block(random, name, false);
      BlockCase block = made.block_case();
      auto graph = std::make_shared<const BlockGraph>(block.graph());
      compare(random, graph, {.chip = chip}, 1);
    }
  }
}
