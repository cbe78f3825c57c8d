// Schedules of two to four cores, worked out by hand, tick by tick: credit, double buffers, mode A2S2, step groups,
// multicasts, relays, borders, phases of fixed length, and waits in circles.
//
// The pipeline of most cases, under `ideal`: the host's 10 packets leave from 1 to 10 ticks behind their credit and are
// at core a, beside it, a tick later. Core a computes for 120 (axon 100, soma 20: the last packet leaves at its end)
// and moves for 5; b, one hop further, computes for 100 and moves for 7; its last packet is out 2 ticks behind. A
// credit takes as long as a packet.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/chip_schedule.hpp"

namespace taskspec::schedule_test {
using tests::ChipSchedule;
using Stage = StageTime::Stage;
using Ticks = std::vector<std::int64_t>;

namespace {

constexpr int host = ChipSchedule::host;

struct Pipeline : ChipSchedule {
  explicit Pipeline(std::int64_t depth, std::shared_ptr<const Chip> chip = tests::chip_variant("tianjicx"))
      : ChipSchedule(std::move(chip)) {
    a = core(0, 0, {{.axon = 100, .soma = 20, .move = 5}});
    b = core(1, 1, {{.axon = 60, .soma = 40, .move = 7}});
    message(host, 0, a, 0, 10);
    message(a, 0, b, 0, 10, depth);
    message(b, 0, host, 0, 10);
  }
  int a = 0, b = 0;
};

Ticks first(Ticks ticks, std::size_t count) {
  ticks.resize(std::min(ticks.size(), count));
  return ticks;
}

Diag fault_of(const ChipSchedule& made) {
  const Result<ChipTiming> timing = made.run();
  REQUIRE(!timing);
  return timing.diags().items().front();
}

}  // namespace

TEST_CASE("credit: a sender waits until what it sent before has been moved [chip-time]") {
  const Pipeline made(1);
  const ChipTiming timing = made.run().value_or_throw();
  // a: packets at 11, moved at 16. It sends from 116 to 136, b has all at 137, moved at 144; its credit is back at 145.
  CHECK(first(made.begins(timing, made.a, Stage::axon), 4) == Ticks{16, 145, 274, 403});
  CHECK(first(made.begins(timing, made.b, Stage::axon), 4) == Ticks{144, 273, 402, 531});
  CHECK(first(made.ends(timing, made.b, Stage::send), 3) == Ticks{244, 373, 502});
  CHECK(timing.interval == 120 + 1 + 7 + 1);
  const ChipTiming one = made.run(1).value_or_throw();
  CHECK(one.latency == 246 - 1 + 1);  // its packets leave from 1 on, the last one is out at 244 + 2
}

TEST_CASE("double buffer: the sender is as fast as it is by itself [chip-time]") {
  const Pipeline made(2);
  const ChipTiming timing = made.run().value_or_throw();
  // a goes on when its own move has ended, 5 behind its last packet.
  CHECK(first(made.begins(timing, made.a, Stage::axon), 4) == Ticks{16, 141, 266, 391});
  CHECK(first(made.begins(timing, made.b, Stage::axon), 4) == Ticks{144, 269, 394, 519});
  CHECK(timing.interval == 120 + 5);
}

TEST_CASE("mode A2S2: the move begins behind the soma, with what came a phase before [chip-time]") {
  Pipeline made(2);
  made.program.cores[static_cast<std::size_t>(made.b)].a2s2 = true;
  const ChipTiming timing = made.run().value_or_throw();
  // b has frame 0 at 137, and ends the phase when frame 1 is there, at 141 + 120 + 1; from then on it ends phases when
  // the next frame has come, 125 later each, and moves the one before at 100 of each.
  CHECK(first(made.begins(timing, made.b, Stage::axon), 3) == Ticks{262, 387, 512});
  CHECK(first(made.begins(timing, made.b, Stage::move), 4) == Ticks{137, 362, 487, 612});
  CHECK(first(made.begins(timing, made.a, Stage::axon), 4) == Ticks{16, 141, 266, 391});
  CHECK(timing.interval == 125);
  // With room for one item alone each has to wait for the other: b for packets, a for the credit at 107 of b's phase.
  Pipeline single(1);
  single.program.cores[static_cast<std::size_t>(single.b)].a2s2 = true;
  CHECK(single.run().value_or_throw().interval == 100 + 7 + 1 + 120 + 1);
}

TEST_CASE("mode A2S2 where moves and packets are long: they overlap [chip-time]") {
  for (const bool ahead : {false, true}) {
    CAPTURE(ahead);
    ChipSchedule made(tests::chip_variant("tianjicx"));
    // 200 packets of the host arrive 201 behind their credit; b computes for 100 and moves for 90.
    const int b = made.core(0, 0, {{.axon = 60, .soma = 40, .move = 90}});
    made.message(host, 0, b, 0, 200, 2);
    made.message(b, 0, host, 0, 10);
    made.program.cores[0].a2s2 = ahead;
    const ChipTiming timing = made.run(9).value_or_throw();
    // What came is moved at once, or 100 behind the start of the phase that it came before.
    const Ticks moves = made.begins(timing, b, Stage::move), axons = made.begins(timing, b, Stage::axon);
    const Ticks receives = made.ends(timing, b, Stage::receive);
    REQUIRE(moves.size() > 5);
    REQUIRE(axons.size() > 5);
    CHECK(moves[4] - receives[4] == (ahead ? -100 : 0));
    CHECK(axons[4] - receives[4] == (ahead ? 0 : 90));
    CHECK(axons[5] - axons[4] == 200);  // the host's port is what limits
  }
}

TEST_CASE("groups of a step group start each step together, step groups do not wait for each other [chip-time]") {
  Pipeline made(2);
  // c alone in another step group: packets, 50 of computing, 3 of moving.
  const int c = made.core(16, 2, {{.axon = 30, .soma = 20, .move = 3}});
  made.message(host, 0, c, 0, 10, 2);
  made.message(c, 0, host, 0, 10);
  made.program.step_groups = {0, 0, 1};
  const ChipTiming timing = made.run().value_or_throw();
  // b is a step behind a: step 1 begins when b has frame 0 at 144, step 2 when it has moved frame 1: 144 + 120 + 1 + 7.
  CHECK(first(made.begins(timing, made.a, Stage::axon), 4) == Ticks{16, 144, 272, 400});
  CHECK(first(made.begins(timing, made.b, Stage::axon), 4) == Ticks{144, 272, 400, 528});
  CHECK(timing.interval == 128);
  CHECK(first(made.begins(timing, c, Stage::axon), 4) == Ticks{14, 67, 120, 173});
  // In one step group all three do: c is ready at 14, a at 16.
  made.program.step_groups = {0, 0, 0};
  const ChipTiming together = made.run().value_or_throw();
  CHECK(first(made.begins(together, c, Stage::axon), 4) == Ticks{16, 144, 272, 400});
  CHECK(together.interval == 128);
}

TEST_CASE("frames are no closer than the slowest group can go on, even if no output waits for it [chip-time]") {
  ChipSchedule made(tests::chip_variant("tianjicx"));
  const int a = made.core(0, 0, {{.axon = 20, .move = 5}});
  const int b = made.core(1, 1, {{.axon = 300, .soma = 50, .move = 5}, {.axon = 40}});  // keeps something to itself
  made.message(host, 0, a, 0, 10);
  made.message(host, 0, b, 1, 10);
  made.message(a, 0, host, 0, 10);
  for (const std::int64_t frames : {0, 2, 9}) CHECK(made.run(frames).value_or_throw().interval == 395);
  CHECK(made.run(1).value_or_throw().interval == 0);
  // Nothing leaves the chip: a frame is what all groups have done.
  ChipSchedule alone(tests::chip_variant("tianjicx"));
  alone.message(host, 0, alone.core(0, 0, {{.axon = 300, .soma = 50, .move = 5}}), 0, 10);
  const ChipTiming timing = alone.run().value_or_throw();
  CHECK(timing.interval == 355);
  CHECK(timing.latency < 2 * 355);
  CHECK(timing.frames > 3);
}

TEST_CASE("groups that make for each other within a step cannot start it together [chip-time]") {
  ChipSchedule made(tests::chip_variant("tianjicx"));
  const int a = made.core(0, 0, {{.axon = 10, .move = 1}}), b = made.core(1, 1, {{.axon = 10, .move = 1}});
  made.message(host, 0, a, 0, 10);
  made.message(a, 0, b, 0, 10);
  made.message(b, 0, a, 0, 10, 1, 1);  // of the step before
  made.message(b, 0, host, 0, 10);
  CHECK(made.run());
  made.program.step_groups = {0, 0};
  const Diag diag = fault_of(made);
  CHECK(diag.code == Code("E5012"));
  CHECK_MESSAGE(diag.message.find("wait for one another within a step: group") != std::string::npos, diag.message);
  made.program.step_groups = {0, 1};
  CHECK(made.run());
}

TEST_CASE("a multicast: each copy is a clk and its hops behind the one before [chip-time]") {
  ChipSchedule made(tests::chip_variant("tianjicx"));
  const int a = made.core(0, 0, {{.axon = 100, .soma = 20, .move = 5}});
  made.message(host, 0, a, 0, 10);
  std::vector<int> readers;
  std::int32_t before = ChipMessage::no_message;
  for (std::int32_t place : {1, 2, 4}) {
    readers.push_back(made.core(place, 1, {{.axon = 50, .move = 7}}));
    const int number = made.message(a, 0, readers.back(), 0, 10);
    made.message(readers.back(), 0, host, 0, 1);
    made.program.messages[static_cast<std::size_t>(number)].behind = before;
    before = number;
  }
  made.program.cores[0].phases[0].sends.resize(1);  // the first one alone
  const ChipTiming timing = made.run(4).value_or_throw();
  // The last packet leaves at 136; it takes a hop, a clk and a hop, a clk and two hops.
  std::vector<std::int64_t> moved;
  for (int reader : readers) moved.push_back(made.begins(timing, reader, Stage::move)[0]);
  CHECK(moved == Ticks{137, 139, 142});
  // The readers are one group: they begin at 149; the farthest's credit, 4 hops, comes last.
  CHECK(made.begins(timing, readers[0], Stage::axon)[0] == 149);
  CHECK(made.begins(timing, a, Stage::axon)[1] == 149 + 4);
  // In each frame: 10 to a, 10 to each of three, one of each to the host; over 1 + 1 + 2 links instead of 1 + 2 + 4.
  CHECK(timing.traffic.packets == 4 * (10 + 30 + 3));
  CHECK(timing.traffic.hops_x == 4 * (10 * 1 + 10 * 4 + 2 + 3 + 5));
}

TEST_CASE("a relay sends on what it does not keep, a clk behind [chip-time]") {
  ChipSchedule made(tests::chip_variant("tianjicx"));
  const int a = made.core(0, 0, {{.axon = 100, .soma = 20, .move = 5}});
  const int b = made.core(5, 1, {{.axon = 60, .soma = 40, .move = 7}});
  made.message(host, 0, a, 0, 10);
  const int way = made.message(a, 0, b, 0, 10);
  made.message(b, 0, host, 0, 10);
  CHECK(made.begins(made.run(1).value_or_throw(), b, Stage::move)[0] == 136 + 5);
  made.program.messages[static_cast<std::size_t>(way)].relays = {2, 4};
  const ChipTiming timing = made.run(1).value_or_throw();
  CHECK(made.begins(timing, b, Stage::move)[0] == 136 + 2 + 1 + 2 + 1 + 1);
  CHECK(timing.traffic.hops_x == 10 * 1 + 10 * 5 + 10 * 6);
}

TEST_CASE("borders of chips: 32 clk across, one packet in 4 [chip-time]") {
  ChipSchedule made(tests::chip_variant("tianjicx"), {2, 1});
  const int a = made.core(15, 0, {{.axon = 100, .soma = 20, .move = 5}});
  const int b = made.core(16, 1, {{.axon = 60, .soma = 40, .move = 7}});
  made.message(host, 0, a, 0, 10);
  made.message(a, 0, b, 0, 10);
  made.message(b, 0, host, 0, 10);
  const ChipTiming ideal = made.run(1).value_or_throw();
  // The host's last packet is at a 15 hops behind 11; a ends at 26 + 5 + 120; the border takes 32 in place of a hop.
  CHECK(made.begins(ideal, a, Stage::axon)[0] == 11 + 15 + 5);
  CHECK(made.begins(ideal, b, Stage::move)[0] == 31 + 120 + 32);
  CHECK(ideal.traffic.crossings == 20);  // to b, and from b on its way to the host, who is in the west
  // One packet in 4 clk, and soma makes one in 2: the first is ready at 31 + 100 + 2, the last waits for 9 before it.
  const ChipTiming queued =
      time_program(made.program, {.noc = NocModel::contended, .frames = 1, .keeps_stages = true}).value_or_throw();
  CHECK(made.begins(queued, b, Stage::move)[0] == 31 + 100 + 2 + 9 * 4 + 32);
}

TEST_CASE("phases of fixed length: packets arrive in the phase that sends them [chip-time]") {
  auto chip_of = [](std::int64_t length) {
    return tests::chip_variant(
        "tianjicx", {{"\"adaptive\"", "\"fixed\""},
                     {"\"phase_clk_overhead\": {\"v\": 0", "\"phase_clk\": {\"v\": " + std::to_string(length)}});
  };
  auto made_for = [&](std::int64_t length) {
    ChipSchedule made(chip_of(length));
    const int a = made.core(0, 0, {{.axon = 100, .soma = 20, .move = 5}});
    const int b = made.core(10, 1, {{.axon = 60, .soma = 40, .move = 7}});
    made.message(host, 0, a, 0, 10);
    made.message(a, 0, b, 0, 10, 2);
    made.message(b, 0, host, 0, 1);
    return made;
  };
  // 120 to the last packet, 10 hops.
  CHECK(made_for(130).run().value_or_throw().interval == 130);
  // Else the first stage of all that is too long is told, with the length that suffices for all.
  for (const auto& [length, stage, need] : {std::tuple{129, "router", 130}, {124, "router", 130}, {99, "axon", 125}}) {
    CAPTURE(length);
    const Diag diag = fault_of(made_for(length));
    CHECK(diag.code == Code("E5012"));
    CHECK(diag.message == "core 0: phase 0 takes " + std::to_string(need) + " clk, a phase of tianjicx has " +
                              std::to_string(length) + ": too long since its " + stage);
    CHECK(diag.help_text == "sync/phase_clk of 130 suffices");
  }
  ChipSchedule slow = made_for(130);
  slow.program.cores[1].phases[0].axon->cycles = 140;
  const Diag diag = fault_of(slow);
  CHECK_MESSAGE(
      diag.message.find("core 10: phase 0 takes 187 clk, a phase of tianjicx has 130: too long since its axon") == 0,
      diag.message);
}

TEST_CASE("waits in a circle are told as one [chip-time]") {
  ChipSchedule made(tests::chip_variant("tianjicx"));
  const int a = made.core(0, 0, {{.axon = 10, .move = 1}}), b = made.core(1, 1, {{.axon = 10, .move = 1}}),
            c = made.core(2, 2, {{.axon = 10, .move = 1}}), d = made.core(3, 3, {{.axon = 10, .move = 1}});
  made.message(host, 0, a, 0, 10);
  made.message(a, 0, b, 0, 10);
  made.message(b, 0, c, 0, 10);
  made.message(c, 0, d, 0, 10);
  const int back = made.message(d, 0, b, 0, 10);  // of the same step, which b waits for
  made.message(d, 0, host, 0, 10);
  Diag diag = fault_of(made);
  CHECK(diag.code == Code("E5012"));
  // a waits, too, but is not in the circle.
  CHECK(diag.message == "the cores of the chip wait for one another: core 1 > core 3 > core 2 > core 1");
  REQUIRE(diag.notes.size() == 4);
  CHECK(diag.notes[0] == "core 1, phase 0: waits for packets of core 3");
  CHECK(diag.notes[1] == "core 3, phase 0: waits for packets of core 2");
  CHECK(diag.notes[2] == "core 2, phase 0: waits for packets of core 1");
  // With a delay it is a loop that goes round once in a step.
  made.program.messages[static_cast<std::size_t>(back)].delay = 1;
  made.program.cores[1].buffers.back().slots = 2;
  CHECK(made.run());
  // Room: b takes the second frame of c only when it has what c sends behind it.
  made.program.cores[1].a2s2 = true;
  diag = fault_of(made);
  CHECK_MESSAGE(diag.message.find("wait for one another: core ") != std::string::npos, diag.message);
}

TEST_CASE("frames are no closer than the busiest port takes their packets, also the last of a few [chip-time]") {
  ChipSchedule made(tests::chip_variant("tianjicx"));
  // Both lie in row 0, behind one port of the host: 1000 packets a frame. Core a has room for all three frames of its
  // input, so that what is sent last is an input of c alone.
  const int a = made.core(0, 0, {{.axon = 10}}), c = made.core(1, 1, {{.axon = 10}});
  made.message(host, 0, a, 0, 500, 3);
  made.message(host, 0, c, 0, 500);
  made.message(a, 0, host, 0, 1);
  made.message(c, 0, host, 0, 1);
  for (const NocModel noc : {NocModel::ideal, NocModel::contended, NocModel::flit_all}) {
    const ChipTiming timing = time_program(made.program, {.noc = noc, .frames = 3}).value_or_throw();
    CHECK(timing.frame_times.at(2).end - timing.frame_times.at(1).end < 1000);
    CHECK(timing.interval == 1000);
    CHECK(timing.busiest_port.clk == 1000);
    CHECK(timing.busiest_port.place.text == "the port from the host at row 0");
  }
}

TEST_CASE(
    "flit: phases that load a link go flit by flit with those that meet them, all others do not [chip-time][noc]") {
  ChipSchedule made(tests::chip_variant("tianjicx"));
  auto row = [](int y, int x) { return 16 * y + x; };
  // Row 0: 32 packets in 32 ticks over the link from x = 2 to 3, half of them to each of two cores.
  const int p0 = made.core(row(0, 0), 0, {{.axon = 100, .soma = 16}}),
            p1 = made.core(row(0, 1), 0, {{.axon = 100, .soma = 16}}),
            r0 = made.core(row(0, 3), 1, {{.axon = 10, .soma = 1000}}), r1 = made.core(row(0, 4), 1, {{.axon = 10}});
  // A phase by itself that sends 4 packets over that link in 1000 ticks.
  const int t = made.core(row(0, 2), 2, {{.axon = 2000, .soma = 1000}}), r2 = made.core(row(0, 5), 3, {{.axon = 10}});
  // Row 1: as many at once, of a phase in which another core sends for 1000 ticks.
  const int q0 = made.core(row(1, 0), 4, {{.axon = 100, .soma = 16}}),
            q1 = made.core(row(1, 1), 4, {{.axon = 100, .soma = 16}}),
            q2 = made.core(row(1, 6), 4, {{.axon = 100, .soma = 1000}}), s0 = made.core(row(1, 3), 5, {{.axon = 10}}),
            s1 = made.core(row(1, 4), 5, {{.axon = 10}}), s2 = made.core(row(1, 7), 5, {{.axon = 10}});
  const int from_host = made.message(host, 0, p0, 0, 10), to_host = made.message(r0, 0, host, 0, 10);
  made.message(host, 0, q0, 0, 10);
  const int loaded = made.message(p0, 0, r0, 0, 16), loaded_too = made.message(p1, 0, r1, 0, 16),
            beside = made.message(t, 0, r2, 0, 4), apart = made.message(q0, 0, s0, 0, 16),
            apart_too = made.message(q1, 0, s1, 0, 16);
  made.message(q2, 0, s2, 0, 4);

  const LoadedPhases phases = loaded_phases(made.program);
  for (const int message : {from_host, loaded, loaded_too, beside}) CHECK(phases.goes_by_flits(message));
  for (const int message : {to_host, apart, apart_too}) CHECK_FALSE(phases.goes_by_flits(message));
  CHECK(phases.sending == 5);  // the host, groups 0, 1, 2, 4
  CHECK(phases.loaded == 2);
  CHECK(phases.beside == 1);

  auto received = [&](NocModel noc) {
    const ChipTiming timing =
        time_program(made.program, {.noc = noc, .frames = 2, .keeps_stages = true}).value_or_throw();
    CHECK(timing.flits.sending == (noc == NocModel::flit ? 5 : 0));
    std::vector<Ticks> ends;
    for (const int core : {r0, r1, s0, s1}) ends.push_back(first(made.ends(timing, core, Stage::receive), 1));
    return ends;
  };
  const std::vector<Ticks> contended = received(NocModel::contended), flits = received(NocModel::flit_all),
                           chosen = received(NocModel::flit);
  REQUIRE(contended[1] != flits[1]);  // heads of 16 packets: one behind the other, or in turns
  REQUIRE(contended[3] != flits[3]);
  CHECK(chosen == std::vector<Ticks>{flits[0], flits[1], contended[2], contended[3]});
}

}  // namespace taskspec::schedule_test
