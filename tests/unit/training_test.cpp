// Training as programs see it: how often a step is planned, what is left behind, and the same bits on any schedule.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/unit/programs.hpp"

namespace taskspec::training_test {

namespace {

// Dropout, a rate that falls, momentum: all that changes from step to step.
std::string program(int steps, int parts = 1) {
  return fmt::format(R"(import nn
agent Net() {{
  layer a = nn.Linear(4, 8, act: "relu", seed: 1)
  layer norm = nn.BatchNorm(8)
  weight w: f32[8, 1] = glorot_uniform(seed: 2)
  task thinned(in x: f32[B, 8]) -> (y: f32[B, 1]) {{ y = nn.dropout(x, rate: 0.25) @ w }}
  graph forward(x: f32[B, 4]) -> (y: f32[B, 1]) {{ y = thinned(norm.forward(a.forward(x).y).y).y }}
}}
fn rate(step: int) -> float {{ return 0.05 / (1.0 + 0.01 * step as float) }}
let m = train(Net(), loss: "mse_avg", optimizer: sgd(lr: rate, momentum: 0.9), metrics: ["mae"], parts: {})
let x = normal(f32[16, 4], seed: 3)
let y = x.sum(1)
for k in 0..{} {{ m.step(x, y) }}
print(m.loss.scalar, m.metrics.mae.scalar, m.eval().forward(x).y.array)
)",
                     parts, steps);
}

Ran run_steps(int steps, Schedule schedule, std::uint32_t threads, int parts = 1) {
  RunSettings settings;
  settings.schedule = schedule;
  settings.threads = threads;
  const Ran ran = run_text(program(steps, parts), settings);
  CHECK(ran.errors == "");
  return ran;
}

}  // namespace

TEST_CASE("[training] two thousand steps make as many plans as a thousand, and leave nothing behind") {
  const Ran some = run_steps(1000, Schedule::push, 2), more = run_steps(2000, Schedule::push, 2);
  CHECK(some.report.plans == more.report.plans);
  CHECK(some.report.plans < 12);
  CHECK(more.report.memory.allocations == more.report.memory.frees);
  CHECK(more.report.memory.peak_bytes < some.report.memory.peak_bytes + some.report.memory.peak_bytes / 10);
}

TEST_CASE("[training] the same bits on any schedule and number of threads") {
  const std::string wanted = run_steps(50, Schedule::push, 1).output;
  for (const Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager})
    for (const std::uint32_t threads : {1U, 2U, 4U}) CHECK(run_steps(50, schedule, threads).output == wanted);
}

TEST_CASE("[training] in parts: one plan for all steps, nothing left behind, the same bits on any schedule [L19]") {
  for (const int parts : {3, 4}) {
    const Ran some = run_steps(400, Schedule::push, 2, parts), more = run_steps(800, Schedule::push, 2, parts);
    CHECK(some.report.plans == more.report.plans);
    CHECK(some.report.plans < 12);
    CHECK(more.report.memory.allocations == more.report.memory.frees);
    const std::string wanted = run_steps(20, Schedule::push, 1, parts).output;
    for (const Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager})
      for (const std::uint32_t threads : {2U, 4U}) CHECK(run_steps(20, schedule, threads, parts).output == wanted);
  }
}

}  // namespace taskspec::training_test
