// What reports of the chip are made of: sums that agree with the clock and with one another, one hash whatever solves
// the network, tables that end with what they rest on.
#include "hwsim/report/picture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hwsim/cores/machine.hpp"
#include "hwsim/map/mapper.hpp"
#include "hwsim/report/chip_files.hpp"
#include "hwsim/report/chip_text.hpp"
#include "hwsim/report/spike_picture.hpp"
#include "hwsim/time/slowest_step.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/unit/block_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::picture_test {
using nlohmann::json;

namespace {

// A net on a chip; none: this one does not fit.
std::optional<ChipProgram> mapped(std::mt19937_64& random) {
  auto graph = std::make_shared<const BlockGraph>(tests::random_chip_net(random));
  const Result<ChipNet> net = chip_net(graph);
  if (!net) return std::nullopt;
  Result<ChipProgram> program = map_net(*net, {.chip = tests::random_chip(random)});
  if (!program) return std::nullopt;
  return *std::move(program);
}

ChipPicture pictured(const ChipProgram& program, NocModel noc, std::int64_t steps = 5) {
  const ChipTiming timing = time_program(program, {.noc = noc, .keeps_stages = true}).value_or_throw();
  ChipPicture picture = chip_picture(program, timing, account_of(program, timing));
  picture.title = "net, \"quoted\"";
  picture.noc = name_of(noc);
  picture.steps = steps;
  picture.cycles = timing.latency + (steps - 1) * timing.interval;
  return picture;
}

Hash128 values_of(const ChipProgram& program, std::uint64_t seed) {
  ChipMachine machine(std::make_shared<const ChipProgram>(program));
  Hasher hash;
  std::mt19937_64 random(seed);
  for (int step = 0; step < 3; ++step) {
    std::vector<Array> inputs;
    for (const BlockId id : program.net.inputs) {
      const ArrayType type = value_type((*program.net.graph)[id]);
      inputs.push_back(random_array(random, type.precision, type.extents));
    }
    for (const Array& made : machine.run(inputs)) hash.bytes({made.raw(), made.bytes()});
  }
  return hash.digest();
}

ChipPicture bare(std::string_view chip) {
  ChipPicture picture;
  picture.chip = std::make_shared<const Chip>(load_chip(chip).value_or_throw());
  picture.steps = 1;
  picture.cycles = 1000;
  return picture;
}

}  // namespace

TEST_CASE("links, hops and packets of the account are those that the clock sees in a frame") {
  int looked_at = 0;
  for (const std::uint64_t seed : random_seeds(30, 200)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::optional<ChipProgram> program = mapped(random);
    if (!program) continue;
    const Result<ChipTiming> timing = time_program(*program, {.frames = 1});
    REQUIRE(timing);
    const ChipAccount account = account_of(*program, *timing);
    const PerEvent counts = account.counts.total();
    const bool has_delays =
        std::ranges::any_of(program->messages, [](const ChipMessage& message) { return message.delay > 0; });
    if (has_delays) continue;  // what they send in one frame comes in another
    ++looked_at;
    std::vector<std::int64_t> links(timing->traffic.links.size());
    for (const LinkRow& link : account.links)
      links[static_cast<std::size_t>(link.router * 4 + link.side)] = link.packets;
    CHECK(links == timing->traffic.links);
    std::vector<std::int64_t> sent(timing->traffic.from_host.size()), taken(sent);
    for (const HostRow& host : account.hosts) {
      sent[static_cast<std::size_t>(host.row)] = host.sent * timing->frames;
      taken[static_cast<std::size_t>(host.row)] = host.taken * timing->frames;
    }
    CHECK((sent == timing->traffic.from_host && taken == timing->traffic.to_host));
    CHECK(counts[EnergyEvent::hop_x] == timing->traffic.hops_x);
    CHECK(counts[EnergyEvent::hop_y] == timing->traffic.hops_y);
    CHECK(counts[EnergyEvent::chip] == timing->traffic.crossings);
  }
  CHECK(looked_at > 8);
}

TEST_CASE("cores and layers add up to the chip") {
  for (const std::uint64_t seed : random_seeds(20, 100)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::optional<ChipProgram> program = mapped(random);
    if (!program) continue;
    const ChipPicture picture = pictured(*program, NocModel::contended);
    const ChipAccount& account = picture.account;
    std::int64_t of_layers = 0, of_cores = 0, packets = 0, by_core = 0;
    for (const LayerRow& row : account.layers) {
      of_layers += row.multiply_adds;
      packets += row.packets;
      std::int64_t bytes = 0;
      for (const std::int64_t part : row.bytes_by) bytes += part;
      CHECK(bytes == row.bytes);
    }
    for (const CoreRow& row : account.cores) {
      of_cores += row.multiply_adds;
      by_core += row.packets;
      std::int64_t bytes = 0;
      for (const std::int64_t part : row.bytes_by) bytes += part;
      CHECK(row.bytes <= bytes);  // those that never live at once share
      CHECK(row.bytes <= account.memory);
      CHECK(row.layers.size() >= 1);
    }
    CHECK(of_layers == of_cores);
    CHECK(packets == by_core);
    CHECK(account.counts.total()[EnergyEvent::out] == packets);
    const Roofline roof = picture.roofline();
    // Where outputs do not wait for the slowest phase, they come faster than cores compute.
    if (roof.is_there && picture.interval >= picture.limit.cycles) CHECK(roof.reached <= roof.bound);
  }
}

TEST_CASE("a core is busy for as long as its phases at most, however far it is ahead of what came out") {
  for (const std::uint64_t seed : random_seeds(20, 100)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::optional<ChipProgram> program = mapped(random);
    if (!program) continue;
    const ChipTiming timing = time_program(*program, {}).value_or_throw();
    const ChipAccount account = account_of(*program, timing);
    for (std::size_t c = 0; c < account.cores.size(); ++c) {
      const auto phases = static_cast<std::int64_t>(program->cores[c].phases.size());
      if (timing.cores[c].steps == 0) continue;  // no output may need it, and it ended no step
      CHECK(account.cores[c].busy > 0);
      CHECK(account.cores[c].busy <= phases * timing.cores[c].phase);
    }
  }
}

TEST_CASE("one hash of values, cycles and energy for both solvers of the network and again [chip-hash]") {
  int looked_at = 0;
  for (const std::uint64_t seed : random_seeds(12, 60)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::optional<ChipProgram> program = mapped(random);
    if (!program || program->cores.empty()) continue;
    ++looked_at;
    std::vector<std::string> hashes;
    for (const NocModel noc : {NocModel::contended, NocModel::events, NocModel::contended}) {
      ChipPicture picture = pictured(*program, noc);
      picture.values = values_of(*program, seed);
      hashes.push_back(picture.hash().text());
    }
    CHECK(hashes[0] == hashes[1]);
    CHECK(hashes[0] == hashes[2]);
    ChipPicture other = pictured(*program, NocModel::contended);
    other.values = values_of(*program, seed);
    CHECK(other.hash().text() == hashes[0]);
    ++other.cycles;
    CHECK(other.hash().text() != hashes[0]);
    --other.cycles;
    other.values.low ^= 1;
    CHECK(other.hash().text() != hashes[0]);
    other.values.low ^= 1;
    ++other.steps;  // and so energy
    CHECK(other.hash().text() != hashes[0]);
  }
  CHECK(looked_at > 4);
  ChipPicture slow = bare("truenorth");  // whose energy does not depend on time
  const std::string before = slow.hash().text();
  ++slow.cycles;
  CHECK(slow.hash().text() != before);
}

TEST_CASE("JSON, CSV and events of a run are well formed and tell the same") {
  std::mt19937_64 random(7);
  std::optional<ChipProgram> program;
  while (!program) program = mapped(random);
  const ChipPicture picture = pictured(*program, NocModel::contended);
  const json whole = json::parse(chip_json(picture, true)), tables = json::parse(chip_json(picture, false));
  CHECK(whole["title"] == picture.title);
  CHECK(whole["layers"].size() == picture.account.layers.size());
  CHECK(whole["cores"].size() == picture.account.cores.size());
  CHECK(whole["hash"] == picture.hash().text());
  CHECK(whole["stages"].size() == picture.stages.size());
  CHECK(!tables.contains("stages"));
  CHECK(tables["sources"].size() == picture.chip->sources.size());
  double sum = 0;
  for (const json& part : whole["energy_by"]) sum += part.get<double>();
  CHECK(sum == doctest::Approx(whole["energy"].get<double>()));

  const std::string csv = chip_csv_head() + chip_csv(picture);
  std::size_t rows = 0, begin = 0;
  const auto commas = [](std::string_view line) {
    bool is_quoted = false;
    std::size_t found = 0;
    for (const char c : line) {
      if (c == '"') is_quoted = !is_quoted;
      if (c == ',' && !is_quoted) ++found;
    }
    return found;
  };
  const std::size_t columns = commas(chip_csv_head());
  for (std::size_t end = csv.find('\n'); end != std::string::npos; begin = end + 1, end = csv.find('\n', begin)) {
    CAPTURE(csv.substr(begin, end - begin));
    CHECK(commas(std::string_view(csv).substr(begin, end - begin)) == columns);
    ++rows;
  }
  const std::vector<const ChipFigure*> assumed = picture.chip->assumed();
  REQUIRE(!assumed.empty());
  CHECK(rows == 2 + picture.account.layers.size() + picture.account.cores.size() + assumed.size());
  for (const ChipFigure* figure : assumed)
    CHECK(csv.find(",assumed," + figure->pointer.substr(1) + " " + figure->value) != std::string::npos);
  CHECK(csv.find("\"net, \"\"quoted\"\"\",chip,") != std::string::npos);

  const json events = json::parse("[0" + chip_trace(picture, 3) + "]");
  std::size_t bars = 0;
  for (std::size_t i = 1; i < events.size(); ++i) {
    CHECK(events[i]["pid"] == 3);
    if (events[i]["ph"] != "X") continue;
    const StageTime& stage = picture.stages[bars++];
    CHECK(events[i]["args"]["clk"] == stage.begin);
    CHECK(
        events[i]["ts"].get<double>() ==
        doctest::Approx(static_cast<double>(stage.begin) * 1e6 / static_cast<double>(picture.chip->hz)).epsilon(1e-3));
    CHECK(events[i]["cat"] == stage_name(stage.stage));
  }
  CHECK(bars == picture.stages.size());
}

TEST_CASE("of too many stages the last frames are kept, one at least") {
  std::vector<StageTime> stages;
  for (int frame = 0; frame < 10; ++frame)
    for (int i = 0; i < 7; ++i) stages.push_back({.core = 0, .phase = 0, .frame = frame});
  CHECK(first_frame(stages, 70) == 0);
  CHECK(first_frame(stages, 69) == 1);
  CHECK(first_frame(stages, 14) == 8);
  CHECK(first_frame(stages, 3) == 9);
  CHECK(first_frame({}, 3) == 0);
}

TEST_CASE("tables end with the assumed figures that they rest on, and no others") {
  const Chip chip = load_chip("tianjicx").value_or_throw();
  PerEvent counts;
  counts[EnergyEvent::out] = 3;
  CHECK(assumed_text(chip, {}, counts) == "assumed: energy/out 4 pJ\n");
  CHECK(assumed_text(chip, {}, {}).empty());
  constexpr std::string_view clock[] = {"/clock"};
  CHECK(assumed_text(chip, clock, {}) == "assumed: clock/hz 400000000 Hz\n");
}

TEST_CASE("energy stands beside other published figures, and a lumped chip is not split [H7]") {
  ChipPicture loihi = bare("loihi");
  loihi.account.counts = EnergyCounts(1, 1);
  PerEvent counts;
  counts[EnergyEvent::syn_dense] = 1000;
  counts[EnergyEvent::spike] = 3;
  loihi.account.counts.add(0, 0, counts);
  CHECK(energy_table(loihi) ==
        "event                         count * pJ                     pJ\n"
        "syn_dense                    1000 * 35.5                  35500\n"
        "spike                           3 * 69.3                  207.9\n"
        "sum                                                     35707.9\n"
        "another figure for hop_y: 4 pJ, the paper's own table [davies2018]\n"
        "another figure for syn_dense: 23.6 pJ, the paper's own table: at least, per synaptic operation [davies2018]: "
        "23807.9 pJ in all\n"
        "another figure for barrier: 1.13e-07 s, the paper's own table: the shortest [davies2018]\n"
        "another figure for barrier: 4.65e-07 s, the paper's own table: the longest [davies2018]\n");
  CHECK(spike_text(loihi).find("\n" + energy_table(loihi) + "hash ") != std::string::npos);

  // One figure is spread over synaptic events of all kinds, and so is the other one.
  for (const EnergyEvent event : {EnergyEvent::syn_dense, EnergyEvent::syn_sparse, EnergyEvent::syn_conv}) {
    ChipPicture lumped = bare("truenorth");
    lumped.account.counts = EnergyCounts(1, 1);
    lumped.account.layers.resize(1);
    lumped.account.cores.resize(1);
    counts = {};
    counts[event] = 10;
    counts[EnergyEvent::access] = 7;
    lumped.account.counts.add(0, 0, counts);
    const std::string whole = spike_text(lumped);
    CHECK(whole.find("its parts cannot be told apart") != std::string::npos);
    CHECK(whole.find("\naccess ") == std::string::npos);
    CHECK(whole.find(" 10 * 26 ") != std::string::npos);
    CHECK(whole.find("another figure for syn_sparse: 2.5 pJ, at the peak rate of the chip: 400 GSOPS/W "
                     "[akopyan2015]: 25 pJ in all\n") != std::string::npos);
    CHECK(whole.substr(0, whole.find('\n')).find("pJ") == std::string::npos);
    const json all = json::parse(chip_json(lumped, true));
    CHECK(all["lumped"] == true);
    CHECK(all["energy"] == 260);
    for (const char* list : {"layers", "cores"}) {
      CHECK(all[list][0]["energy"].is_null());
      CHECK(all[list][0]["energy_by"].empty());
    }
    const std::string csv = chip_csv(lumped);
    CHECK(csv.find(",chip,truenorth,") != std::string::npos);
    for (const char* part : {",layer,", ",core,"}) {
      const std::string row = csv.substr(csv.find(part), csv.find('\n', csv.find(part)) - csv.find(part));
      CHECK_MESSAGE(row.ends_with(std::string(1 + energy_parts().size(), ',')), row);
    }
  }
  CHECK(json::parse(chip_json(loihi, true))["lumped"] == false);
}

TEST_CASE("the limit is the place of the packets where these and not cores keep frames apart; notes of flits") {
  std::mt19937_64 random(11);
  std::optional<ChipProgram> program;
  while (!program) program = mapped(random);
  auto notes_of = [&](const ChipTiming& timing) {
    std::string all;
    for (const std::string& note : chip_picture(*program, timing, account_of(*program, timing)).notes)
      all += note + "\n";
    return all;
  };
  ChipTiming timing = time_program(*program, {.noc = NocModel::contended, .frames = 3}).value_or_throw();
  auto shown = [&] {
    const ChipPicture picture = chip_picture(*program, timing, account_of(*program, timing));
    return std::pair(chip_text(picture), json::parse(chip_json(picture, true))["limit"]);
  };
  timing.busiest_port = {slowest_step(*program), {"the port that takes packets into core 3", 3}};
  CHECK(shown().first.find("limit: packets") == std::string::npos);
  CHECK(shown().first.find("\nlimit: phase") != std::string::npos);
  CHECK(!shown().second.contains("port"));
  ++timing.busiest_port.clk;
  const auto [text, limit] = shown();
  CHECK(text.find(
            fmt::format("\nlimit: packets; the port that takes packets into core 3 is held for {} clk a step, and the "
                        "slowest group of cores works for {}\n",
                        timing.busiest_port.clk, timing.busiest_port.clk - 1)) != std::string::npos);
  CHECK(text.find("\nlimit: phase") == std::string::npos);
  CHECK(limit["port"] == "the port that takes packets into core 3");
  CHECK((limit["port_core"] == 3 && limit["port_clk"] == timing.busiest_port.clk));
  CHECK(notes_of(timing).find("noc flit") == std::string::npos);
  timing.flits = {.by_flits = {}, .sending = 7, .loaded = 3, .beside = 2};
  CHECK(notes_of(timing).find("of 7 phases that send, 3 hold") != std::string::npos);
  CHECK(notes_of(timing).find("these and 2 that meet") != std::string::npos);
}

}  // namespace taskspec::picture_test
