// Chips as files: the presets, what every figure owes, and what is said about bad files.
#include "hwsim/chip/chip.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hwsim/chip/formula.hpp"
#include "ir/base/text.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::chip_test {

namespace {

const std::vector<std::string> presets{"loihi", "tianjic", "tianjicx", "tiny", "truenorth"};

Chip preset(std::string_view name) { return load_chip(name).value_or_throw(); }

// "E7003 message | help" of each fault.
std::vector<std::string> faults_of(const std::string& text) {
  const Result<Chip> chip = read_chip(text, "mine.json");
  std::vector<std::string> faults;
  for (const Diag& diag : chip.diags().items())
    faults.push_back(diag.code.text() + " " + diag.message + (diag.help_text.empty() ? "" : " | " + diag.help_text));
  return faults;
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from << " is not in the file");
  return text.replace(at, from.size(), to);
}

std::string text_of(std::string_view name) { return find_chip(name).value_or_throw().text; }

}  // namespace

TEST_CASE("every preset loads, and each of its figures carries a source or is assumed [chip]") {
  CHECK(chip_presets() == presets);
  for (const std::string& name : presets) {
    CAPTURE(name);
    const Chip chip = preset(name);
    CHECK(chip.name == name);
    std::set<std::string> used, keys;
    for (const ChipSource& source : chip.sources) keys.insert(source.key);
    CHECK(chip.figures.size() > 30);
    for (const ChipFigure& figure : chip.figures) {
      CAPTURE(figure.pointer);
      CHECK((figure.is_assumed() || figure.is_derived() || keys.contains(figure.source)));
      used.insert(figure.source);
    }
    CHECK(!chip.assumed().empty());
    for (const ChipFigure* figure : chip.assumed()) CHECK(figure->source == "assumed");
    for (const std::string& key : keys)
      CHECK_MESSAGE((key == "horowitz2014" || used.contains(key)), key << " is not used");
    // In the text no number stands alone that has to have a source.
    for (const char* part : {"\"clock\"", "\"limits\"", "\"noc\"", "\"energy\""})
      CHECK(text_of(name).find(part) != std::string::npos);
  }
}

TEST_CASE("the presets are what is published of the chips [chip]") {
  const Chip x = preset("tianjicx");
  CHECK(x.kind == ChipKind::primitive);
  CHECK((x.runs_ann && x.runs_snn));
  CHECK(x.grid.cores == ChipExtent{16, 10});
  CHECK(x.hz == 400'000'000);
  CHECK(x.figure("/clock/hz")->is_assumed());
  CHECK(x.memory_bytes() == 147'456);
  CHECK(x.bank_at(0x20000)->holds(BankRole::receive));
  CHECK(!x.bank_at(0x20000)->holds(BankRole::weight));
  CHECK(x.bank_at(0x24000) == nullptr);
  CHECK(x.mac.pixels * x.mac.outputs == 128);
  CHECK(x.mac.takes(Precision::tern, Precision::i8));
  CHECK(!x.mac.takes(Precision::i32, Precision::i8));
  CHECK(x.cycles.start == 6);
  CHECK(x.cycles.outputs == 32);
  CHECK(x.limits.phases == 32);
  CHECK(x.limits.receive_bytes == 12 * 1024);
  CHECK(!x.limits.fan_in);
  CHECK(x.noc.chip_hop_clk_y == 32);
  CHECK(x.noc.snn_packets == SpikePackets::dense);
  CHECK(x.energy[EnergyEvent::mac_i8] == 1'800);
  CHECK(x.figure("/energy/mac_i8")->is_derived());
  CHECK(x.energy[EnergyEvent::idle_clk] == 10'000);

  const Chip tianjic = preset("tianjic");
  CHECK(tianjic.kind == ChipKind::crossbar);
  CHECK(tianjic.grid.cores.area() == 156);
  CHECK(tianjic.sync.mode == SyncMode::fixed);
  CHECK(tianjic.sync.phase_clk == 5'050);
  CHECK(tianjic.lumped);
  CHECK(tianjic.energy[EnergyEvent::mac_i8] == 15'625);
  CHECK(tianjic.energy[EnergyEvent::alu] == 0);
  CHECK(tianjic.limits.fan_in == 256);
  CHECK(tianjic.neuron == NeuronModel::clif);

  const Chip loihi = preset("loihi");
  CHECK(loihi.kind == ChipKind::synaptic);
  CHECK(!loihi.runs_ann);
  CHECK(loihi.grid.cores.area() == 128);
  CHECK(loihi.grid.cores_per_router == 4);
  CHECK(loihi.sync.tick_clk == 0);
  CHECK(loihi.noc.hop_clk_x == 41);
  CHECK(loihi.noc.hop_clk_y == 65);
  CHECK(loihi.time.synapse_sparse == 47);
  CHECK(loihi.energy[EnergyEvent::msg] == 1'110'000);
  CHECK(loihi.limits.synapse_bits == 16'384 * 64);
  CHECK(loihi.alternatives.size() == 4);
  CHECK(loihi.neuron == NeuronModel::loihi);

  const Chip truenorth = preset("truenorth");
  CHECK(truenorth.grid.cores.area() == 4'096);
  CHECK(truenorth.sync.tick_clk == 1'000);
  CHECK(truenorth.limits.fan_out == 1);
  CHECK(truenorth.limits.axon_types == 4);
  CHECK(truenorth.energy[EnergyEvent::syn_dense] == 260'000);
  CHECK(truenorth.neuron == NeuronModel::truenorth);

  const Chip tiny = preset("tiny");
  CHECK(tiny.grid.cores.area() == 4);
  CHECK(tiny.memory_bytes() == 80 * 1024);
  CHECK(tiny.grid.max_chips.area() == 1);
}

TEST_CASE("a barrier is linear between its entries [chip]") {
  const ChipSync sync = preset("loihi").sync;
  const std::pair<std::int64_t, std::int64_t> wanted[] = {{0, 6'000},  {1, 6'000},  {2, 10'000},  {3, 12'000},
                                                          {4, 14'000}, {5, 14'160}, {29, 18'000}, {100, 18'000}};
  for (const auto& [tiles, clk] : wanted) CHECK(sync.barrier_clk(tiles) == clk);
  CHECK(preset("tiny").sync.barrier_clk(3) == 0);
  CHECK(ChipSync{.barrier = {{1, 10}, {4, 0}}}.barrier_clk(2) == 6);  // 6.67, rounded down
}

TEST_CASE("a bad chip file: file, place, what was expected [chip] [hostile]") {
  const std::string good = text_of("tianjicx");
  CHECK(faults_of(good).empty());
  struct Bad {
    const char *from, *to, *pointer, *what;
  };
  const Bad cases[] = {
      {"\"phases\": {\"v\": 32", "\"phasen\": {\"v\": 32", "/limits/phasen", "unknown field, expected one of"},
      {"\"phases\": {\"v\": 32, \"unit\": \"1\"", "\"phases\": {\"v\": 32, \"unit\": \"B\"", "/limits/phases/unit",
       "expected the unit \"1\", found \"B\""},
      {"\"phases\": {\"v\": 32", "\"phases\": {\"v\": 0", "/limits/phases/v", "expected a whole number from 1 to"},
      {"\"phases\": {\"v\": 32", "\"phases\": {\"v\": 3.5", "/limits/phases/v", "found 3.5"},
      {"\"phases\": {\"v\": 32, \"unit\": \"1\", \"src\": \"bimap\"}", "\"phases\": 32", "/limits/phases",
       "expected a figure"},
      {"\"hz\": {\"v\": 400000000, \"unit\": \"Hz\", \"src\": \"assumed\"}",
       "\"hz\": {\"v\": 400000000, \"unit\": \"Hz\"}", "/clock/hz", "there is no 'src': a figure needs a source"},
      {"\"src\": \"assumed\"}", "\"src\": \"somewhere\"}", "/clock/hz/src", "a key of sources"},
      {"\"v\": 0.18,", "\"v\": 0.19,", "/energy/mac_i8/v", "expected 0.18, which its formula gives, found 0.19"},
      {"derived: (0.2 + 0.1) * 0.6", "derived: (0.2 + 0.1", "/energy/mac_i8/src", "a ')' is missing"},
      {"\"v\": 0.07", "\"v\": 0.07001", "/energy/mac_tern/v", "at most four decimal places"},
      {"\"topology\": {\"v\": \"mesh\"", "\"topology\": {\"v\": \"torus\"", "/noc/topology/v",
       "expected one of \"mesh\", \"bus\", \"fattree\", found \"torus\""},
      {"\"runs\": [\"ann\", \"snn\"]", "\"runs\": [\"rnn\"]", "/runs", "a list of \"ann\", \"snn\" or both"},
      {"\"format\": \"taskspec-chip\"", "\"format\": \"chip\"", "/format", "\"taskspec-chip\""},
      {"\"version\": 1", "\"version\": 2", "/version", "1, the only version"},
      {"\"kind\": \"primitive\"", "\"kind\": \"crossbar\"", "/mac", "belongs to chips of kind 'primitive' alone"},
      {"\"rules\": {", "\"time\": {}, \"rules\": {", "/time", "belongs to chips of kinds 'crossbar' and 'synaptic'"},
      {"\"base\": 65536", "\"base\": 65535", "/memory/1/base", "expected an address from 65536 on"},
      {"[\"receive\", \"send\", \"program\"]", "[\"receive\", \"sent\"]", "/memory/2/roles/1", "did you mean 'send'?"},
      {"\"max_chips\": [8, 8]", "\"max_chips\": [8, 0]", "/grid/max_chips/1", "a whole number from 1"},
      {"\"max_chips\": [8, 8]", "\"max_chips\": [4096, 4096]", "/grid/max_chips", "cores in all"},
      {"\"max_chips\": [8, 8]", "\"max_chips\": [4096, 1]", "/grid/max_chips", "at most 65535 cores in a row"},
      {"\"vcs\": {\"v\": 4", "\"vcs\": {\"v\": 33", "/noc/vcs/v", "a whole number from 1 to 32"},
      {"\"burst\": {\"v\": 16", "\"burst\": {\"v\": 65536", "/noc/burst/v", "a whole number from 1 to 65535"},
      {"\"chips\": [1, 1]", "\"chips\": [9, 1]", "/grid/chips", "at most max_chips"},
      {"\"mode\": \"adaptive\"", "\"mode\": \"tick\"", "/sync", "there is no 'tick_s'"},
      {"\"mode\": \"adaptive\", ", "\"mode\": \"adaptive\", \"phase_clk\": 5, ", "/sync/phase_clk",
       "belongs to the mode 'fixed' alone"},
      {"[\"tern\", \"tern\"]", "[\"tern\", \"f32\"]", "/mac/pairs/5/1", "one of \"i8\", \"u8\", \"tern\""},
      {"\"mode\": \"adaptive\"", "\"barrier\": [[1, 0]], \"mode\": \"adaptive\"", "/sync/barrier",
       "belongs to chips of kinds 'crossbar' and 'synaptic' alone"},
      {"\"snn_packets\": {\"v\": \"dense\"", "\"snn_packets\": {\"v\": \"event\"", "/noc/snn_packets",
       "expected \"dense\""},
      {"\"limits\": {", "\"limits\": {\"delay_max\": {\"v\": 3, \"unit\": \"1\", \"src\": \"assumed\"}, ",
       "/limits/delay_max", "belongs to chips of kinds 'crossbar' and 'synaptic' alone"},
      {"\"kind\": \"repository\"", "\"kind\": \"rumour\"", "/sources/bimap/kind", "one of \"primary\""},
      {"\"name\": \"tianjicx\"", "\"name\": \"x y\"", "/name", "an identifier"},
      {"\"payload_bytes\": {\"v\": 8", "\"payload_bytes\": {\"v\": 13", "/noc/payload_bytes", "at most packet_bytes"},
  };
  for (const Bad& bad : cases) {
    std::string from = bad.from;
    if (std::string_view(bad.to).find("phase_clk\": 5") != std::string_view::npos) from = "\"mode\": \"adaptive\",";
    const std::vector<std::string> faults = faults_of(changed(good, from, bad.to));
    CAPTURE(std::string(bad.to));
    REQUIRE(!faults.empty());
    bool said = false;
    for (const std::string& fault : faults)
      said =
          said ||
          (fault.starts_with("E7003 'mine.json' is no chip that can be read: at " + std::string(bad.pointer) + ": ") &&
           fault.find(bad.what) != std::string::npos);
    CHECK_MESSAGE(said, faults[0]);
  }
}

// What would have no effect is no figure of that chip.
TEST_CASE("a figure of another kind of chip is refused [chip] [hostile]") {
  const std::string good = text_of("loihi");
  const auto said = [&](const std::string& text, const std::string& what) {
    const std::vector<std::string> faults = faults_of(text);
    return std::ranges::any_of(faults, [&](const std::string& fault) { return fault.find(what) != std::string::npos; });
  };
  CHECK(said(
      changed(good, "\"limits\": {", "\"limits\": {\"phases\": {\"v\": 3, \"unit\": \"1\", \"src\": \"assumed\"}, "),
      "at /limits/phases: belongs to chips of kind 'primitive' alone"));
  CHECK(said(changed(good, "\"snn_packets\": {\"v\": \"event\"", "\"snn_packets\": {\"v\": \"dense\""),
             "at /noc/snn_packets: expected \"event\""));
}

TEST_CASE("plain values will do where no figure is asked for [chip]") {
  std::string text = text_of("tiny");
  const auto plain = [&](const std::string& field, const std::string& value) {
    const std::size_t at = text.find("\"" + field + "\": ");
    REQUIRE(at != std::string::npos);
    const std::size_t begin = at + field.size() + 4, end = text.find(text[begin] == '[' ? "]" : "}", begin) + 1;
    text.replace(begin, end - begin, value);
  };
  plain("cores", "[2, 2]");
  plain("cores_per_router", "1");
  plain("phase_clk_overhead", "0");
  plain("pixels", "4");
  plain("outputs", "32");
  plain("cut_unit_bits", "2");
  plain("topology", "\"mesh\"");
  plain("order", "\"x_first\"");
  plain("snn_packets", "\"dense\"");
  plain("multicast", "true");
  plain("hop_clk", R"({"v": 1, "unit": "clk", "src": "assumed"})");
  CHECK(faults_of(text).empty());
  const Chip chip = read_chip(text, "mine.json").value_or_throw();
  CHECK(chip.grid.cores == ChipExtent{2, 2});
  CHECK(chip.noc.hop_clk_y == 1);
  CHECK(chip.noc.multicast);
  const Chip ticks =
      read_chip(changed(text_of("loihi"), R"([1, {"v": 6e-07, "unit": "s", "src": "davies2018"}])", "[1, 0]"),
                "mine.json")
          .value_or_throw();
  CHECK(ticks.sync.barrier_clk(1) == 0);
  CHECK(chip.figure("/grid/cores/0") == nullptr);
}

TEST_CASE("all faults of a chip file are said at once [chip]") {
  std::string text = changed(text_of("tianjicx"), "\"v\": 0.18", "\"v\": 0.2");
  text = changed(text, "\"phases\": ", "\"phase\": ");
  text = changed(text, "\"unit\": \"Hz\"", "\"unit\": \"MHz\"");
  text = changed(text, "  \"kind\": \"primitive\",\n", "");
  const std::vector<std::string> faults = faults_of(text);
  CHECK(faults.size() == 4);
  const auto said = [&](const char* part) {
    return std::any_of(faults.begin(), faults.end(),
                       [&](const std::string& f) { return f.find(part) != std::string::npos; });
  };
  for (const char* part : {"at /clock/hz/unit:", "at /limits/phase:", "at /energy/mac_i8/v:", "there is no 'kind'"})
    CHECK_MESSAGE(said(part), part);
  CHECK(said("did you mean 'phases'?"));
}

TEST_CASE("a lumped chip has one figure; the parts of others are on no other kind [chip]") {
  const auto first = [](const std::string& text) { return faults_of(text).at(0); };
  CHECK(first(changed(text_of("tianjic"), "\"alu\": {\"v\": 0", "\"alu\": {\"v\": 0.5"))
            .find("at /energy/alu/v: expected 0") != std::string::npos);
  CHECK(first(changed(text_of("loihi"), "\"spike\": {\"v\": 69.3", "\"spikes\": {\"v\": 69.3"))
            .find("there is no 'spike'") != std::string::npos);
  CHECK(first(changed(text_of("tiny"), "\"burst\"",
                      "\"chip_packet_clk\": {\"v\": 4, \"unit\": \"clk\", \"src\": \"assumed\"}, \"burst\""))
            .find("at /noc/chip_packet_clk: this chip cannot be joined") != std::string::npos);
  CHECK(first(changed(text_of("loihi"), "\"v\": 6e-07", "\"v\": 6.00001e-07"))
            .find("at /sync/barrier/0/1: expected a whole number of ticks") != std::string::npos);
}

TEST_CASE("hostile chip files [chip] [hostile]") {
  CHECK(faults_of("").at(0).find("cut off at line 1, column 1") != std::string::npos);
  CHECK(faults_of("{\n  \"format\": ?").at(0).find("not JSON at line 2, column 13") != std::string::npos);
  CHECK(faults_of("[]").at(0).find("expected an object, found a list") != std::string::npos);
  CHECK(faults_of(std::string(100'000, '[')).at(0).find("nested too deeply: more than 16 levels") != std::string::npos);
  CHECK(faults_of(std::string(2 << 20, ' ')).at(0).find("more than 1048576 bytes") != std::string::npos);
  CHECK(faults_of("{\"v\": 1e999}").at(0).find("beyond all ranges") != std::string::npos);
  CHECK(faults_of("{\"a\": {\"b\": 1}, \"c\": [{\"b\": 1}, {\"b\": 2, \"b\": 3}]}")
            .at(0)
            .find("an object has 'b' twice") != std::string::npos);
  CHECK(faults_of(changed(text_of("tiny"), "\"name\": \"mem1\"", "\"name\": \"mem0\""))
            .at(0)
            .find("at /memory/1/name: expected a name of its own, found a second 'mem0'") != std::string::npos);
  std::string many = "{";
  for (int i = 0; i < 50'000; ++i) many += "\"k" + std::to_string(i) + "\": 1, ";
  CHECK(faults_of(many + "\"z\": 1}").size() == 100);
  const std::string odd = faults_of("{\"a\\u001b\\n/" + std::string(1'000, 'x') + "\": 1}").back();
  CHECK(odd.find('\x1b') == std::string::npos);
  CHECK(odd.size() < 600);
}

TEST_CASE("chips are found by name, or by path [chip]") {
  const auto message = [](const char* name) {
    const Result<Chip> chip = load_chip(name);
    REQUIRE(!chip);
    const Diag& diag = chip.diags().items().front();
    return diag.code.text() + " " + diag.message + " | " + diag.help_text;
  };
  CHECK(message("tianjix") ==
        "E7003 no chip is called 'tianjix'; there are loihi, tianjic, tianjicx, tiny, truenorth, and files by a path "
        "such "
        "as ./mine.json | did you mean 'tianjic'?");
  CHECK(message("").starts_with("E7003 no chip is called ''"));
  CHECK(message("no/such.json").starts_with("E7001"));
  CHECK(message("..").starts_with("E7003"));
  TemporaryFolder folder;
  folder.put("mine.json", changed(text_of("tiny"), "\"name\": \"tiny\"", "\"name\": \"mine\""));
  CHECK(preset(folder / "mine.json").name == "mine");
  folder.put("bad.json", "{");
  CHECK(message((folder / "bad.json").c_str()).find("bad.json' is no chip") != std::string::npos);
}

TEST_CASE("formulas of derived figures [chip]") {
  const auto look_up = [](std::string_view pointer) { return pointer == "/a/b" ? std::optional(8.0) : std::nullopt; };
  const auto value = [&](std::string_view text) { return evaluate(text, look_up).value.value_or(-1); };
  const auto fault = [&](std::string_view text) { return evaluate(text, look_up).fault; };
  CHECK(value("1 + 2 * 3 - 4 / 2") == 5);
  CHECK(value(" (1 + 2) * -3 + 10") == 1);
  CHECK(value("2 / 1.28") == 1.5625);
  CHECK(value("16384 * 64 / {/a/b}") == 131'072);
  CHECK(value("8 - 4 - 2") == 2);
  CHECK(value("8 / 4 / 2") == 1);
  CHECK(value("1.5e3") == 1'500);
  CHECK(fault("1 / 0") == "it has no finite value");
  CHECK(fault("1 +") == "it ends too early");
  CHECK(fault("1 2") == "'2' is not understood");
  CHECK(fault("x") == "a number is missing");
  CHECK(fault("nan") != "");
  CHECK(fault("{/a/c}").find("'/a/c' is no number") == 0);
  CHECK(fault("{/a") == "a '}' is missing");
  CHECK(fault(std::string(100, '(') + "1") == "it is nested too deeply");
  CHECK(fault(std::string(100, '-') + "1") == "it is nested too deeply");
  CHECK(fault(std::string(1'000, '1')) == "it is too long");
}

// A simulator that knows a number of a chip by heart is one that no chip file can correct.
TEST_CASE("no figure of a chip stands in the code of the simulator [chip] [guard]") {
  const auto is_round = [](double value) {
    for (double power = 1; power < 1e18; power *= 2)
      if (value == power || value == power - 1) return true;
    for (double power = 1; power < 1e18; power *= 10)
      if (value == power) return true;
    return false;
  };
  std::map<double, std::string> figures;  // those that would be no coincidence
  for (const std::string& name : presets)
    for (const ChipFigure& figure : preset(name).figures) {
      if (figure.unit.empty()) continue;
      const double value = std::abs(std::stod(figure.value));
      if ((value > 64 || value != std::trunc(value)) && !is_round(value)) figures.emplace(value, name + figure.pointer);
    }
  CHECK(figures.size() > 20);
  CHECK(figures.contains(5'050));
  CHECK(figures.contains(35.5));
  // Moves per core; the number of a block.
  const std::set<std::pair<std::string, double>> others{{"hwsim/place/anneal.cpp", 200},
                                                        {"stdlib/blocks/switch.cpp", 200}};
  std::size_t seen = 0;
  std::vector<std::string> files = files_below("hwsim", {".cpp", ".hpp"});
  for (std::string& file : files_below("stdlib/blocks", {".cpp", ".hpp"})) files.push_back(std::move(file));
  for (const std::string& file : files) {
    const std::string text = read_file(file);
    for (std::string_view line : lines_of(text)) {
      line = line.substr(0, line.find("//"));
      bool in_text = false;
      for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') in_text = !in_text;
        const auto is_word = [&](std::size_t k) {
          return std::isalnum(static_cast<unsigned char>(line[k])) || line[k] == '_';
        };
        if (in_text || line[i] < '0' || line[i] > '9' || (i > 0 && (is_word(i - 1) || line[i - 1] == '.'))) continue;
        std::string number;
        for (; i < line.size() && (is_word(i) || line[i] == '.' || line[i] == '\''); ++i)
          if (line[i] != '\'') number += line[i];
        ++seen;
        if (number.starts_with("0x")) continue;
        const double value = std::stod(number);
        const auto found = figures.find(value);
        if (found != figures.end() && !others.contains({file, value}))
          CHECK_MESSAGE(false,
                        file << " has " << number << ", which is " << found->second << ": read it from the chip");
        --i;
      }
    }
  }
  CHECK(seen > 50);
}

}  // namespace taskspec::chip_test
