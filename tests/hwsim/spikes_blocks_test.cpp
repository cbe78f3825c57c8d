// Block graphs of neurons as spiking networks: the spikes are those of the exact engine.
#include <doctest/doctest.h>

#include "bench/snn_nets.hpp"
#include "hwsim/spikes/from_blocks.hpp"
#include "hwsim/spikes/machine.hpp"
#include "interp/exact/engine.hpp"
#include "stdlib/blocks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::spikes_blocks_test {

namespace {

// A graph by hand, with random weights.
struct NeuronGraph {
  std::shared_ptr<BlockGraph> graph = std::make_shared<BlockGraph>();
  std::mt19937_64 random{7};

  TaskBlock& at(BlockId id) { return graph->blocks[id.index()]; }
  BlockId add(std::string_view type, const BlockShape& shape, Precision precision) {
    TaskBlock block;
    block.def = standard_blocks().find(type);
    block.name = std::string(type) + std::to_string(graph->blocks.size());
    block.shape = shape;
    block.precision = precision;
    graph->blocks.push_back(block);
    return BlockId(graph->blocks.size() - 1);
  }
  BlockId data(std::string_view type, const BlockShape& shape, Precision precision, std::int64_t low,
               std::int64_t high) {
    const BlockId id = add(type, shape, precision);
    Array contents = Array::make(value_type(at(id)));
    for (std::int64_t i = 0; i < contents.elements(); ++i) contents.set_integer(i, between(random, low, high));
    at(id).data = contents;
    return id;
  }
  void set(BlockId id, std::string_view attribute, std::int64_t value) {
    at(id).set(*at(id).def->find_attribute(attribute), value);
  }
  BlockEdge& connect(BlockId from, BlockId to, std::size_t cluster = 0, std::int32_t delay = 0) {
    BlockEdge edge;
    edge.from = {from, 0, whole(value_type(at(from)).extents)};
    edge.to = {to, static_cast<std::uint16_t>(cluster), whole(cluster_extents(at(to), at(to).in_cluster(cluster)))};
    edge.delay = delay;
    graph->edges.push_back(edge);
    return graph->edges.back();
  }
  // Sums -> storage -> neurons; the neurons.
  BlockId neurons(BlockId sums, const BlockShape& shape, std::int64_t threshold) {
    const BlockId current = add("SI", shape, Precision::i32), state = data("SI", shape, Precision::i28, -20, 40);
    const BlockId clif = add("CLIF", shape, Precision::i8);
    set(clif, "vth0", threshold), set(clif, "fire_type", 4), set(clif, "vleaky_adpt_en", 1);
    set(clif, "vleaky_alpha", 230), set(clif, "ref_len", 1);
    connect(sums, current), connect(current, clif, 0), connect(state, clif, 1);
    return clif;
  }
  BlockId stored(BlockId from, std::string_view type, const BlockShape& shape, std::int32_t delay = 0) {
    const BlockId storage = add(type, shape, Precision::i8);
    BlockEdge& edge = connect(from, storage, 0, delay);
    if (edge.from.box.size != edge.to.box.size) edge.moves.push_back({rearrangement_named("reshape"), {}});
    return storage;
  }
  void give(BlockId from, const BlockShape& shape) {
    connect(stored(from, "SI", shape), add("OUTPUT", shape, Precision::i8));
  }
};

// in 6x6x2 -> CC 3x3, stride 2 -> neurons -> CVM + CVM of its own spikes two steps before -> neurons -> out
NeuronGraph two_layers() {
  NeuronGraph g;
  const BlockShape image{.y = 6, .x = 6, .f = 2}, middle{.y = 3, .x = 3, .f = 4};
  const BlockId in = g.add("INPUT", image, Precision::i8);
  const BlockId conv =
      g.add("CC", {.y = 3, .x = 3, .f = 4, .r = 2, .ky = 3, .kx = 3, .iy = 6, .ix = 6}, Precision::i32);
  for (const char* stride : {"stride_y", "stride_x"}) g.set(conv, stride, 2);
  for (const char* pad : {"pad_up", "pad_left"}) g.set(conv, pad, 1);
  g.at(conv).bias = BiasKind::vector;
  const BlockId kernel = g.data("SW", {.f = 4, .r = 2, .ky = 3, .kx = 3}, Precision::i8, -20, 40);
  g.connect(g.stored(in, "SIC", {.y = 6, .x = 6, .r = 2}), conv, 0);
  g.connect(kernel, conv, 1), g.connect(g.data("SB", {.f = 4}, Precision::i32, -5, 10), conv, 2);
  const BlockId first = g.neurons(conv, middle, 60);

  const BlockId matrix = g.add("CVM", {.f = 5, .r = 36}, Precision::i32);
  g.connect(g.stored(first, "SIFC", {.r = 36}), matrix, 0);
  g.connect(g.data("SWFC", {.f = 5, .r = 36}, Precision::i8, -20, 40), matrix, 1);
  const BlockId back = g.add("CVM", {.f = 5, .r = 5}, Precision::i32);
  g.connect(g.data("SWFC", {.f = 5, .r = 5}, Precision::i8, -90, 60), back, 1);
  const BlockId sum = g.add("CADD", {.f = 5}, Precision::i32);
  g.at(sum).branches = 2;
  g.at(sum).bias = BiasKind::constant, g.set(sum, "constant_b", 3);
  const BlockId forth_sums = g.add("SI", {.f = 5}, Precision::i32), back_sums = g.add("SI", {.f = 5}, Precision::i32);
  g.connect(matrix, forth_sums), g.connect(back, back_sums);
  g.connect(forth_sums, sum, 0), g.connect(back_sums, sum, 1);
  const BlockId second = g.neurons(sum, {.f = 5}, 100);
  g.connect(g.stored(second, "SIFC", {.r = 5}, 2), back, 0);
  g.give(second, {.f = 5});
  return g;
}

}  // namespace

TEST_CASE("a block graph of neurons spikes as the exact engine says [snn]") {
  const NeuronGraph g = two_layers();
  const SpikingBlocks made = spiking_net_of(*g.graph).value_or_throw();
  const auto net = std::make_shared<const SpikingNet>(made.net);
  REQUIRE(net->connections.size() == 3);
  CHECK(net->connections[0].kind() == SynapseKind::convolution);
  CHECK(net->connections[1].kind() == SynapseKind::dense);
  CHECK(net->connections[2].delay == 2);

  constexpr std::int64_t steps = 40;
  SpikeTrain train{PopulationId(0), {0}, {}};
  std::vector<SpikeAt> wanted;
  ExactEngine engine = ExactEngine::make(g.graph, {}).value_or_throw();
  for (std::uint32_t t = 0; t < steps; ++t) {
    Array image = Array::make({Precision::i8, {6, 6, 2}});
    for (std::uint32_t n = 0; n < 72; ++n) {
      if (bench::splitmix(t, n) % 3 != 0) continue;
      image.set_integer(n, 1);
      train.neurons.push_back(n);
    }
    train.offsets.push_back(static_cast<std::uint32_t>(train.neurons.size()));
    const Array out = engine.run(std::vector<Array>{image})[0];
    for (std::uint32_t n = 0; n < 5; ++n)
      if (out.integer(n) != 0) wanted.push_back({t, n});
  }
  CHECK(wanted.size() > 20);
  CHECK(wanted.size() < 180);
  for (const bool next_tick : {false, true}) {
    SpikeOptions options{.threads = 2};
    options.delivery.next_tick = next_tick;
    SpikeMachine machine = SpikeMachine::load(net, on_one_core(*net), options).value_or_throw();
    CHECK(machine.is_proven());
    const SpikeReport report = machine.run(steps, {.trains = {train}}).value_or_throw();
    CHECK(report.recorded.back() == wanted);
    CHECK(machine.schedule().deepest() == (next_tick ? 2 : 0));
  }
}

TEST_CASE("edges that take parts are written out synapse by synapse [snn]") {
  // Both halves of the neurons read the input, the second one mirrored, so that no matrix is left as it is.
  NeuronGraph g;
  const BlockId in = g.add("INPUT", {.f = 8}, Precision::i8);
  const BlockId current = g.add("SI", {.f = 6}, Precision::i32), state = g.data("SI", {.f = 6}, Precision::i28, 0, 0);
  const BlockId clif = g.add("CLIF", {.f = 6}, Precision::i8);
  g.set(clif, "vth0", 30), g.set(clif, "fire_type", 4);
  g.connect(current, clif, 0), g.connect(state, clif, 1);
  for (const std::int64_t half : {0, 1}) {
    const BlockId matrix = g.add("CVM", {.f = 3, .r = 4}, Precision::i32),
                  part = g.add("SIFC", {.r = 4}, Precision::i8);
    BlockEdge& reads = g.connect(in, part);
    reads.from.box = {{half * 4}, {4}};
    g.connect(part, matrix, 0), g.connect(g.data("SWFC", {.f = 3, .r = 4}, Precision::i8, -30, 50), matrix, 1);
    BlockEdge& gives = g.connect(matrix, current);
    gives.to.box = {{half * 3}, {3}};
  }
  g.give(clif, {.f = 6});
  const SpikingBlocks made = spiking_net_of(*g.graph).value_or_throw();
  const auto net = std::make_shared<const SpikingNet>(made.net);
  REQUIRE(net->connections.size() == 2);
  CHECK(net->connections[0].kind() == SynapseKind::sparse);
  SpikeTrain train{PopulationId(0), {0}, {}};
  std::vector<SpikeAt> wanted;
  ExactEngine engine = ExactEngine::make(g.graph, {}).value_or_throw();
  for (std::uint32_t t = 0; t < 30; ++t) {
    Array x = Array::make({Precision::i8, {8}});
    for (std::uint32_t n = 0; n < 8; ++n)
      if (bench::splitmix(t, n) % 2 == 0) x.set_integer(n, 1), train.neurons.push_back(n);
    train.offsets.push_back(static_cast<std::uint32_t>(train.neurons.size()));
    const Array out = engine.run(std::vector<Array>{x})[0];
    for (std::uint32_t n = 0; n < 6; ++n)
      if (out.integer(n) != 0) wanted.push_back({t, n});
  }
  CHECK(wanted.size() > 20);
  SpikeMachine machine = SpikeMachine::load(net, on_one_core(*net), {}).value_or_throw();
  CHECK(machine.run(30, {.trains = {train}}).value_or_throw().recorded.back() == wanted);
}

TEST_CASE("blocks that are no synapses are refused by name [snn][chip-refuse]") {
  const auto refused = [](const BlockGraph& graph) {
    const Result<SpikingBlocks> made = spiking_net_of(graph);
    REQUIRE(!made);
    return made.diags().items().front().code.text() + " " + made.diags().items().front().message;
  };
  SUBCASE("what is no spike") {
    NeuronGraph g = two_layers();
    for (TaskBlock& block : g.graph->blocks)
      if (block.def->name == "CLIF") block.set(*block.def->find_attribute("fire_type"), 2);
    CHECK(refused(*g.graph).find("makes no spikes: its fire_type is 2; 4 and 5 do") != std::string::npos);
  }
  SUBCASE("a bias that comes late") {
    NeuronGraph g = two_layers();
    for (BlockEdge& edge : g.graph->edges)
      if (g.at(edge.from.block).def->name == "CC") edge.delay = 1;
    CHECK(refused(*g.graph).starts_with("E4041 the bias of 'CC1' reaches the neurons"));
  }
  SUBCASE("an edge that begins with something") {
    NeuronGraph g = two_layers();
    for (BlockEdge& edge : g.graph->edges)
      if (edge.delay == 2) {
        edge.initial = Array::make({Precision::i8, {5}});
        edge.initial->set_integer(3, 1);
      }
    CHECK(refused(*g.graph).find("begins with values other than 0") != std::string::npos);
  }
}

}  // namespace taskspec::spikes_blocks_test
