// Mappings that are changed by hand: random nets on random chips with random actions. Values stay those of the engine;
// estimates are those of the decisions alone, however they came about; all can be undone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapping_file.hpp"
#include "hwsim/map/optimise.hpp"
#include "hwsim/report/account.hpp"
#include "interp/exact/engine.hpp"
#include "stdlib/blocks.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/stream_nets.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::mapping_test {

namespace {

std::vector<Array> inputs_of(std::mt19937_64& random, const BlockGraph& graph) {
  std::vector<Array> inputs;
  for (BlockId id : graph.inputs()) {
    const ArrayType type = value_type(graph[id]);
    inputs.push_back(random_array(random, type.precision, type.extents));
  }
  return inputs;
}

bool equal(const Array& a, const Array& b) {
  if (a.type() != b.type()) return false;
  for (std::int64_t i = 0; i < a.elements(); ++i)
    if (a.integer(i) != b.integer(i)) return false;
  return true;
}

std::string first_text(const Diags& diags) {
  if (diags.empty()) return "";
  return diags.items().front().code.text() + " " + diags.items().front().message;
}

std::optional<ChipMapping> random_mapping(std::mt19937_64& random) {
  auto graph = std::make_shared<const BlockGraph>(tests::random_chip_net(random));
  Result<ChipNet> net = chip_net(graph);
  if (!net) return std::nullopt;
  Result<ChipMapping> made =
      ChipMapping::make(*std::move(net), {.chip = tests::random_chip(random), .blocks = standard_blocks()});
  return made && !made->units().units.empty() ? std::optional(*std::move(made)) : std::nullopt;
}

// Any action on any unit and core, sense or not.
ChipMapping::Done random_action(std::mt19937_64& random, ChipMapping& m, std::optional<MapFile>& saved) {
  const auto& units = m.units().units;
  auto unit = [&] { return units[random() % units.size()].name; };
  auto used = [&]() -> std::int64_t {
    const MapUnit& one = m.decisions().units[random() % units.size()];
    return one.cores[random() % one.cores.size()];
  };
  auto core = [&] { return between(random, 0, 2) == 0 ? used() : between(random, -1, m.estimator().places().there); };
  switch (random() % 18) {
    case 0:
    case 1:
      return m.split(unit(), {.y = between(random, 0, 4), .x = between(random, 1, 2), .f = between(random, 1, 2)});
    case 2:
      return m.fuse(unit(), unit());
    case 3:
      return m.replicate(unit(), between(random, 1, 4));
    case 4:
      return m.share_storage(unit(), unit());
    case 5:
      return m.merge(used(), used());
    case 6:
      return m.put_in(unit(), core());
    case 7:
      return m.take_out(unit());
    case 8:
      return m.move(used(), core());
    case 9:
      return m.set_phase(unit(), between(random, -1, 3));
    case 10:
      return m.set_slabs(between(random, 1, 6));
    case 11:
      return m.set_depth(between(random, 0, 2));
    case 12:
      return random() % 2 == 0 ? m.set_step_groups(between(random, -1, 2)) : m.set_fetches_ahead(random() % 2 == 0);
    case 13:
      return m.pipeline_rows(unit(), between(random, -1, 4));
    case 14:
    case 15:
      return m.split(unit(), {.r = between(random, 0, 3)});
    case 16:
      if (!saved || random() % 2 == 0) {
        saved = read_mapping(mapping_json(m), "m.json").value_or_throw();
        return m.estimate();
      }
      return load(m, *saved);
    default:
      return random() % 2 == 0 ? m.undo() : m.redo();
  }
}

// The estimate knows packets, bytes and cycles to the last one.
void check_against_program(const ChipMapping& m, const ChipProgram& program) {
  std::int64_t memory = 0, packets = 0;
  for (const ChipCore& core : program.cores) {
    memory = std::max(memory, core.bytes);
    CHECK(m.estimator().bytes_of(core.core) == core.bytes);
    for (const ChipPhase& phase : core.phases)
      for (const std::optional<ChipCall>* call : {&phase.axon, &phase.soma})
        if (*call) CHECK(multiply_adds((*call)->block) <= 128 * (*call)->cycles);
  }
  for (const ChipMessage& message : program.messages)
    if (message.from_core != host_core || message.to_core != host_core) packets += message.packets;
  CHECK(m.estimate().memory == memory);
  CHECK(m.estimate().packets == packets);
  const Result<ChipTiming> timing = time_program(program, {.noc = NocModel::ideal, .frames = 3});
  REQUIRE_MESSAGE(timing, first_text(timing.diags()));
  const PerEvent real = account_of(program, *timing).counts.total();
  PerEvent sum;
  for (std::size_t u = 0; u < m.units().units.size(); ++u)
    for (std::size_t piece = 0; piece < m.decisions().units[u].cores.size(); ++piece) {
      const PieceLoad load = m.estimator().load(u, piece);
      sum[EnergyEvent::out] += load.out;
      sum[EnergyEvent::in] += load.in;
      if (m.decisions().slabs > 1) continue;  // rows have phases of their own
      const std::int32_t number = m.decisions().units[u].cores[piece];
      for (const ChipCore& core : program.cores) {
        if (core.core != number) continue;
        const ChipPhase& phase = core.phases[static_cast<std::size_t>(m.decisions().units[u].phase)];
        CHECK(load.axon == (phase.axon ? phase.axon->cycles : 0));
        CHECK(load.soma == (phase.soma ? phase.soma->cycles : 0));
      }
    }
  // Of what the host sends once to several cores, the first ones send it on.
  for (const ChipMessage& message : program.messages)
    if (message.from_core == host_core && message.behind != ChipMessage::no_message)
      sum[EnergyEvent::out] += message.packets;
  CHECK(sum[EnergyEvent::out] == real[EnergyEvent::out]);
  CHECK(sum[EnergyEvent::in] == real[EnergyEvent::in]);
}

// Sums that saturate on their way are others in another order, which a cut along r makes.
bool shows_order(const ChipMapping& m, const ExactEngine& engine) {
  const ExactReport report = engine.report();
  return std::ranges::any_of(m.cuts(), [&](const SumCut& cut) {
    const std::string& name = (*m.given().graph)[cut.block].name;
    return std::ranges::any_of(report.rows,
                               [&](const BlockRow& row) { return row.name == name && row.saturations > 0; });
  });
}

void check_values(std::mt19937_64& random, const ChipMapping& m) {
  Result<ChipProgram> made = m.program();
  REQUIRE_MESSAGE(made, first_text(made.diags()));
  check_against_program(m, *made);
  auto program = std::make_shared<const ChipProgram>(*std::move(made));
  ExactEngine engine = ExactEngine::make(m.given().graph, {}).value_or_throw();
  ChipMachine machine(program);
  for (int step = 0; step < 3; ++step) {
    const std::vector<Array> inputs = inputs_of(random, *m.given().graph);
    std::vector<Array> wanted = engine.run(inputs), values;
    REQUIRE_NOTHROW(values = machine.run(inputs));
    if (shows_order(m, engine)) return;
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(equal(wanted[i], values[i]));
  }
}

// A chain of tables, whose entries are the same: they can lie once on a core.
std::shared_ptr<const BlockGraph> tables_graph() {
  tests::BlockGraphMaker make("tables");
  const BlockShape plane{.y = 4, .x = 4, .f = 16};
  BlockId from = make.block("x", "INPUT", Precision::i8, plane);
  for (const std::string name : {"first", "second"}) {
    const BlockId held = make.block(name + "_in", "SI", Precision::i8, plane);
    make.edge(from, held);
    const BlockId entries = make.block(name + "_table", "SB", Precision::i8, {.f = 256});
    make.graph.blocks[entries.index()].data = make.data(entries, 7);
    from = make.block(name, "CLUT", Precision::i8, plane, {{"lut_dw", 8}});
    make.edge(held, from, "input");
    make.edge(entries, from, "table");
  }
  const BlockId output = make.block("y", "OUTPUT", Precision::i8, plane);
  make.edge(from, output);
  return std::make_shared<const BlockGraph>(make.graph);
}

ChipMapping tables_mapping() {
  return ChipMapping::make(chip_net(tables_graph()).value_or_throw(), {.chip = tests::chip_variant("tianjicx")})
      .value_or_throw();
}

}  // namespace

TEST_CASE(
    "random actions leave values alone, estimates are those from scratch, and all of it can be undone [chip-map]") {
  int done = 0, refused = 0, nets = 0, cut = 0;
  std::map<std::string, int> codes;
  for (std::uint64_t seed : random_seeds(25, 500)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::optional<ChipMapping> m = random_mapping(random);
    if (!m) continue;
    ++nets;
    const MapEstimate first = m->estimate();
    const MapDecisions decisions = m->decisions();
    CHECK(m->from_scratch() == first);
    std::optional<MapFile> saved;
    for (int i = 0; i < 12; ++i) {
      CAPTURE(i);
      const MapEstimate before = m->estimate();
      const MapDecisions was = m->decisions();
      const SumCuts cuts = m->cuts();
      const ChipMapping::Done made = random_action(random, *m, saved);
      cut += m->cuts() != cuts ? 1 : 0;
      if (made) {
        ++done;
        CHECK(*made == m->estimate());
      } else {
        ++refused;
        ++codes[made.diags().items().front().code.text()];
        CHECK(!made.diags().items().front().message.empty());
        CHECK(m->estimate() == before);
        CHECK(m->decisions() == was);
        CHECK(m->cuts() == cuts);
      }
      CHECK(m->estimate() == m->from_scratch());
    }
    check_values(random, *m);
    int undone = 0;
    while (m->undo()) ++undone;
    CHECK(undone <= 12);
    CHECK(m->decisions() == decisions);
    CHECK(m->estimate() == first);
    check_values(random, *m);
  }
  for (const auto& [code, count] : codes) MESSAGE(code << ": " << count);
  MESSAGE(nets << " nets, " << done << " actions, " << refused << " refused, " << cut << " of them along r");
  CHECK(cut > 0);
  CHECK(done > 4 * nets);
  CHECK(refused > nets);
}

TEST_CASE("equal tables lie once on a core when they are to [chip-map]") {
  ChipMapping m = tables_mapping();
  const ChipMapping::Done apart = m.share_storage("first", "second");
  REQUIRE(!apart);
  CHECK_MESSAGE(apart.diags().items().front().code == Code("E4049"), first_text(apart.diags()));
  REQUIRE(m.fuse("first", "second"));
  const std::int64_t before = m.estimate().memory;
  const ChipMapping::Done shared = m.share_storage("first", "second");
  REQUIRE_MESSAGE(shared, first_text(shared.diags()));
  CHECK(shared->memory == before - 256);
  CHECK(m.estimate() == m.from_scratch());
  std::mt19937_64 random(1);
  check_values(random, m);
  REQUIRE(m.undo());
  CHECK(m.estimate().memory == before);
}

TEST_CASE("an input that two units of a core read comes once when they share it [chip-map]") {
  tests::NetBuilder make("net");
  const BlockId image = make.input(8, 8, 16);
  const BlockId left = make.conv(image, {.f = 32, .kernel = 3, .pad = 1}), right = make.conv(image, {.f = 32});
  make.output(make.sum(left, right));
  const auto graph = std::move(make).graph();
  ChipMapping m = ChipMapping::make(chip_net(graph).value_or_throw(),
                                    {.chip = tests::chip_variant("tianjicx"), .objective = MapObjective::cores})
                      .value_or_throw();
  const std::string a = m.name_of(0), b = m.name_of(1);
  std::mt19937_64 random(1);
  for (const bool turned : {false, true}) {
    CAPTURE(turned);
    if (turned) REQUIRE(m.set_phase(b, m.decisions().units[0].phase));
    const MapEstimate before = m.estimate();
    const ChipMapping::Done shared = m.share_storage(a, b);
    REQUIRE_MESSAGE(shared, first_text(shared.diags()));
    CHECK(shared->packets == before.packets - 8 * 8 * 16 / 8);
    CHECK(shared->memory < before.memory);
    CHECK(m.estimate() == m.from_scratch());
    check_values(random, m);
    REQUIRE(m.undo());
    CHECK(m.estimate() == before);
    REQUIRE(m.redo());
    // On other cores there is nothing to share; back again there is.
    REQUIRE(m.take_out(b));
    CHECK(m.estimate().packets == before.packets);
    CHECK(m.estimate() == m.from_scratch());
    check_values(random, m);
    REQUIRE(m.undo());
    REQUIRE(m.undo());
  }
}

TEST_CASE("what an action may not do says which limit, and changes nothing [chip-map]") {
  ChipMapping m = tables_mapping();
  REQUIRE(m.split("first", {.y = 1, .x = 1}));
  REQUIRE(m.undo());
  const bool is_cut = m.decisions().units[0].cores.size() > 1;
  CHECK(is_cut);
  const MapDecisions was = m.decisions();
  auto refused = [&](const ChipMapping::Done& done, Code code, std::string_view words) {
    REQUIRE(!done);
    CHECK_MESSAGE(done.diags().items().front().code == code, first_text(done.diags()));
    CHECK_MESSAGE(done.diags().items().front().message.find(words) != std::string::npos, first_text(done.diags()));
    CHECK(m.decisions() == was);
  };
  refused(m.split("firts", {.y = 2}), "E4048", "no unit 'firts'");
  refused(m.split("first", {.y = 5}), "E4049", "1 to 4 parts along y, not 5");
  refused(m.split("first", {.r = 2}), "E4049", "along r");
  refused(m.replicate("first", 3 * 7), "E4049", "4 x 4 pixels");
  refused(m.fuse("first", "first"), "E4049", "one unit");
  refused(m.move(150, 3), "E4048", "core 150 does nothing");
  refused(m.merge(0, 159), "E4048", "does nothing");
  refused(m.put_in("first", 7), "E4049", "pieces, and one core");
  refused(m.move(was.units[0].cores[0], 160), "E4048", "no core 160");
  refused(m.move(was.units[0].cores[0], -1), "E4048", "no core -1");
  refused(m.take_out("first"), "E4049", "for itself");
  refused(m.set_phase("first", 3), "E4049", "not 3");
  refused(m.pipeline_rows("first", 2), "E4049", "row");
  refused(m.undo(), "E4049", "nothing to undo");
  ChipMapping fresh = tables_mapping();
  CHECK(!fresh.redo());
  REQUIRE(m.fuse("first", "second"));
  const MapDecisions fused = m.decisions();
  const ChipMapping::Done turned = m.set_phase("second", 0);
  REQUIRE(!turned);  // what it reads would come behind it
  CHECK_MESSAGE(turned.diags().items().front().message.find("circle") != std::string::npos, first_text(turned.diags()));
  CHECK(m.decisions() == fused);
}

TEST_CASE(
    "a mapping in a file is the same again, and what is wrong with one is said with its place [chip-map] [hostile]") {
  ChipMapping m = tables_mapping();
  REQUIRE(m.split("first", {.y = 2}));
  REQUIRE(m.move(m.decisions().units[0].cores[0], 77));
  const std::string text = mapping_json(m);
  const MapFile file = read_mapping(text, "m.json").value_or_throw();
  const ChipMapping again = apply(file, m.net(), m.options()).value_or_throw();
  CHECK(again.decisions() == m.decisions());
  CHECK(again.estimate() == m.estimate());
  CHECK(mapping_json(again) == text);
  ChipMapping fresh = tables_mapping();
  REQUIRE(load(fresh, file));
  CHECK(fresh.decisions() == m.decisions());
  REQUIRE(fresh.undo());

  struct Fault {
    const char *from, *to, *says;
  };
  const Fault faults[] = {
      {"taskspec-mapping", "taskspec-chip", "at /format"},
      {"\"version\": 1", "\"version\": 2", "at /version"},
      {"\"tianjicx\"", "\"tiny\"", "at /chip"},
      {"\"phase\": 0", "\"phase\": -1", "at /units/0/phase"},
      {"\"phase\": 0", "\"phase\": 0.5", "at /units/0/phase"},
      {"\"y\": 2", "\"y\": 3", "at /units/0/cores"},
      {"77", "\"x\"", "at /units/0/cores/0"},
      {"77", "160", "at /units"},
      {"\"group\"", "\"groups\"", "at /units/0"},
      {"CLUT", "CADD", "at /units/0/blocks"},
      {"\"share\": []", "\"share\": [[\"first\", \"third\"]]", "at /share/0"},
      {"\"share\": []", "\"share\": {}", "at /share"},
      {"\"share\": []", "\"share\": [], \"slabs\": 16000000", "at /slabs"},
      {"\"share\": []", "\"share\": [], \"slabs\": 0", "at /slabs"},
      {"{", "[", "line"},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.from);
    std::string changed = text;
    const std::size_t at = changed.find(fault.from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, std::string_view(fault.from).size(), fault.to);
    const Result<MapFile> read = read_mapping(changed, "m.json");
    const Result<ChipMapping> made = read ? apply(*read, m.net(), m.options()) : Result<ChipMapping>(read.diags());
    REQUIRE(!made);
    CHECK(made.diags().items().front().code == Code("E7003"));
    CHECK_MESSAGE(made.diags().items().front().message.find(fault.says) != std::string::npos, first_text(made.diags()));
  }
  // More rows than there are, with a core for each.
  MapFile many = file;
  MapUnit& second = many.decisions.units[1];
  second.grid = {.y = 100};
  second.cores.clear();
  for (std::int32_t core = 0; second.cores.size() < 100; ++core)
    if (std::ranges::find(many.decisions.units[0].cores, core) == many.decisions.units[0].cores.end())
      second.cores.push_back(core);
  const Result<ChipMapping> cut_up = apply(many, m.net(), m.options());
  REQUIRE(!cut_up);
  CHECK_MESSAGE(cut_up.diags().items().front().message.find("at /units/1: E4049") != std::string::npos,
                first_text(cut_up.diags()));
  // What is no mapping at all is told once, not field by field.
  const Result<MapFile> chip = read_mapping(find_chip("tiny").value_or_throw().text, "chip.json");
  REQUIRE(!chip);
  CHECK(chip.diags().size() == 1);
  CHECK_MESSAGE(first_text(chip.diags()).find("at /format") != std::string::npos, first_text(chip.diags()));
  // Of a value there is no place to tell.
  MapFile value = as_file(m);
  value.blocks[1] = "CC 1 x 1 x 4, r 1";
  const Result<ChipMapping> other = apply(value, m.net(), m.options());
  REQUIRE(!other);
  CHECK_MESSAGE(other.diags().items().front().code == Code("E4050"), first_text(other.diags()));
  for (std::size_t cut = 0; cut + 1 < text.size(); cut += 7) CHECK(!read_mapping(text.substr(0, cut), "m.json"));
}

TEST_CASE("sums that are cut along r keep their bias, be it one number [chip-map]") {
  for (const bool is_one : {true, false}) {
    CAPTURE(is_one);
    tests::BlockGraphMaker make("biased");
    const BlockId x = make.block("x", "INPUT", Precision::i8, {.f = 64}),
                  held = make.block("h", "SIFC", Precision::i8, {.r = 64}),
                  weight = make.block("w", "SWFC", Precision::i8, {.f = 32, .r = 64}),
                  fc = make.block("fc", "CVM", Precision::i32, {.f = 32, .r = 64}),
                  y = make.block("y", "OUTPUT", Precision::i32, {.f = 32});
    make.graph.blocks[weight.index()].data = make.data(weight, 3);
    TaskBlock& product = make.graph.blocks[fc.index()];
    product.bias = is_one ? BiasKind::constant : BiasKind::none;
    if (is_one) product.set(*product.def->find_attribute("constant_b"), 12'345);
    make.edge(x, held);
    make.edge(held, fc, "input");
    make.edge(weight, fc, "weight");
    make.edge(fc, y);
    ChipMapping m = ChipMapping::make(chip_net(std::make_shared<const BlockGraph>(make.graph)).value_or_throw(),
                                      {.chip = tests::chip_variant("tianjicx"), .blocks = standard_blocks()})
                        .value_or_throw();
    std::mt19937_64 random(2);
    check_values(random, m);
    REQUIRE(m.split("fc", {.r = 3}));
    CHECK(m.cuts().size() == 1);
    check_values(random, m);
  }
}

TEST_CASE("a search makes the same moves every time, and nothing worse, also by the clock [chip-map]") {
  int better = 0;
  for (std::uint64_t seed : random_seeds(3, 40)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::optional<ChipMapping> m = random_mapping(random);
    if (!m) continue;
    std::optional<MapFile> saved;
    for (int i = 0; i < 10; ++i) (void)random_action(random, *m, saved);  // the mapper leaves little to find
    const std::size_t history = m->history();
    const MapDecisions first = m->decisions();
    const MapEstimate before = m->estimate();
    auto clock = [](const ChipMapping& of) {
      const ChipTiming timing = time_program(of.program().value_or_throw(), {}).value_or_throw();
      return timing.interval > 0 ? timing.interval : timing.latency;
    };
    const std::int64_t was = clock(*m);
    std::vector<std::string> lines;
    const Optimised done = optimise(*m, {.moves = 150}, [&](const std::string& line) { lines.push_back(line); });
    CHECK(done.moves == 150);
    CHECK(static_cast<std::int64_t>(lines.size()) >= done.accepted);
    CHECK(!is_better(before, done.after, MapObjective::throughput));
    CHECK(clock(*m) <= was);
    CHECK(m->estimate() == m->from_scratch());
    better += is_better(done.after, before, MapObjective::throughput) ? 1 : 0;
    const MapDecisions found = m->decisions();
    if (found != first) {
      REQUIRE(m->undo());
      CHECK(m->history() == history);
    }
    CHECK(m->decisions() == first);
    optimise(*m, {.moves = 150}, nullptr);
    CHECK(m->decisions() == found);
    check_values(random, *m);
  }
  CHECK(better > 0);
}

TEST_CASE("budgets of a search are times or numbers of moves [chip-map]") {
  CHECK(search_budget("30s")->seconds == 30);
  CHECK(search_budget("0.5s")->seconds == 0.5);
  CHECK(search_budget("20000")->moves == 20'000);
  CHECK(search_budget("20000")->seconds == 0);
  for (const char* wrong : {"", "s", "-1", "-1s", "0s", "1e", "12x", "nan", "nans", "1e9s", "99999999999999999999"})
    CHECK_MESSAGE(!search_budget(wrong), wrong);
}

TEST_CASE("latency and energy are objectives of their own [chip-map]") {
  int quicker = 0, cheaper = 0;
  for (std::uint64_t seed : random_seeds(4, 40)) {
    CAPTURE(seed);
    auto estimate = [&](MapObjective objective) -> std::optional<MapEstimate> {
      std::mt19937_64 random(seed);
      auto graph = std::make_shared<const BlockGraph>(tests::random_chip_net(random));
      Result<ChipNet> net = chip_net(graph);
      if (!net) return std::nullopt;
      const Result<ChipMapping> made =
          ChipMapping::make(*std::move(net), {.chip = tests::chip_variant("tianjicx"), .objective = objective});
      return made ? std::optional(made->estimate()) : std::nullopt;
    };
    const auto fast = estimate(MapObjective::throughput), soon = estimate(MapObjective::latency),
               cheap = estimate(MapObjective::energy);
    REQUIRE(fast.has_value() == soon.has_value());
    REQUIRE(fast.has_value() == cheap.has_value());
    if (!fast) continue;
    CHECK(soon->latency <= fast->latency);
    CHECK(cheap->energy <= fast->energy);
    quicker += soon->latency < fast->latency ? 1 : 0;
    cheaper += cheap->energy < fast->energy ? 1 : 0;
  }
  CHECK(quicker > 0);
  CHECK(cheaper > 0);
}

TEST_CASE("an explanation has what was chosen, what lost and why, and a change that moves the limit [chip-map]") {
  ChipMapping m = ChipMapping::make(chip_net(tables_graph()).value_or_throw(),
                                    {.chip = tests::chip_variant("tianjicx"), .objective = MapObjective::cores})
                      .value_or_throw();
  const MapEstimate before = m.estimate();
  const std::string text = m.explain("second").value_or_throw();
  INFO(text);
  CHECK(m.estimate() == before);
  CHECK(m.history() == 0);
  for (const char* words :
       {"second: CLUT 4 x 4 x 16", "cut y x x x f: 1 x 1 x 1, 1 piece; phase 1 of 2", "weights and tables 256",
        "cycles of that piece: axon 0, soma1", "next candidate", "then ", "the step takes"})
    CHECK_MESSAGE(text.find(words) != std::string::npos, words);
  // What it offers does what it says.
  const std::size_t at = text.find("the least that moves it: split(\"");
  REQUIRE(at != std::string::npos);
  int y = 0, x = 0, f = 0;
  char name[32] = {};
  REQUIRE(std::sscanf(text.c_str() + at, "the least that moves it: split(\"%31[a-z]\", y: %d, x: %d, f: %d)", name, &y,
                      &x, &f) == 4);
  REQUIRE(m.split(name, {.y = y, .x = x, .f = f}));
  CHECK(m.estimate().interval < before.interval);
  CHECK(!m.explain("third"));
}

}  // namespace taskspec::mapping_test
