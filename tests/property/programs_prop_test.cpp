// Random programs give the same output on every schedule and with any number of threads: tasks are functions
// of their inputs.
#include <doctest/doctest.h>

#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/random_program.hpp"

namespace taskspec::programs_prop_test {

namespace {

Ran run_as(const std::string& text, Schedule schedule, int threads) {
  RunSettings settings;
  settings.schedule = schedule;
  settings.threads = threads;
  return run_text(text, settings);
}

}  // namespace

TEST_CASE("[A5] push = pull = eager = one to four threads on random programs") {
  for (const std::uint64_t seed : random_seeds(25, 1000)) {
    CAPTURE(seed);
    const std::string text = random_program(seed);
    const Ran eager = run_as(text, Schedule::eager, 1);
    REQUIRE_MESSAGE(eager.code == 0, eager.errors << text);
    for (const Schedule schedule : {Schedule::push, Schedule::pull})
      for (int threads = 1; threads <= 4; ++threads) {
        CAPTURE(threads);
        CAPTURE(static_cast<int>(schedule));
        const Ran ran = run_as(text, schedule, threads);
        CHECK(ran.code == 0);
        CHECK_MESSAGE(ran.output == eager.output, text);
        // I7: nothing is lost and nothing runs twice.
        CHECK(ran.report.tasks + ran.report.dropped == eager.report.tasks + eager.report.dropped);
        CHECK(ran.report.memory.allocations == ran.report.memory.frees);
      }
  }
}

TEST_CASE("[A2] [A5] what fails is reported alike on every schedule") {
  std::size_t failed = 0;
  for (const std::uint64_t seed : random_seeds(25, 1000)) {
    CAPTURE(seed);
    const std::string text = random_program(seed, {.failures = true});
    const Ran eager = run_as(text, Schedule::eager, 1);
    CHECK_MESSAGE((eager.code == 0 || eager.code == 3), eager.errors << text);
    failed += eager.code == 3;
    for (const Schedule schedule : {Schedule::push, Schedule::pull})
      for (const int threads : {1, 3}) {
        CAPTURE(threads);
        CAPTURE(static_cast<int>(schedule));
        const Ran ran = run_as(text, schedule, threads);
        CHECK(ran.code == eager.code);
        CHECK_MESSAGE(ran.output == eager.output, text);
        CHECK_MESSAGE(ran.errors == eager.errors, text);
      }
  }
  CHECK(failed > 3);  // or the programs do not test what they are for
}

}  // namespace taskspec::programs_prop_test
