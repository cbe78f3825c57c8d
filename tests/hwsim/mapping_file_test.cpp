// Files of mappings: for which chips they are, and that those that say nothing of it are still read.
#include "hwsim/map/mapping_file.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/hwsim/chip_nets.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/lowered_nets.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::mapping_file_test {

namespace {

std::string first_text(const Diags& diags) {
  if (diags.empty()) return "";
  return diags.items().front().code.text() + " " + diags.items().front().message;
}

}  // namespace

TEST_CASE("a file of a mapping says for which chips, and is put on those alone [chip-map]") {
  const ChipNet net =
      chip_net(std::make_shared<const BlockGraph>(tests::conv_graph(4, 4, 16, 32, true))).value_or_throw();
  MapOptions one{.chip = tests::chip_variant("tianjicx")}, two = one;
  two.chips = {2, 1};
  ChipMapping m = ChipMapping::make(net, two).value_or_throw();
  REQUIRE(m.move(m.decisions().units[0].cores[0], 303));
  const std::string text = mapping_json(m);
  const MapFile file = read_mapping(text, "m.json").value_or_throw();
  // Where nobody says chips it brings its own; others are refused, as an action, too.
  const ChipMapping again = apply(file, net, one).value_or_throw();
  CHECK(again.decisions() == m.decisions());
  CHECK(again.estimate() == m.estimate());
  CHECK(again.options().chips == two.chips);
  for (const bool is_action : {false, true}) {
    CAPTURE(is_action);
    MapOptions others = one;
    others.chips = {1, 2};
    ChipMapping other = ChipMapping::make(net, others).value_or_throw();
    const MapDecisions was = other.decisions();
    const Diags told = is_action ? load(other, file).diags() : apply(file, net, others).diags();
    REQUIRE(told.has_errors());
    CHECK(told.items().front().code == Code("E7003"));
    CHECK_MESSAGE(first_text(told).find("at /chips: it is for 2 x 1 chips of 'tianjicx', and here are 1 x 2") !=
                      std::string::npos,
                  first_text(told));
    CHECK(told.items().front().help_text ==
          (is_action ? "load it into map(..., chips: [2, 1])" : "leave chips out: the file says them"));
    CHECK(other.decisions() == was);
  }
  ChipMapping alike = ChipMapping::make(net, two).value_or_throw();
  REQUIRE(load(alike, file));
  CHECK(alike.decisions() == m.decisions());
  // A number of cores that was asked for goes with it.
  MapOptions few = one;
  few.cores = 7;
  const ChipMapping small = ChipMapping::make(net, few).value_or_throw();
  const MapFile seven = read_mapping(mapping_json(small), "m.json").value_or_throw();
  CHECK(apply(seven, net, one).value_or_throw().estimator().places().there == 7);
  // An older file says neither: what does not fit says what would.
  nlohmann::json older = nlohmann::json::parse(text);
  older.erase("chips");
  const MapFile silent = read_mapping(older.dump(), "m.json").value_or_throw();
  CHECK(apply(silent, net, two));
  const Result<ChipMapping> lost = apply(silent, net, one);
  REQUIRE(!lost);
  CHECK_MESSAGE(first_text(lost.diags()).find("there is no core 303: 160 are there") != std::string::npos,
                first_text(lost.diags()));
  CHECK(lost.diags().items().front().help_text.find("chips: [x, y]") != std::string::npos);
}

TEST_CASE("packets that carry one byte each are counted, and said with what they bring [chip-map]") {
  const auto notes_of = [](bool is_weight) {
    std::mt19937_64 random(5);
    NetOf net;
    const ValueId x = net.input({Precision::i8, {1, 64}});
    const ValueId w = is_weight ? net.weight(random_array(random, Precision::i8, Extents{64, 32}))
                                : net.input({Precision::i8, {64, 32}});
    net.give(net.emit("matmul", {x, w}));
    const auto graph = std::make_shared<const BlockGraph>(net.lowered().value_or_throw().graph);
    const ChipMapping m =
        ChipMapping::make(chip_net(graph).value_or_throw(), {.chip = tests::chip_variant("tiny")}).value_or_throw();
    return m.program().value_or_throw().notes;
  };
  const std::vector<std::string> notes = notes_of(false);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] == "2048 packets of a step carry one byte each, where 8 would fit: 'matmul.weight' 2048");
  CHECK(notes_of(true).empty());
}

}  // namespace taskspec::mapping_file_test
