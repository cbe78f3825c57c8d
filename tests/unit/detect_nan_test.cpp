// run --detect-nan: the op that makes the first nan is an error with its line, in tasks, in ops of graphs, in bodies
// with control and in steps of training; what makes none gives the same bits as elsewhere.
#include <doctest/doctest.h>

#include "tests/unit/programs.hpp"

namespace taskspec::detect_nan_test {

namespace {

Ran watched(const std::string& text, Schedule schedule = Schedule::push) {
  RunSettings settings;
  settings.detect_nan = true;
  settings.schedule = schedule;
  return run_text(text, settings);
}

void check_told(const std::string& text, const std::string& what, const std::string& line) {
  CAPTURE(text);
  for (const Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager}) {
    const Ran ran = watched(text, schedule);
    CAPTURE(ran.errors);
    CHECK(ran.code == 3);
    CHECK(ran.errors.find("E5014") != std::string::npos);
    CHECK(ran.errors.find(what) != std::string::npos);
    CHECK(ran.errors.find(line) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("[detect-nan] the op that makes the first nan is told with its line and its task") {
  check_told(
      "graph g(x: f32[4]) -> (y: f32[4]) {\n  y = sqrt(x) + 1.0\n}\n"
      "print(g(uniform(f32[4], seed: 1) - 2.0).y.array)\n",
      "'sqrt' makes a nan", "2 | ");
  check_told(
      "task t(in x: f32[4]) -> (y: f32[4]) {\n  let a = x - 1.0\n  y = exp(log(a)) * 2.0\n}\n"
      "print(t(fill(f32[4], 0.5)).y.array)\n",
      "'log' makes a nan", "3 | ");
}

TEST_CASE("[detect-nan] of a body in which tensors decide the task is told") {
  check_told(
      "task t(in x: f32[4]) -> (y: f32[4]) {\n  y = x\n  while y.sum() > 0.0 { y = y - 1.0 }\n  y = sqrt(y)\n}\n"
      "print(t(fill(f32[4], 0.5)).y.array)\n",
      "makes a nan", "t#0");
}

TEST_CASE("[detect-nan] in a step of training the task tells which one it was") {
  check_told(
      "agent Net() {\n  weight w: f32[1, 1] = constant(1.0)\n"
      "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) {\n    y = log(x @ w)\n  }\n}\n"
      "let m = train(Net(), loss: \"mse_avg\", optimizer: sgd(lr: 1.0))\n"
      "let one = [[1.0]] as f32[1, 1]\n"
      "for k in 0..4 { m.step(one, one * -5.0) }\nprint(m.loss.scalar)\n",
      "'log' makes a nan", "Net.forward#1");
}

TEST_CASE("[detect-nan] what makes none gives the same bits, and a nan that was given is none that was made") {
  const std::string text =
      "agent Net() {\n  weight w: f32[3, 3] = normal(seed: 1)\n"
      "  task forward(in x: f32[B, 3]) -> (y: f32[B, 3]) { y = tanh(x @ w) * sigmoid(x) }\n}\n"
      "let m = train(Net(), loss: \"mse_avg\", optimizer: adam(), clip: 0.5)\nlet x = normal(f32[5, 3], seed: 2)\n"
      "for k in 0..5 { m.step(x, x * 0.5) }\nprint(m.loss.scalar, m.weight(\"w\").array)\n";
  const Ran plain = run_text(text), looked = watched(text);
  CHECK(looked.errors == "");
  CHECK(looked.output == plain.output);
  const Ran given = watched("let n = [0.0 / 0.0]\nprint((tensor(n) + 1.0).array)\n");
  CHECK(given.errors == "");
  CHECK(given.output == "[nan]\n");
}

}  // namespace taskspec::detect_nan_test
