// When the clock may stop: what it says after few frames is what goes on, and what was asked for has all come out.
#include <doctest/doctest.h>

#include <numeric>

#include "hwsim/time/group_pace.hpp"
#include "hwsim/time/seen_frames.hpp"
#include "tests/hwsim/chip_nets.hpp"
#include "tests/hwsim/chip_schedule.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::steady_test {
using tests::ChipSchedule;

namespace {

constexpr int host = ChipSchedule::host;

ChipTiming timed(const ChipProgram& program, std::int64_t frames) {
  return time_program(program, {.noc = NocModel::contended, .frames = frames}).value_or_throw();
}

// A pipeline of a few cores with random stages, rooms and branches, with an output somewhere behind.
ChipSchedule random_schedule(std::mt19937_64& random) {
  ChipSchedule made(tests::chip_variant("tianjicx"));
  const int count = static_cast<int>(between(random, 2, 5));
  for (int i = 0; i < count; ++i) {
    std::vector<tests::PhaseCycles> phases(static_cast<std::size_t>(between(random, 1, 2)));
    for (tests::PhaseCycles& phase : phases)
      phase = {.axon = between(random, 5, 120), .soma = between(random, 0, 40), .move = between(random, 1, 20)};
    made.core(static_cast<std::int32_t>(16 * between(random, 0, 3) + i), i, phases);
  }
  auto last_phase = [&](int c) {
    return static_cast<int>(made.program.cores[static_cast<std::size_t>(c)].phases.size()) - 1;
  };
  made.message(host, 0, 0, last_phase(0), between(random, 5, 60), between(random, 1, 2));
  for (int i = 1; i < count; ++i) {
    made.message(i - 1, last_phase(i - 1), i, last_phase(i), between(random, 5, 60), between(random, 1, 6));
    if (i > 1 && between(random, 0, 2) == 0)
      made.message(i - 2, last_phase(i - 2), i, last_phase(i), between(random, 5, 60), between(random, 2, 6));
  }
  for (int i = 0; i < count; ++i)  // outputs that do not wait for those behind
    if (i == count - 1 || between(random, 0, 3) == 0) made.message(i, last_phase(i), host, 0, between(random, 1, 40));
  return made;
}

}  // namespace

TEST_CASE("the clock stops when all goes on as it is: later frames have its latency and distance [chip-time]") {
  std::int64_t stops = 0, in_turns = 0;
  std::vector<std::uint64_t> early;
  for (const std::uint64_t seed : random_seeds(60, 1000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const ChipSchedule made = random_schedule(random);
    const ChipTiming stopped = timed(made.program, 0);
    if (stopped.turn == 0) continue;  // turns of many frames, or buffers that fill for hundreds of them
    ++stops;
    in_turns += stopped.turn > 1;
    constexpr std::int64_t later = 24, behind = 48;  // the chip empties behind these
    const ChipTiming all = timed(made.program, stopped.frames + later + behind);
    std::int64_t longest = 0;
    bool goes_on = true;
    for (std::int64_t k = 0; k < later; ++k) {
      const FrameTime& frame = all.frame_times[static_cast<std::size_t>(stopped.frames + k)];
      longest = std::max(longest, frame.end - frame.begin + 1);
      const FrameTime& before = all.frame_times[static_cast<std::size_t>(stopped.frames + k - stopped.turn)];
      goes_on = goes_on && (frame.end - before.end + stopped.turn - 1) / stopped.turn == stopped.interval;
    }
    if (!goes_on || longest != stopped.latency) early.push_back(seed);
  }
  // Packets that queue at links may come to meet others later on, which groups do not show: 2 in 1000.
  CHECK_MESSAGE(static_cast<std::int64_t>(early.size()) * 200 <= stops, early.size(), " stopped too early", ", first ",
                early.empty() ? 0 : early[0]);
  CHECK(stops > 55);
  MESSAGE(stops << " stop, " << in_turns << " of them in turns");
}

TEST_CASE("a slow reader of much room slows frames down only when that is full, and the clock waits [chip-time]") {
  ChipSchedule made(tests::chip_variant("tianjicx"));
  const int a = made.core(0, 0, {{.axon = 80, .soma = 20, .move = 5}}),
            slow = made.core(1, 1, {{.axon = 110, .move = 7}});
  made.message(host, 0, a, 0, 10);
  made.message(a, 0, host, 0, 10);
  made.message(a, 0, slow, 0, 10, 6);
  const ChipTiming timing = timed(made.program, 0);
  CHECK(timing.interval == 110 + 7);
  const ChipTiming all = timed(made.program, 80);
  CHECK(all.frame_times[4].end - all.frame_times[3].end == 100 + 5);  // not yet
  CHECK(all.frame_times[60].end - all.frame_times[59].end == timing.interval);
  CHECK(all.frame_times[60].end - all.frame_times[60].begin + 1 == timing.latency);
}

TEST_CASE("all frames that were asked for have come out, to the last packet [chip-time]") {
  for (const std::uint64_t seed : random_seeds(20, 200)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const ChipSchedule made = random_schedule(random);
    std::int64_t packets = 0, out = 0;
    for (const ChipMessage& message : made.program.messages) {
      packets += message.packets;
      if (message.to_core == host) out += message.packets;
    }
    for (const std::int64_t frames : {1, 2, 5}) {
      const ChipTiming timing = timed(made.program, frames);
      const NocTraffic& traffic = timing.traffic;
      auto sum = [](const std::vector<std::int64_t>& counts) {
        return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      };
      CHECK(timing.frames == frames);
      CHECK(sum(traffic.to_host) == frames * out);
      // What nobody waits for may still be on its way; nothing else is.
      CHECK(sum(traffic.injected) + sum(traffic.from_host) >= sum(traffic.ejected) + sum(traffic.to_host));
      CHECK(traffic.packets <= frames * packets);
      CHECK(timing.cycles == timing.frame_times.back().end - timing.frame_times.front().begin + 1);
    }
  }
  // Where all ends in one output, all packets are out with it.
  ChipSchedule line(tests::chip_variant("tianjicx"));
  const int a = line.core(0, 0, {{.axon = 80, .soma = 20, .move = 5}}), b = line.core(5, 1, {{.axon = 110, .move = 7}});
  line.message(host, 0, a, 0, 10);
  line.message(a, 0, b, 0, 20, 2);
  line.message(b, 0, host, 0, 30);
  for (const std::int64_t frames : {1, 3}) {
    const ChipTiming timing = timed(line.program, frames);
    CHECK(timing.traffic.packets == frames * (10 + 20 + 30));
    if (frames == 1) CHECK(timing.cycles == timing.latency);
  }
}

TEST_CASE("frames that differ in turn: a turn is found, its longest latency and its mean distance [chip-time]") {
  for (const std::int64_t turn : {1, 2, 3, 8}) {
    CAPTURE(turn);
    SeenFrames seen(1);
    GroupPace pace;
    std::int64_t at = 0, frames = 0, longest = 0;
    bool is_steady = false;
    while (!is_steady && frames < 100) {
      const std::int64_t late = frames % turn * 7;
      seen.entered(frames, at);
      pace.began(at);
      seen.left(frames, at + 50 + late);
      longest = std::max(longest, 50 + late + 1);
      at += 100 + (frames % turn == 0 ? 3 : 0);
      ++frames;
      is_steady =
          seen.is_steady(1000, 0, [&](std::int64_t distance, std::int64_t by) { return pace.is(distance, by); });
    }
    CHECK(is_steady);
    CHECK(seen.turn() == turn);
    CHECK(frames == 4 * turn);
    CHECK(seen.latency() == longest);
    CHECK(seen.interval() == 100 + (3 + turn - 1) / turn);
  }
  // Turns longer than that, or none: the half in the middle, without how the chip fills and empties.
  SeenFrames seen(1);
  for (std::int64_t frame = 0; frame < 64; ++frame) {
    const bool is_inside = frame >= 16 && frame < 48;
    seen.entered(frame, 100 * frame);
    seen.left(frame, 100 * frame + (is_inside ? 60 + frame % 13 : 500));
    CHECK(!seen.is_steady(1000, 0, [](std::int64_t, std::int64_t) { return false; }));
  }
  CHECK(seen.turn() == 0);
  seen.look_at_middle();
  CHECK(seen.latency() == 60 + 12 + 1);
}

}  // namespace taskspec::steady_test
