// A program that is cut in two does what it does by itself, whatever the timing: host and graph program with random
// delays, few places in the channels, one worker or two, with and without passes.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <regex>
#include <sstream>
#include <thread>

#include "frontend/check.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/random_host_program.hpp"

namespace taskspec::cut_prop_test {

namespace {

struct Way {
  bool direct = false;
  CutOptions cut = {};
  std::size_t capacity = 64;
  int threads = 1;
  std::uint64_t delays = 0;  // a seed; 0: none
  std::size_t window = 4096, sweep = 8192;
};

// Each side sleeps now and then before a message; the numbers of one side are its own.
std::function<void(Part)> random_delays(std::uint64_t seed) {
  if (seed == 0) return {};
  struct Side {
    std::mt19937_64 random;
  };
  auto sides = std::make_shared<std::array<Side, 2>>();
  (*sides)[0].random.seed(seed);
  (*sides)[1].random.seed(seed + 1);
  return [sides](Part side) {
    std::mt19937_64& random = (*sides)[side == Part::host ? 0 : 1].random;
    if (between(random, 0, 7) == 0) std::this_thread::sleep_for(std::chrono::microseconds(between(random, 0, 300)));
  };
}

Ran run_as(const std::string& text, const Way& way) {
  RunSettings settings;
  settings.cut = way.cut;
  settings.capacity = way.capacity;
  settings.threads = way.threads;
  settings.pause = random_delays(way.delays);
  settings.window = way.window;
  settings.sweep = way.sweep;
  settings.keep_graph = way.direct;
  return way.direct ? run_text_directly(text, settings) : run_text(text, settings);
}

// How many steps of its chain a handle names depends on what the session still knows of the chain.
std::string output_of(const Ran& ran, const Way& way) {
  static const std::regex steps(", [0-9]+ steps?>");
  return way.sweep < 8192 ? std::regex_replace(ran.output, steps, ">") : ran.output;
}

std::vector<Way> ways(std::uint64_t seed) {
  return {{.cut = CutOptions::none(), .capacity = 1, .threads = 1, .delays = seed},
          {.capacity = 1, .threads = 1, .delays = seed + 2},
          {.capacity = 2, .threads = 2, .delays = seed + 4},
          {.capacity = 64, .threads = 2},
          {.threads = 1, .window = 1 + seed % 7, .sweep = 1 + seed % 11}};
}

}  // namespace

TEST_CASE("[slice-prop] two programs = one program on random programs") {
  for (const std::uint64_t seed : random_seeds(60, 2000)) {
    CAPTURE(seed);
    const std::string text = random_host_program(seed);
    const Ran direct = run_as(text, {.direct = true});
    REQUIRE_MESSAGE(direct.code == 0, direct.errors << text);
    for (const Way& way : ways(seed)) {
      CAPTURE(way.capacity);
      CAPTURE(way.cut.fold);
      const Ran cut = run_as(text, way);
      CHECK_MESSAGE(cut.code == 0, cut.errors);
      CHECK_MESSAGE(output_of(cut, way) == output_of(direct, way), text);
      CHECK(cut.report.memory.allocations == cut.report.memory.frees);
    }
  }
}

TEST_CASE("[slice-prop] what fails in a random program ends it in both forms") {
  std::size_t failed = 0;
  for (const std::uint64_t seed : random_seeds(40, 500)) {
    CAPTURE(seed);
    const std::string text = random_host_program(seed, {.statements = 16, .failures = true});
    const Ran direct = run_as(text, {.direct = true});
    if (direct.code == 1) continue;  // 7 / (3 % 3) is refused before anything runs
    REQUIRE_MESSAGE((direct.code == 0 || direct.code == 3), direct.errors << text);
    failed += direct.code == 3;
    for (const Way& way : ways(seed)) {
      CAPTURE(way.capacity);
      CAPTURE(way.cut.fold);
      const Ran cut = run_as(text, way);
      CHECK_MESSAGE(cut.code == direct.code, cut.errors << direct.errors << text);
      // The host hears of what fails in the graph program at its next receive: until then it may print more.
      if (direct.code == 0)
        CHECK(output_of(cut, way) == output_of(direct, way));
      else
        CHECK_MESSAGE(output_of(cut, way).starts_with(output_of(direct, way)), text);
    }
  }
  CHECK(failed > 3);  // or the programs do not test what they are for
}

namespace {

// What the host printed, and what the graph did: the two do not wait for each other.
std::array<std::string, 2> by_side(const std::string& output) {
  std::array<std::string, 2> sides;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) sides[line.starts_with("graph ") ? 1 : 0] += line + "\n";
  return sides;
}

}  // namespace

TEST_CASE("[slice-prop] a program that ends early has shown what stands before its end, and nothing else") {
  std::size_t ended = 0, failed = 0;
  for (const std::uint64_t seed : random_seeds(60, 2000)) {
    CAPTURE(seed);
    const std::string text = random_host_program(seed, {.statements = 16, .failures = seed % 2 == 0, .shows = true});
    const Ran direct = run_as(text, {.direct = true});
    if (direct.code == 1) continue;
    ended += direct.code != 0 || !direct.output.ends_with(">\n");
    failed += direct.code == 3;
    for (const Way& way : ways(seed)) {
      CAPTURE(way.capacity);
      CAPTURE(way.cut.fold);
      const Ran cut = run_as(text, way);
      CHECK_MESSAGE(cut.code == direct.code, cut.errors << direct.errors << text);
      const auto [host, graph] = by_side(output_of(direct, way));
      const auto [cut_host, cut_graph] = by_side(output_of(cut, way));
      CHECK_MESSAGE(cut_graph == graph, text);
      if (direct.code == 3)  // of the graph's failures the host hears when it receives
        CHECK_MESSAGE(cut_host.starts_with(host), text);
      else
        CHECK_MESSAGE(cut_host == host, text);
    }
  }
  CHECK(ended > failed);
  CHECK(failed > 3);
}

}  // namespace taskspec::cut_prop_test
