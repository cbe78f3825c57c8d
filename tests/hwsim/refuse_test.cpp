// What a chip cannot do is refused with layer, use and limit; the smallest change that is told, fits.
#include <doctest/doctest.h>

#include <algorithm>

#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "interp/exact/engine.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/refusals.hpp"
#include "tests/unit/block_cases.hpp"

namespace taskspec::refuse_test {
using tests::BlockGraphMaker, tests::all_words, tests::check_words;

namespace {

Diag refusal_of(const BlockGraph& graph, const MapOptions& options) {
  const Result<ChipNet> net = chip_net(std::make_shared<const BlockGraph>(graph));
  return net ? tests::refusal_of(*net, options) : net.diags().items().front();
}

// x -> CVM of so many outputs.
BlockGraph product(std::int64_t r, std::int64_t f, Precision input = Precision::i8, Precision weight = Precision::i8) {
  BlockGraphMaker make("product");
  const BlockId x = make.block("x", "INPUT", input, {.f = r}), held = make.block("h", "SIFC", input, {.r = r}),
                w = make.block("w", "SWFC", weight, {.f = f, .r = r}),
                fc = make.block("fc", "CVM", Precision::i32, {.f = f, .r = r}),
                y = make.block("y", "OUTPUT", Precision::i32, {.f = f});
  make.graph.blocks[w.index()].data = make.data(w);
  make.edge(x, held);
  make.edge(held, fc, "input");
  make.edge(w, fc, "weight");
  make.edge(fc, y);
  return std::move(make.graph);
}

std::int64_t number_behind(const std::string& text, std::string_view words) {
  const std::size_t at = text.find(words);
  REQUIRE_MESSAGE(at != std::string::npos, words << " is not in: " << text);
  return std::stoll(text.substr(at + words.size()));
}

bool runs_as_the_engine(const BlockGraph& graph, const MapOptions& options) {
  auto held = std::make_shared<const BlockGraph>(graph);
  const ChipNet net = chip_net(held).value_or_throw();
  Result<ChipProgram> program = map_net(net, options);
  if (!program) return false;
  std::mt19937_64 random(7);
  std::vector<Array> inputs;
  for (BlockId id : graph.inputs()) {
    const ArrayType type = value_type(graph[id]);
    inputs.push_back(random_array(random, type.precision, type.extents));
  }
  ExactEngine engine = ExactEngine::make(held, {}).value_or_throw();
  ChipMachine machine(std::make_shared<const ChipProgram>(*std::move(program)));
  const Array wanted = engine.run(inputs)[0], made = machine.run(inputs)[0];
  return integers_of(wanted) == integers_of(made);
}

}  // namespace

TEST_CASE("a layer whose smallest piece fits no core is refused with its bytes and the limit [chip-refuse]") {
  // 32 outputs of 4096 inputs are 131,072 bytes, a core of tiny has 65,536.
  const Diag diag = refusal_of(product(4096, 64), {.chip = tests::chip_variant("tiny")});
  check_words(diag, "E4041", {"'fc' fits no core of tiny", "2 pieces", "fc.weight", "131072 bytes", "65536 are there"});
  // Half as many inputs less what input and sums take: it fits.
  CHECK(runs_as_the_engine(product(1800, 64), {.chip = tests::chip_variant("tiny")}));
}

TEST_CASE("too few cores are refused with the chips that suffice, and these do [chip-refuse]") {
  const auto chip = tests::chip_variant("tianjicx", {{"[{\"v\": 16, \"unit\": \"1\", \"src\": \"bimap\"}, {\"v\": 10",
                                                      "[{\"v\": 2, \"unit\": \"1\", \"src\": \"bimap\"}, {\"v\": 2"}});
  const BlockGraph graph = product(2000, 640);
  const Diag diag = refusal_of(graph, {.chip = chip});
  check_words(
      diag, "E4042",
      {"cores of tianjicx, 4 are there", "most for 'fc' ", " B, 4 cores have 589824 B", "chips: [", ", 1] suffice"});
  const std::int64_t chips = number_behind(diag.help_text, "chips: [");
  CHECK(chips > 1);
  CHECK(chips <= 8);
  CHECK(runs_as_the_engine(graph, {.chip = chip, .chips = {chips, 1}}));
  check_words(refusal_of(graph, {.chip = chip, .chips = {chips - 1, 1}}), "E4042", {});
}

TEST_CASE("more than a core may receive, and more chips than can be joined, are refused [chip-refuse]") {
  const auto chip =
      tests::chip_variant("tiny", {{"\"receive_bytes\": {\"v\": 12288", "\"receive_bytes\": {\"v\": 64"}});
  check_words(refusal_of(product(256, 32), {.chip = chip}), "E4041",
              {"'fc'", "what it receives", "256 bytes", "64 are there"});
  CHECK(runs_as_the_engine(product(64, 32), {.chip = chip}));
  check_words(refusal_of(product(64, 32), {.chip = tests::chip_variant("tiny"), .chips = {2, 1}}), "E4043",
              {"2 x 1 chips", "at most 1 x 1"});
  check_words(refusal_of(product(64, 32), {.chip = tests::chip_variant("tianjicx"), .chips = {9, 1}}), "E4043",
              {"9 x 1 chips", "at most 8 x 8", "chips: [8, 1]"});
  CHECK(runs_as_the_engine(product(64, 32), {.chip = tests::chip_variant("tianjicx"), .chips = {8, 1}}));
}

TEST_CASE("more cores than the chips have, and fewer than one, are refused [chip-refuse]") {
  const BlockGraph graph = product(64, 32);
  const auto tiny = tests::chip_variant("tiny"), tianjicx = tests::chip_variant("tianjicx");
  const Diag diag = refusal_of(graph, {.chip = tiny, .cores = 5});
  CHECK(diag.code.text() == "E4043");
  CHECK(diag.message == "5 cores of tiny, which has 4");
  CHECK(diag.help_text == "cores: 4");  // no other chip can be joined to it
  CHECK(runs_as_the_engine(graph, {.chip = tiny, .cores = 4}));

  check_words(refusal_of(graph, {.chip = tianjicx, .cores = 161}), "E4043",
              {"161 cores of tianjicx, which has 160", "cores: 160, or chips: [2, 1]"});
  CHECK(runs_as_the_engine(graph, {.chip = tianjicx, .chips = {2, 1}, .cores = 161}));
  check_words(refusal_of(graph, {.chip = tianjicx, .chips = {2, 1}, .cores = 321}), "E4043",
              {"321 cores of tianjicx, of which 2 x 1 chips have 320", "cores: 320, or chips: [3, 1]"});
  const Diag all = refusal_of(graph, {.chip = tianjicx, .chips = {8, 8}, .cores = 10'241});
  CHECK(all.help_text == "cores: 10240");
  for (const std::int32_t cores : {0, -3})
    check_words(refusal_of(graph, {.chip = tianjicx, .cores = cores}), "E4043",
                {"one core or more, not with " + std::to_string(cores), "cores: 1"});
}

TEST_CASE("the memory that a refusal asks for suffices, and a line less does not [chip-refuse]") {
  const BlockGraph graph = product(4096, 64);
  const Diag diag = refusal_of(graph, {.chip = tests::chip_variant("tiny")});
  check_words(diag, "E4041",
              {"of 139392 B in such a core: 'fc.weight' 131072 B, 'fc.input' 4096 B, 'fc.input' as it arrives 4096 B",
               "in the chip's file memory/1/bytes of ", "bank mem1 has 32768"});
  const std::int64_t bytes = number_behind(diag.help_text, "bytes of ");
  auto tiny_with = [](std::int64_t second) {
    return tests::chip_variant(
        "tiny", {{"\"mem1\", \"base\": 32768, \"bytes\": {\"v\": 32768",
                  "\"mem1\", \"base\": 32768, \"bytes\": {\"v\": " + std::to_string(second)},
                 {"\"mem2\", \"base\": 65536", "\"mem2\", \"base\": " + std::to_string(32768 + second)}});
  };
  // 32 outputs: weights, input and sums.
  CHECK(bytes == 131'072 + 4'096 + 128 - 32'768);
  CHECK(runs_as_the_engine(graph, {.chip = tiny_with(bytes)}));
  check_words(refusal_of(graph, {.chip = tiny_with(bytes - 1)}), "E4041", {});
}

TEST_CASE("the receive area that a refusal asks for suffices, and a byte less does not [chip-refuse]") {
  auto tiny_with = [](std::int64_t bytes) {
    return tests::chip_variant(
        "tiny", {{"\"receive_bytes\": {\"v\": 12288", "\"receive_bytes\": {\"v\": " + std::to_string(bytes)}});
  };
  const Diag diag = refusal_of(product(256, 32), {.chip = tiny_with(64)});
  REQUIRE(diag.help_text == "in the chip's file limits/receive_bytes of 256 suffices");
  CHECK(runs_as_the_engine(product(256, 32), {.chip = tiny_with(256)}));
  check_words(refusal_of(product(256, 32), {.chip = tiny_with(255)}), "E4041", {});
}

TEST_CASE("neurons with random thresholds are not cut: without them they are, and fit [chip-refuse]") {
  auto neurons = [](std::int64_t mask) {
    BlockGraphMaker make("neurons");
    const BlockShape plane{.y = 32, .x = 32, .f = 16};
    const BlockId x = make.block("x", "INPUT", Precision::i32, plane), u = make.block("u", "SI", Precision::i32, plane),
                  v = make.block("v", "SI", Precision::i28, plane),
                  lif = make.block("lif", "CLIF", Precision::i8, plane,
                                   {{"vth0", 5}, {"vm_const_en", 1}, {"vm_const", mask}, {"vtheta_const_en", 1}}),
                  s = make.block("s", "SI", Precision::i8, plane), y = make.block("y", "OUTPUT", Precision::i8, plane);
    make.edge(x, u);
    make.edge(u, lif, "input");
    make.edge(v, lif, "state");
    make.edge(lif, s);
    make.edge(s, y);
    return std::move(make.graph);
  };
  const MapOptions options{.chip = tests::chip_variant("tianjicx")};
  const Diag diag = refusal_of(neurons(7), options);
  check_words(diag, "E4041",
              {"'lif' fits no core of tianjicx", "cut into 1 pieces", "cannot be cut along",
               "random thresholds come from one shift register", "with vm_const_en 1 and vm_const 0 it draws none"});
  CHECK(runs_as_the_engine(neurons(0), options));
}

TEST_CASE("too few cores of those that were asked for: as many as are told suffice [chip-refuse]") {
  const auto chip = tests::chip_variant("tianjicx");
  const BlockGraph graph = product(2000, 640);
  const Diag diag = refusal_of(graph, {.chip = chip, .cores = 2});
  check_words(diag, "E4042", {"2 are there", "cores: "});
  const std::int64_t cores = number_behind(diag.help_text, "cores: ");
  CHECK(runs_as_the_engine(graph, {.chip = chip, .cores = static_cast<std::int32_t>(cores)}));
  check_words(refusal_of(graph, {.chip = chip, .cores = static_cast<std::int32_t>(cores - 1)}), "E4042", {});
  // Chips that cannot be joined.
  check_words(refusal_of(product(1800, 640), {.chip = tests::chip_variant("tiny")}), "E4042",
              {"4 are there", "at most [1, 1] chips can be joined, which have 4 cores"});
}

TEST_CASE("groups of cores: units share cores where there are too many, else it is told [chip-refuse]") {
  auto chip_of = [](int groups, std::int64_t bytes) {
    return tests::chip_variant("tianjicx",
                               {{"\"phase_groups\": {\"v\": 32", "\"phase_groups\": {\"v\": " + std::to_string(groups)},
                                {"\"mem1\", \"base\": 65536, \"bytes\": {\"v\": 65536",
                                 "\"mem1\", \"base\": 65536, \"bytes\": {\"v\": " + std::to_string(bytes)}});
  };
  const BlockGraph graph = tests::products_in_turn({"a", "b"}, 224);
  CHECK(runs_as_the_engine(graph, {.chip = chip_of(1, 65536)}));
  // The weights of each take 49 KB: two units do not share a core of 64 KB.
  const Diag diag = refusal_of(graph, {.chip = chip_of(1, 16), .objective = MapObjective::energy});
  check_words(diag, "E4043", {"2 groups of cores, 1 are possible", "limits/phase_groups of 2 suffices"});
  CHECK(runs_as_the_engine(graph, {.chip = chip_of(2, 16), .objective = MapObjective::energy}));
}

TEST_CASE("spiking and other networks on chips that do not run them [chip-refuse]") {
  const auto ann = tests::chip_variant("tianjicx", {{"[\"ann\", \"snn\"]", "[\"ann\"]"}});
  const auto snn = tests::chip_variant("tianjicx", {{"[\"ann\", \"snn\"]", "[\"snn\"]"}});
  BlockGraphMaker make("neurons");
  const BlockShape plane{.y = 2, .x = 2, .f = 8};
  const BlockId x = make.block("x", "INPUT", Precision::i32, plane), u = make.block("u", "SI", Precision::i32, plane),
                v = make.block("v", "SI", Precision::i28, plane),
                lif = make.block("lif", "CLIF", Precision::i8, plane,
                                 {{"vth0", 5}, {"vm_const_en", 1}, {"vtheta_const_en", 1}}),
                s = make.block("s", "SI", Precision::i8, plane), y = make.block("y", "OUTPUT", Precision::i8, plane);
  make.edge(x, u);
  make.edge(u, lif, "input");
  make.edge(v, lif, "state");
  make.edge(lif, s);
  make.edge(s, y);
  check_words(refusal_of(make.graph, {.chip = ann}), "E4045",
              {"CLIF 'lif' is of spiking networks, which tianjicx does not run", "has \"snn\" in runs"});
  CHECK(runs_as_the_engine(make.graph, {.chip = snn}));
  CHECK(runs_as_the_engine(make.graph, {.chip = tests::chip_variant("tianjicx")}));
  const BlockGraph other = tests::conv_graph(8, 8, 16, 16, true);
  check_words(refusal_of(other, {.chip = snn}), "E4045", {"CCMPB 'cut' is of other than spiking networks"});
  CHECK(runs_as_the_engine(other, {.chip = ann}));
}

TEST_CASE("step groups beyond the limit are refused, and as many as there may be are made [chip-refuse]") {
  const BlockGraph graph = tests::conv_graph(8, 8, 16, 16, true);
  MapOptions options{
      .chip = tests::chip_variant("tianjicx", {{"\"step_groups\": {\"v\": 4", "\"step_groups\": {\"v\": 1"}})};
  options.step_groups = 2;
  const ChipNet net = chip_net(std::make_shared<const BlockGraph>(graph)).value_or_throw();
  const ChipProgram one = map_net(net, options).value_or_throw();  // of one group of cores there is one
  CHECK(one.step_groups == std::vector<std::int32_t>{0});
  const BlockGraph two = tests::products_in_turn({"a", "b"}, 224);
  const Diag diag = refusal_of(two, options);
  check_words(diag, "E4043", {"2 step groups, 1 are possible", "limits/step_groups of 2 suffices"});
  options.chip = tests::chip_variant("tianjicx");
  CHECK(runs_as_the_engine(two, options));
}

TEST_CASE("precisions that a chip does not multiply are refused with both [chip-refuse]") {
  const auto chip = tests::chip_variant("tiny", {{"[[\"i8\", \"i8\"], ", "["}});
  check_words(refusal_of(product(64, 32), {.chip = chip}), "E4045", {"CVM 'fc' multiplies i8 by i8", "tiny does not"});
  CHECK(runs_as_the_engine(product(64, 32), {.chip = tests::chip_variant("tiny")}));
  const Diag loihi = refusal_of(product(64, 32), {.chip = tests::chip_variant("loihi")});
  check_words(loihi, "E4045", {"loihi"});
}

TEST_CASE("ternary values within bytes, delays of delays, states that others read: no packet does it [chip-refuse]") {
  {  // Moved by one ternary value.
    BlockGraphMaker make("tern");
    const BlockId x = make.block("x", "INPUT", Precision::tern, {.f = 64}),
                  h = make.block("h", "SIFC", Precision::tern, {.r = 64}),
                  w = make.block("w", "SWFC", Precision::i8, {.f = 32, .r = 64}),
                  fc = make.block("fc", "CVM", Precision::i32, {.f = 32, .r = 64}),
                  y = make.block("y", "OUTPUT", Precision::i32, {.f = 32});
    make.graph.blocks[w.index()].data = make.data(w);
    BlockEdge& edge = make.edge(x, h);
    make.edge(h, fc, "input");
    make.edge(w, fc, "weight");
    make.edge(fc, y);
    CHECK(runs_as_the_engine(make.graph, {.chip = tests::chip_variant("tiny")}));
    (void)edge;
    for (BlockEdge& all : make.graph.edges)
      if (all.to.block == h) all.from.box = {{0}, {63}}, all.to.box = {{1}, {63}};
    check_words(refusal_of(make.graph, {.chip = tests::chip_variant("tiny")}), "E4044", {"parts of bytes"});
    // The last byte would carry the value behind the three that come with it.
    for (BlockEdge& all : make.graph.edges)
      if (all.to.block == h) all.from.box = {{0}, {63}}, all.to.box = {{0}, {63}};
    check_words(refusal_of(make.graph, {.chip = tests::chip_variant("tiny")}), "E4044", {"share a byte"});
  }
  {  // A delay behind a delay.
    BlockGraphMaker make("late");
    const BlockShape plane{.y = 2, .x = 2, .f = 8};
    const BlockId x = make.block("x", "INPUT", Precision::i8, plane), a = make.block("a", "SI", Precision::i8, plane),
                  b = make.block("b", "SI", Precision::i8, plane),
                  sum = make.block("sum", "CADD", Precision::i32, plane),
                  y = make.block("y", "OUTPUT", Precision::i32, plane);
    make.edge(x, a).delay = 1;
    make.edge(a, b).delay = 1;
    make.edge(b, sum);
    make.edge(sum, y);
    check_words(refusal_of(make.graph, {.chip = tests::chip_variant("tiny")}), "E4044", {"delayed twice"});
  }
  {  // A potential that leaves the graph.
    BlockGraphMaker make("state");
    const BlockShape plane{.y = 2, .x = 2, .f = 8};
    const BlockId x = make.block("x", "INPUT", Precision::i32, plane), v = make.block("v", "SI", Precision::i28, plane),
                  lif = make.block("lif", "CLIF", Precision::i8, plane,
                                   {{"vth0", 5}, {"vm_const_en", 1}, {"vtheta_const_en", 1}}),
                  y = make.block("y", "OUTPUT", Precision::i8, plane),
                  u = make.block("u", "OUTPUT", Precision::i28, plane);
    make.edge(x, lif, "input");
    make.edge(v, lif, "state");
    make.edge(lif, y);
    make.edge(v, u);
    check_words(refusal_of(make.graph, {.chip = tests::chip_variant("tiny")}), "E4044",
                {"state 'v' is read by others"});
  }
}

}  // namespace taskspec::refuse_test
