// Nets on a chip: values out of the cores' memories equal those of the exact engine, whatever the chip and the cuts.
#include <doctest/doctest.h>

#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "hwsim/time/clock.hpp"
#include "interp/exact/engine.hpp"
#include "stdlib/blocks.hpp"
#include "tests/unit/block_graphs.hpp"
#include "tests/unit/random_blocks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::mapped_test {

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

// What the first block makes leaves the graph.
std::shared_ptr<const BlockGraph> with_output(BlockGraph graph) {
  const ArrayType type = value_type(graph.blocks[0]);
  for (std::string_view kind : {"SI", "OUTPUT"}) {
    TaskBlock block;
    block.def = standard_blocks().find(kind);
    block.name = kind;
    block.precision = type.precision;
    const std::size_t rank = type.extents.size();
    block.shape.f = type.extents[rank - 1];
    if (rank > 1) block.shape.x = type.extents[rank - 2], block.shape.y = rank > 2 ? type.extents[rank - 3] : 0;
    const BlockId from(graph.blocks.size() > 1 && kind == "OUTPUT" ? graph.blocks.size() - 1 : 0);
    graph.blocks.push_back(block);
    const BlockId to(graph.blocks.size() - 1);
    BlockEdge edge;
    edge.from = {from, 0, whole(type.extents)};
    edge.to = {to, 0, whole(type.extents)};
    graph.edges.push_back(std::move(edge));
  }
  return std::make_shared<const BlockGraph>(std::move(graph));
}

// Steps on both, with random inputs.
bool compare(std::mt19937_64& random, const std::shared_ptr<const BlockGraph>& graph, const MapOptions& options,
             int steps) {
  Result<ChipNet> net = chip_net(graph);
  REQUIRE_MESSAGE(net, (net ? "" : net.diags().items().front().message));
  Result<ChipProgram> program = map_net(*net, options);
  // More than a core holds, or all cores.
  if (!program && program.diags().items().front().code == Code("E4041")) return false;
  if (!program && program.diags().items().front().code == Code("E4042")) return false;
  // Ternary values that lie otherwise on the host than on the core are parts of bytes.
  if (!program && program.diags().items().front().code == Code("E4044")) return false;
  if (!program && program.diags().items().front().code == Code("E4045")) return false;  // tern by u8
  REQUIRE_MESSAGE(program, (program ? "" : program.diags().items().front().message));
  ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
  ChipMachine machine(std::make_shared<const ChipProgram>(*std::move(program)));
  for (int step = 0; step < steps; ++step) {
    std::vector<Array> inputs;
    for (const ArrayType& type : engine.input_types())
      inputs.push_back(random_array(random, type.precision, type.extents));
    const std::vector<Array> wanted = engine.run(inputs), made = machine.run(inputs);
    REQUIRE(wanted.size() == made.size());
    REQUIRE(!wanted.empty());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CAPTURE(graph->outputs().size());
      CAPTURE((*graph)[graph->outputs()[i]].name);
      CHECK(same_bytes(wanted[i], made[i]));
    }
  }
  return true;
}

}  // namespace

TEST_CASE("single blocks on a core make what the engine makes [chip-exact]") {
  const auto chip = chip_named("tianjicx");
  const std::vector<std::uint64_t> seeds = random_seeds(100, 5'000);
  std::size_t refused = 0;
  for (std::uint64_t seed : seeds) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (std::string_view name : compute_blocks) {
      CAPTURE(name);
      const RandomBlock made = random_block(random, name, false);
      BlockCase block = made.block_case();
      const auto graph = with_output(block.graph());
      refused += compare(random, graph, {.chip = chip}, 1) ? 0 : 1;
    }
  }
  CHECK(refused < 4 * seeds.size());
}

TEST_CASE("what neurons remember begins on a core as their attributes say, not with zeros [chip-exact]") {
  std::mt19937_64 random(1);
  const std::vector<std::vector<std::pair<std::string_view, std::int64_t>>> cases = {
      {{"seed", 12345}, {"vm_const_en", 1}, {"vm_const", 1023}, {"vtheta_const_en", 1}},
      {{"vtheta_const_en", 1}, {"vtheta_const", 300}, {"vth_beta", -20}, {"vm_const_en", 1}},
      {{"tw_en", 1}, {"tw_len", 5}, {"tw_cnt", 3}, {"vinit", 40}, {"vm_const_en", 1}, {"vtheta_const_en", 1}}};
  for (const char* chip : {"tianjicx", "tiny"})
    for (const auto& attributes : cases) {
      CAPTURE(attributes[0].first);
      tests::BlockGraphMaker make("neurons");
      const BlockId x = make.block("x", "INPUT", Precision::i32, {.y = 4, .x = 5, .f = 6});
      const BlockId u = make.block("u", "SI", Precision::i32, {.y = 4, .x = 5, .f = 6});
      const BlockId v = make.block("v", "SI", Precision::i28, {.y = 4, .x = 5, .f = 6});
      const BlockId z =
          make.block("z", "CLIF", Precision::i32, {.y = 4, .x = 5, .f = 6}, {{"vth0", 100}, {"reset_mode", 1}});
      for (const auto& [name, value] : attributes)
        make.graph.blocks[z.index()].set(*make.graph[z].def->find_attribute(name), value);
      make.graph.blocks[z.index()].set(*make.graph[z].def->find_attribute("fire_type"), 1);  // potentials
      const BlockId h = make.block("h", "SI", Precision::i32, {.y = 4, .x = 5, .f = 6});
      const BlockId y = make.block("y", "OUTPUT", Precision::i32, {.y = 4, .x = 5, .f = 6});
      make.edge(x, u), make.edge(u, z), make.edge(v, z, "state"), make.edge(z, h), make.edge(h, y);
      const auto graph = std::make_shared<const BlockGraph>(std::move(make.graph));
      ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
      const ChipNet net = chip_net(graph).value_or_throw();
      ChipMachine machine(
          std::make_shared<const ChipProgram>(map_net(net, {.chip = chip_named(chip)}).value_or_throw()));
      for (int step = 0; step < 9; ++step) {
        CAPTURE(step);
        Array input = Array::make({Precision::i32, {4, 5, 6}});
        for (std::int64_t i = 0; i < input.elements(); ++i) input.set_integer(i, between(random, 0, 120));
        const std::vector<Array> wanted = engine.run(std::vector{input}), made = machine.run(std::vector{input});
        CHECK(same_bytes(wanted[0], made[0]));
      }
    }
}

TEST_CASE("random graphs of blocks on chips make what the engine makes [chip-exact]") {
  const auto tianjicx = chip_named("tianjicx"), tiny = chip_named("tiny");
  const std::vector<std::uint64_t> seeds = random_seeds(100, 2'000);
  std::size_t refused = 0;
  for (std::uint64_t seed : seeds) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto graph = std::make_shared<const BlockGraph>(tests::random_block_graph(random));
    refused += compare(random, graph, {.chip = seed % 2 == 0 ? tianjicx : tiny}, 3) ? 0 : 1;
  }
  CHECK(100 * refused <= seeds.size());
}

TEST_CASE("a step takes what its stages and packets take [chip-time]") {
  const auto chip = chip_named("tianjicx");
  std::mt19937_64 random(1);
  BlockCase conv("CC", {.y = 8, .x = 8, .f = 32, .r = 32, .ky = 3, .kx = 3}, Precision::i32);
  conv.set("pad_up", 1), conv.set("pad_down", 1), conv.set("pad_left", 1), conv.set("pad_right", 1);
  conv.feed(0, random_array(random, Precision::i8, {8, 8, 32}), true);
  conv.feed(1, random_array(random, Precision::i8, {32, 32, 3, 3}));
  const ChipNet net = chip_net(with_output(conv.graph())).value_or_throw();
  const ChipProgram program = map_net(net, {.chip = chip, .cores = 1}).value_or_throw();
  REQUIRE(program.cores.size() == 1);
  const Result<ChipTiming> timed = time_program(program, {.noc = NocModel::ideal});
  if (!timed)
    for (const std::string& note : timed.diags().items().front().notes) MESSAGE(note);
  REQUIRE(timed);
  const ChipTiming& timing = *timed;
  MESSAGE(timing.latency << " " << timing.interval << " " << program.cores[0].phases[0].axon->cycles << " "
                         << program.cores[0].phases[0].move_cycles << " frames " << timing.frames);
  CHECK(timing.interval > 0);
}

}  // namespace taskspec::mapped_test
