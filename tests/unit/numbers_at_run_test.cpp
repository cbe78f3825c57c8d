// Numbers among the arguments of tasks: what may be another one in each call is an input of its run and part of no
// plan; what decides which ops there are, or an extent, makes a plan for each value.
#include <doctest/doctest.h>

#include <random>

#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::numbers_at_run_test {

namespace {

// `count` turns of a loop over `w`, each of which receives something.
std::string loop(const std::string& tasks, const std::string& call, int count) {
  return tasks + "var w = [1.0, -2.0, 3.0, 0.5] as f32[4]\nlet g = [0.5, 0.25, -1.0, 2.0] as f32[4]\nvar lr = 0.1\n" +
         "for i in 0.." + std::to_string(count) + " {\n  w = " + call +
         "\n  lr = lr * 0.999\n  if w[0].scalar > 1000.0 { print(i) }\n}\nprint(w.array)\n";
}

const std::string update = "task update(in w: f32[N], in g: f32[N], in lr: float) -> (v: f32[N]) { v = w - g * lr }\n";

}  // namespace

TEST_CASE("[numbers] a thousand steps whose rate changes each time are one plan") {
  const Ran ran = run_text(loop(update, "update(w, g, lr).v", 1000));
  CHECK(ran.errors == "");
  CHECK(ran.report.plans == 1);
  // The same by ops of the loop itself, where the rate stands beside tensors.
  CHECK(ran.output == run_text(loop("", "w - g * lr", 1000)).output);
}

TEST_CASE("[numbers] step numbers, flags and what is made of them are no part of a plan either") {
  const std::string adam =
      "task step(in w: f32[N], in g: f32[N], in lr: float, in k: int, in train: bool) -> (v: f32[N]) {\n"
      "  let rate = lr / (1.0 - pow(0.9, k + 1))\n  v = where(train, w - g * rate, w) * (1 + k / 999)\n}\n";
  const Ran ran = run_text(loop(adam, "step(w, g, lr, i, i % 3 > 0).v", 1000));
  CHECK(ran.errors == "");
  CHECK(ran.report.plans == 1);
  const Ran ops =
      run_text(loop("", "where(i % 3 > 0, w - g * (lr / (1.0 - pow(0.9, i + 1))), w) * (1 + i / 999)", 1000));
  CHECK(ops.errors == "");
  CHECK(ran.output == ops.output);
}

TEST_CASE("[numbers] what decides ops or extents has a plan for each value") {
  const std::string tasks =
      "task deep(in w: f32[N], in n: int, in lr: float) -> (v: f32[N]) {\n"
      "  v = w\n  for k in 0..n { v = v * lr }\n}\n";
  const Ran ran = run_text(loop(tasks, "deep(w, i % 3, lr).v", 60));
  CHECK(ran.errors == "");
  CHECK(ran.report.plans == 3);
  const Ran sized = run_text(
      "task wide(in n: int, in lr: float) -> (v: f32[n]) { v = fill(f32[n], 1.0) * lr }\n"
      "for i in 0..30 { print(wide(i % 2 + 1, 0.5 * i).v.array) }\n");
  CHECK(sized.errors == "");
  CHECK(sized.report.plans == 2);
  CHECK(sized.output.starts_with("[0]\n[0.5, 0.5]\n[1]\n[1.5, 1.5]\n"));
}

TEST_CASE("[numbers] a body that the interpreter runs reads them as numbers") {
  const std::string tasks =
      "task clipped(in w: f32[N], in lr: float, in most: int, in on: bool) -> (v: f32[N]) {\n"
      "  v = w * lr\n  while on & (v.max(0) > 1.0 * most) { v = v / 2.0 }\n}\n"
      "task both(in w: f32[N], in lr: float, in k: int) -> (v: f32[N]) { v = clipped(w, lr, k, k > 1).v + k }\n";
  const Ran ran = run_text(tasks +
                           "let w = [1.0, 8.0] as f32[2]\n"
                           "for i in 1..4 { print(both(w, 1.0 * i, i).v.array) }\n");
  const Ran direct = run_text_directly(tasks +
                                       "let w = [1.0, 8.0] as f32[2]\n"
                                       "for i in 1..4 { print(both(w, 1.0 * i, i).v.array) }\n");
  CHECK(ran.errors == direct.errors);
  CHECK(ran.output == direct.output);
}

TEST_CASE("[numbers] an error of the arithmetic fails the task at the value that it fails for") {
  const std::string text =
      "task t(in x: f32[2], in n: int) -> (y: f32[2]) { y = x * (6 / n) }\n"
      "let x = [1.0, 2.0] as f32[2]\n"
      "for i in 0..4 { print(t(x, 2 - i).y.array) }\n";
  const Ran ran = run_text(text);
  CHECK(ran.output == "[3, 6]\n[6, 12]\n");
  CHECK(ran.errors.find("E5002") != std::string::npos);
  CHECK(ran.errors.find("division by zero: 6 / 0") != std::string::npos);
  CHECK(ran.report.plans == 1);
  // An int that f32 has not.
  const Ran inexact = run_text(
      "task t(in x: f32[1], in n: int) -> (y: f32[1]) { y = x * n }\n"
      "let x = [1.0] as f32[1]\nprint(t(x, 3).y.array)\nprint(t(x, 16777217).y.array)\n");
  CHECK(inexact.output == "[3]\n");
  CHECK(inexact.errors.find("E5001") != std::string::npos);
}

// Random arithmetic on numbers inside a task, against the same arithmetic in host code beside an op.
TEST_CASE("[numbers] random arithmetic on numbers gives the bits of host code") {
  for (std::uint64_t seed : random_seeds(20, 500)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto pick = [&](std::size_t count) { return random() % count; };
    std::vector<std::string> floats = {"a", "b"}, ints = {"k"};
    for (int n = 0; n < 6; ++n) {
      const std::string f = floats[pick(floats.size())], g = floats[pick(floats.size())], i = ints[pick(ints.size())];
      static const char* const both[] = {"(%s + %s)", "(%s - %s)", "(%s * %s)", "maximum(%s, %s)", "minimum(%s, %s)"};
      auto joined = [&](const std::string& left, const std::string& right) {
        char text[512];
        std::snprintf(text, sizeof text, both[pick(5)], left.c_str(), right.c_str());
        return std::string(text);
      };
      const std::string unary[] = {"sqrt(abs(" + f + "))", "tanh(" + f + ")", "(-" + f + ")",
                                   "exp(minimum(" + f + ", 2.0))"};
      floats.push_back(pick(3) == 0 ? unary[pick(4)] : joined(f, pick(3) == 0 ? i : g));
      if (floats.back().size() > 300) floats.pop_back();
      if (i.size() < 60) ints.push_back(joined(i, "3"));
    }
    const std::string number = floats.back();
    const std::string calls = "let x = [1.0, -3.0] as f32[2]\nfor k in 0..5 {\n  let a = 0.3 * k\n  let b = 1.7 - k\n";
    const Ran task = run_text("task t(in x: f32[2], in a: float, in b: float, in k: int) -> (y: f32[2]) { y = x * " +
                              number + " }\n" + calls + "  print(t(x, a, b, k).y.array)\n}\n");
    const Ran host = run_text(calls + "  let y = x * " + number + "\n  print(y.array)\n}\n");
    CHECK(task.errors == host.errors);
    CHECK(task.output == host.output);
    CHECK(task.report.plans <= 1);
  }
}

}  // namespace taskspec::numbers_at_run_test
