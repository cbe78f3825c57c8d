// The change that a refusal offers is made, and fits; one less of anything in it does not.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "hwsim/map/mapping.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/refusals.hpp"
#include "tests/unit/block_cases.hpp"

namespace taskspec::refuse_fits_test {
using tests::BlockGraphMaker, tests::all_words, tests::check_words, tests::refusal_of;

namespace {

// A figure of the chip's file, and what it is to be.
struct FigureChange {
  std::string pointer;
  std::int64_t value = 0;
};

// "memory/1/bytes of 4096, memory/2/base of 8192 and limits/phases of 40 suffice"
std::vector<FigureChange> changes_in(const std::string& help) {
  static const std::regex one("((?:memory|limits)/[a-z0-9_/]+) of ([0-9]+)");
  std::vector<FigureChange> changes;
  for (std::sregex_iterator found(help.begin(), help.end(), one), end; found != end; ++found)
    changes.push_back({"/" + (*found)[1].str(), std::stoll((*found)[2])});
  return changes;
}

std::shared_ptr<const Chip> chip_with(std::string_view preset, const std::vector<FigureChange>& changes) {
  nlohmann::json file = nlohmann::json::parse(find_chip(preset).value_or_throw().text);
  for (const FigureChange& change : changes) {
    nlohmann::json& figure = file.at(nlohmann::json::json_pointer(change.pointer));
    (figure.is_object() ? figure.at("v") : figure) = change.value;
  }
  return std::make_shared<const Chip>(read_chip(file.dump(), "changed.json").value_or_throw());
}

ChipNet net_of(BlockGraph graph) {
  return chip_net(std::make_shared<const BlockGraph>(std::move(graph))).value_or_throw();
}

// So many products of 32 x 32, one behind the other.
BlockGraph products(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("p" + std::to_string(i));
  return tests::products_in_turn(names, 32);
}

// The largest of a plane of that many rows and columns.
BlockGraph pool_of_all(std::int64_t side, std::int64_t f) {
  BlockGraphMaker make("pool");
  const BlockShape plane{.y = side, .x = side, .f = f};
  const BlockId x = make.block("x", "INPUT", Precision::i8, plane), held = make.block("h", "SI", Precision::i8, plane),
                pool = make.block("pool", "CCMPB", Precision::i8,
                                  {.y = 1, .x = 1, .f = f, .ky = side, .kx = side, .iy = side, .ix = side},
                                  {{"kernel_x", side}, {"kernel_y", side}}),
                bytes = make.block("s", "SI", Precision::i8, {.y = 1, .x = 1, .f = f}),
                y = make.block("y", "OUTPUT", Precision::i8, {.y = 1, .x = 1, .f = f});
  make.edge(x, held);
  make.edge(held, pool);
  make.edge(pool, bytes);
  make.edge(bytes, y);
  return std::move(make.graph);
}

}  // namespace

TEST_CASE("where phases are too few and memory is not, phases are told, and as many fit [chip-refuse]") {
  const ChipNet net = net_of(products(40));
  const Diag diag = refusal_of(net, {.chip = tests::chip_variant("tianjicx"), .cores = 1});
  check_words(diag, "E4042",
              {"needs 2 cores of tianjicx, 1 are there", "a core has 32 phases", "where 40 are needed",
               "cores: 2 suffice, or in the chip's file limits/phases of 40"});
  const std::vector<FigureChange> changes = changes_in(diag.help_text);
  REQUIRE(changes.size() == 1);
  CHECK(map_net(net, {.chip = chip_with("tianjicx", changes), .cores = 1}));
  CHECK(map_net(net, {.chip = tests::chip_variant("tianjicx"), .cores = 2}));
  check_words(refusal_of(net, {.chip = chip_with("tianjicx", {{"/limits/phases", 39}}), .cores = 1}), "E4042",
              {"limits/phases of 40"});
  // On a chip that cannot be joined to others there is nothing else to change.
  const ChipNet deep = net_of(products(200));
  const Diag all = refusal_of(deep, {.chip = tests::chip_variant("tiny")});
  check_words(all, "E4042", {"4 are there", "32 phases"});
  CHECK(all.help_text == "in the chip's file limits/phases of 50 suffices");
  CHECK(map_net(deep, {.chip = chip_with("tiny", changes_in(all.help_text))}));
  check_words(refusal_of(deep, {.chip = chip_with("tiny", {{"/limits/phases", 49}})}), "E4042", {});
  // Where memory is what lacks nothing is said of phases.
  const Diag memory = refusal_of(deep, {.chip = chip_with("tiny", {{"/limits/phases", 400}}), .cores = 3});
  check_words(memory, "E4042", {"cores: 4 suffice"});
  CHECK(all_words(memory).find("phases") == std::string::npos);
}

TEST_CASE("an input and what it arrives in grow together: all figures are told, none of them too large [chip-refuse]") {
  const ChipNet net = net_of(pool_of_all(60, 64));
  const Diag diag = refusal_of(net, {.chip = tests::chip_variant("tiny")});
  check_words(diag, "E4041", {"'pool' fits no core of tiny", "in the chip's file memory/", "limits/receive_bytes of "});
  const std::vector<FigureChange> changes = changes_in(diag.help_text);
  REQUIRE_MESSAGE(changes.size() >= 3, diag.help_text);
  CHECK(map_net(net, {.chip = chip_with("tiny", changes)}));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].pointer.ends_with("base")) continue;
    std::vector<FigureChange> less = changes;
    less[i].value -= 1;
    const Result<ChipProgram> made = map_net(net, {.chip = chip_with("tiny", less)});
    CHECK_MESSAGE(!made, changes[i].pointer);
  }
}

TEST_CASE("the receive area is told to the byte, whatever it is now [chip-refuse]") {
  const ChipNet net = net_of(products(1));
  for (const std::int64_t now : {8, 15, 24, 31}) {
    CAPTURE(now);
    const Diag diag = refusal_of(net, {.chip = chip_with("tiny", {{"/limits/receive_bytes", now}})});
    CHECK(diag.help_text == "in the chip's file limits/receive_bytes of 32 suffices");
  }
  CHECK(map_net(net, {.chip = chip_with("tiny", {{"/limits/receive_bytes", 32}})}));
}

TEST_CASE("too many batches of rows: as many as are told fit, and one more does not [chip-refuse]") {
  const ChipNet net = net_of(tests::conv_graph(40, 4, 16, 32, true));
  const MapOptions options{.chip = tests::chip_variant("tianjicx"), .slabs = 40};
  const Diag diag = refusal_of(net, options);
  check_words(diag, "E4046", {"41 phases, 32 are possible", "fewer batches of rows: slabs: "});
  MapOptions fewer = options;
  fewer.slabs = std::stoll(diag.help_text.substr(diag.help_text.rfind(' ')));
  CHECK(map_net(net, fewer));
  fewer.slabs = *fewer.slabs + 1;
  CHECK(!map_net(net, fewer));
}

TEST_CASE("a place that no head names is told with both layers, and the figure that is told reaches it [chip-refuse]") {
  const ChipNet net = net_of(products(2));
  const std::vector<FigureChange> none{{"/limits/offset_min", 0}};
  ChipMapping m = ChipMapping::make(net, {.chip = tests::chip_variant("tianjicx")}).value_or_throw();
  MapDecisions decisions = m.decisions();
  REQUIRE(decisions.units.size() == 2);
  REQUIRE(decisions.units[0].cores.size() == 1);
  decisions.units[0].cores = {7}, decisions.units[1].cores = {2};
  const auto program = [&](const std::vector<FigureChange>& changes) {
    return ChipMapping::with(net, {.chip = chip_with("tianjicx", changes)}, decisions).value_or_throw().program();
  };
  const Result<ChipProgram> refused = program(none);
  REQUIRE(!refused);
  const Diag& diag = refused.diags().items().front();
  check_words(diag, "E4043",
              {"core 7 sends what 'p0c' makes to core 2, where 'p1' reads it, -5 away along x", "offset_min of -1"});
  CHECK(program({{"/limits/offset_min", -1}}));
}

TEST_CASE("actions against a limit of numbers say with how many they are done [chip-refuse]") {
  const ChipNet net = net_of(products(2));
  const auto mapping = [&](const std::vector<FigureChange>& changes, MapObjective objective) {
    return ChipMapping::make(net, {.chip = chip_with("tianjicx", changes), .objective = objective}).value_or_throw();
  };
  const auto refused = [](const ChipMapping::Done& done) {
    REQUIRE(!done);
    const Diag& diag = done.diags().items().front();
    CHECK(diag.code == Code("E4043"));
    return changes_in(diag.help_text);
  };
  {
    ChipMapping m = mapping({{"/limits/phases", 1}}, MapObjective::energy);
    const std::vector<FigureChange> changes = refused(m.fuse("p0", "p1"));
    REQUIRE(changes.size() == 1);
    ChipMapping other = mapping(changes, MapObjective::energy);
    if (other.estimate().cores == 1) REQUIRE(other.take_out("p1"));
    CHECK(other.fuse("p0", "p1"));
  }
  {
    ChipMapping m = mapping({{"/limits/phase_groups", 1}}, MapObjective::cores);
    const std::vector<FigureChange> changes = refused(m.take_out("p1"));
    REQUIRE(changes.size() == 1);
    CHECK(mapping(changes, MapObjective::cores).take_out("p1"));
  }
  {
    ChipMapping m = mapping({{"/limits/step_groups", 1}}, MapObjective::cores);
    REQUIRE(m.take_out("p1"));
    const std::vector<FigureChange> changes = refused(m.set_step_groups(2));
    REQUIRE(changes.size() == 1);
    CHECK(m.set_step_groups(1));
    ChipMapping other = mapping(changes, MapObjective::cores);
    REQUIRE(other.take_out("p1"));
    CHECK(other.set_step_groups(2));
  }
}

TEST_CASE("what no packet brings says what would be brought, and that is [chip-refuse]") {
  const auto ternary = [](std::int64_t from, std::int64_t to, std::int64_t values) {
    BlockGraphMaker make("tern");
    const BlockId x = make.block("x", "INPUT", Precision::tern, {.f = 64}),
                  h = make.block("h", "SIFC", Precision::tern, {.r = 64}),
                  w = make.block("w", "SWFC", Precision::i8, {.f = 32, .r = 64}),
                  fc = make.block("fc", "CVM", Precision::i32, {.f = 32, .r = 64}),
                  y = make.block("y", "OUTPUT", Precision::i32, {.f = 32});
    make.graph.blocks[w.index()].data = make.data(w);
    BlockEdge& edge = make.edge(x, h);
    edge.from.box = {{from}, {values}}, edge.to.box = {{to}, {values}};
    make.edge(h, fc, "input");
    make.edge(w, fc, "weight");
    make.edge(fc, y);
    return net_of(std::move(make.graph));
  };
  const MapOptions options{.chip = tests::chip_variant("tiny")};
  check_words(refusal_of(ternary(0, 1, 63), options), "E4044", {"begin and end at multiples of 4 values"});
  check_words(refusal_of(ternary(0, 0, 63), options), "E4044", {"begin and end at multiples of 4 values"});
  CHECK(map_net(ternary(0, 4, 60), options));
  CHECK(map_net(ternary(0, 0, 60), options));

  const auto late = [](std::int32_t first, std::int32_t second) {
    BlockGraphMaker make("late");
    const BlockShape plane{.y = 2, .x = 2, .f = 8};
    const BlockId x = make.block("x", "INPUT", Precision::i8, plane), a = make.block("a", "SI", Precision::i8, plane),
                  b = make.block("b", "SI", Precision::i8, plane),
                  sum = make.block("sum", "CADD", Precision::i32, plane),
                  y = make.block("y", "OUTPUT", Precision::i32, plane);
    make.edge(x, a).delay = first;
    make.edge(a, b).delay = second;
    make.edge(b, sum);
    make.edge(sum, y);
    return chip_net(std::make_shared<const BlockGraph>(std::move(make.graph)));
  };
  const Result<ChipNet> twice = late(1, 2);
  REQUIRE(!twice);
  check_words(twice.diags().items().front(), "E4044", {"delayed twice", "a delay of 3 on one of the edges"});
  CHECK(map_net(late(3, 0).value_or_throw(), options));
}

}  // namespace taskspec::refuse_fits_test
