// The traffic of mapped nets, with multicasts and without: the default model of the network against the one that works
// cycle by cycle, phase by phase and all phases at once.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "hwsim/map/chains.hpp"
#include "hwsim/map/mapper.hpp"
#include "hwsim/time/clock.hpp"
#include "stdlib/blocks.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/stream_nets.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::noc_mapped_test {

namespace {

constexpr std::size_t few_packets = 1'000;

struct PhaseTraffic {
  std::vector<NocFlow> flows;
  std::int64_t packets = 0, copies = 0;
};

// By group and phase of the sender; group -1: the host. And all of them at once, at (-2, 0).
std::map<std::pair<std::int32_t, std::int32_t>, PhaseTraffic> phases_of(const ChipProgram& program,
                                                                        const ChipFlows& all) {
  std::map<std::pair<std::int32_t, std::int32_t>, PhaseTraffic> phases;
  const std::vector<ChipWay> ways = ways_of(program);
  REQUIRE(ways.size() == all.flows.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const ChipMessage& message = program.messages[static_cast<std::size_t>(ways[i].message)];
    std::int32_t group = -1;
    if (message.from_core != host_core)
      group = program.cores[static_cast<std::size_t>(message.from_core)].phases[0].group;
    for (const auto& key : {std::pair{group, message.from_phase}, {-2, 0}}) {
      PhaseTraffic& phase = phases[key];
      phase.flows.push_back(all.flows[i]);
      phase.packets += message.packets * static_cast<std::int64_t>(ways[i].legs.size());
      phase.copies += message.packets * static_cast<std::int64_t>(ways[i].legs.size() - 1);
    }
  }
  return phases;
}

// Of the busiest server: over the ticks in which some flow makes packets, and from the first of these to the last
// departure. A phase may make packets in two bursts far apart, whose links are full while they last; and where a core
// makes more than its port takes, they leave later than they are made.
struct NocLoad {
  double in_bursts = 0, overall = 0;
};

struct NocDifference {
  std::int64_t per_mille = 0;  // of makespans
  NocLoad load;
};

NocLoad load_of(const std::vector<NocFlow>& flows, const NocResult& result) {
  std::vector<std::pair<std::int64_t, std::int64_t>> made;
  for (const NocFlow& flow : flows) made.emplace_back(flow.begin, flow.begin + std::max<std::int64_t>(flow.span, 1));
  std::sort(made.begin(), made.end());
  std::int64_t ticks = 0, until = 0, last = 0;
  for (const auto& [begin, end] : made) {
    ticks += std::max<std::int64_t>(0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  for (const NocTimes& times : result.departures) last = std::max(last, times.last);
  const auto busiest = static_cast<double>(result.traffic.busiest);
  return {busiest / static_cast<double>(ticks), busiest / static_cast<double>(last - result.begin + 1)};
}

// Also that both carry the same.
NocDifference difference(const NocFigures& figures, const std::vector<NocFlow>& flows) {
  const NocResult contended = solve_noc(figures, flows, NocModel::contended);
  const NocResult flits = solve_noc(figures, flows, NocModel::flit_all);
  CHECK(contended.traffic.packets == flits.traffic.packets);
  CHECK(contended.traffic.links == flits.traffic.links);
  return {.per_mille = std::abs(contended.makespan() - flits.makespan()) * 1'000 / flits.makespan(),
          .load = load_of(flows, contended)};
}

struct NocCounts {
  int phases = 0, multicasts = 0, packets = 0, overloaded = 0;
  std::int64_t worst = 0, worst_overloaded = 0;
  int up_to_70_overall = 0, beyond = 0;  // of these, by more than 5 %
  int all() const { return phases + overloaded; }
};

// Per mille: of what is loaded beyond 70 % in its bursts, and of that of it which is not so overall.
struct NocBounds {
  std::int64_t overloaded = 50, overloaded_in_bursts = 50;
};

// Phases that make more than the busiest server takes in that time are `overloaded`: there queues say how long it
// takes, and those of flits, which are short, hold up others.
void compare(const ChipProgram& program, const NocBounds& bounds, NocCounts& counts) {
  const NocFigures figures = noc_figures(*program.chip, program.chips);
  const ChipFlows all = flows_of(program);
  for (const auto& [key, phase] : phases_of(program, all)) {
    if (phase.packets < static_cast<std::int64_t>(few_packets)) continue;
    CAPTURE(key.first);
    CAPTURE(key.second);
    CAPTURE(phase.packets);
    const NocDifference differs = difference(figures, phase.flows);
    CAPTURE(differs.load.in_bursts);
    CAPTURE(differs.load.overall);
    const bool is_overloaded = differs.load.in_bursts > 0.7, overall = differs.load.overall > 0.7;
    CHECK(differs.per_mille <= (!is_overloaded ? 50 : overall ? bounds.overloaded : bounds.overloaded_in_bursts));
    ++(is_overloaded ? counts.overloaded : counts.phases);
    counts.up_to_70_overall += overall ? 0 : 1;
    counts.beyond += !overall && differs.per_mille > 50 ? 1 : 0;
    counts.multicasts += phase.copies > 0 ? 1 : 0;
    std::int64_t& worst = is_overloaded ? counts.worst_overloaded : counts.worst;
    worst = std::max(worst, differs.per_mille);
    counts.packets += static_cast<int>(phase.packets);
  }
}

void tell(const std::string& what, const NocCounts& counts) {
  MESSAGE(what << ": " << counts.all() << " phases, " << counts.multicasts << " with multicasts, " << counts.packets
               << " packets; makespans differ by " << counts.worst << " per mille at most in " << counts.phases
               << " phases that load no server beyond 70 %, by " << counts.worst_overloaded << " in the others");
}

std::shared_ptr<const Chip> chip_with_multicast(bool multicast) {
  if (multicast) return tests::chip_variant("tianjicx");
  return tests::chip_variant("tianjicx", {{"\"multicast\": {\"v\": true", "\"multicast\": {\"v\": false"}});
}

}  // namespace

TEST_CASE("contended is within 5 % of flit on the traffic of mapped LeNet, with multicasts and without [noc]") {
  const ChipNet net = chip_net(std::make_shared<const BlockGraph>(tests::lenet_blocks())).value_or_throw();
  for (const bool multicast : {true, false}) {
    CAPTURE(multicast);
    NocCounts counts;
    for (const std::optional<std::int32_t> cores : {std::optional<std::int32_t>(), {8}, {40}})
      compare(map_net(net, {.chip = chip_with_multicast(multicast), .cores = cores}).value_or_throw(), {}, counts);
    tell(multicast ? "LeNet, multicasts" : "LeNet, unicasts", counts);
    CHECK(counts.all() > 4);
    if (multicast) CHECK(counts.multicasts > 0);
  }
}

TEST_CASE(
    "contended is within 5 % of flit on the traffic of mapped random nets up to 70 % load, with multicasts [noc]") {
  NocCounts counts;
  for (const std::uint64_t seed : random_seeds(40, 300)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto graph = std::make_shared<const BlockGraph>(tests::random_chip_net(random, {.planes = 14, .features = 60}));
    const Result<ChipNet> net = chip_net(graph);
    if (!net) continue;
    const Result<ChipProgram> program = map_net(*net, {.chip = chip_with_multicast(true)});
    if (program) compare(*program, {.overloaded = 350, .overloaded_in_bursts = 140}, counts);
  }
  tell("random nets", counts);
  CHECK(counts.phases > 5);
  CHECK(counts.up_to_70_overall > 10);
  CHECK(50 * counts.beyond <= counts.up_to_70_overall);
  CHECK(counts.multicasts > 3);
}

TEST_CASE("contended is within 5 % of flit on the traffic of mapped ResNet-18, phase by phase up to 70 % load [noc]" *
          doctest::skip(std::getenv("TASKSPEC_SLOW") == nullptr)) {
  const ChipNet net = chip_net(tests::resnet({})).value_or_throw();
  NocCounts counts;
  compare(
      map_net(net, {.chip = chip_with_multicast(true), .chips = {2, 1}, .blocks = standard_blocks()}).value_or_throw(),
      {.overloaded = 100, .overloaded_in_bursts = 60}, counts);
  tell("ResNet-18", counts);
  CHECK(counts.phases > 100);
  CHECK(counts.multicasts > 50);
}

}  // namespace taskspec::noc_mapped_test
