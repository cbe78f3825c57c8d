// What a session tells of single ops: which ones, of which task, at which line; and that to look changes nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "interp/control/op_text.hpp"
#include "interp/session/profile_text.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::op_profile_test {

namespace {

// Two layers of one kind, a norm with states, a task of the net's own, dropout, momentum.
const std::string training = R"(import nn
agent Net() {
  layer a = nn.Linear(6, 8, act: "relu", seed: 1)
  layer b = nn.Linear(8, 8, act: "tanh", seed: 2)
  layer norm = nn.BatchNorm(8)
  weight w: f32[8, 1] = glorot_uniform(seed: 3)
  task last(in x: f32[B, 8]) -> (y: f32[B, 1]) {
    let kept = nn.dropout(x, rate: 0.25)
    y = kept @ w
  }
  graph forward(x: f32[B, 6]) -> (y: f32[B, 1]) { y = last(norm.forward(b.forward(a.forward(x).y).y).y).y }
}
let m = train(Net(), loss: "mse_avg", optimizer: sgd(lr: 0.05, momentum: 0.9), metrics: ["mae"])
let x = normal(f32[16, 6], seed: 4)
let y = x.sum(1)
for k in 0..20 { m.step(x, y) }
print(m.loss.scalar, m.metrics.mae.scalar, m.eval().forward(x).y.array)
)";

// Three element-wise ops that run as one pass, and a sum; one of them through a fn.
const std::string fused = R"(fn shifted(x: f32[N], amount: float) -> f32[N] { return x + amount }
task wave(in x: f32[N]) -> (y: f32[N], total: f32[1]) {
  let a = shifted(x, 0.5)
  let b = tanh(a)
  y = b * a
  total = y.sum(0)
}
let w = wave(uniform(f32[200000], seed: 1))
print(w.total.array, w.y.sum().scalar)
)";

Ran run(const std::string& text, bool ops, std::uint32_t threads = 2, Schedule schedule = Schedule::push) {
  RunSettings settings;
  settings.record = settings.record_ops = ops;
  settings.threads = static_cast<int>(threads);
  settings.schedule = schedule;
  Ran ran = run_text(text, settings);
  CHECK(ran.errors == "");
  std::erase_if(ran.report.ops, [](const OpRow& row) { return row.calls == 0; });
  return ran;
}

std::vector<OpRow> rows_of(const Ran& ran, TrainingPass pass, const std::string& task) {
  std::vector<OpRow> rows;
  std::ranges::copy_if(ran.report.ops, std::back_inserter(rows),
                       [&](const OpRow& row) { return row.pass == pass && row.task == task; });
  return rows;
}

bool has_op(const std::vector<OpRow>& rows, const std::string& op) {
  return std::ranges::find(rows, op, &OpRow::op) != rows.end();
}

std::uint32_t line_of(const std::string& text, const OpRow& row) {
  return static_cast<std::uint32_t>(std::count(text.begin(), text.begin() + row.span.begin, '\n') + 1);
}

}  // namespace

TEST_CASE("[profile] a program that trains has rows for each op of its forward, backward and update tasks [L14]") {
  const Ran ran = run(training, true);
  for (const TrainingPass pass : {TrainingPass::forward, TrainingPass::backward}) {
    CAPTURE(text(pass));
    CHECK(has_op(rows_of(ran, pass, "Net.last"), "matmul"));
    for (const char* layer : {"Net.a.forward", "Net.b.forward", "Net.norm.forward"}) {
      CAPTURE(layer);
      CHECK_FALSE(rows_of(ran, pass, layer).empty());
    }
  }
  CHECK_FALSE(rows_of(ran, TrainingPass::update, "sgd").empty());
  CHECK_FALSE(rows_of(ran, TrainingPass::backward, "mse_avg").empty());
  for (const OpRow& row : ran.report.ops) {
    CAPTURE(row.task);
    CAPTURE(row.op);
    CHECK(row.ns >= 0);
    if (row.pass == TrainingPass::none || row.op == "number") continue;
    CHECK(row.span.valid());
    CHECK_MESSAGE(row.calls % 20 == 0, row.calls);  // so often in each step
  }
}

TEST_CASE("[profile] layers of one kind do not mix [L14]") {
  const Ran ran = run(training, true);
  const auto a = rows_of(ran, TrainingPass::forward, "Net.a.forward"),
             b = rows_of(ran, TrainingPass::forward, "Net.b.forward");
  CHECK(has_op(a, "relu"));
  CHECK_FALSE(has_op(a, "tanh"));
  CHECK(has_op(b, "tanh"));
  CHECK_FALSE(has_op(b, "relu"));
}

TEST_CASE("[profile] an op stands where its task comes to it, and a fn around it at its call [L14]") {
  const Ran ran = run(fused, true, 1);
  std::map<std::string, std::uint32_t> lines;
  for (const OpRow& row : rows_of(ran, TrainingPass::none, "wave")) lines[row.op] = line_of(fused, row);
  const std::map<std::string, std::uint32_t> wanted{{"add", 3}, {"tanh", 4}, {"mul", 5}, {"sum", 6}};
  CHECK(lines == wanted);
}

TEST_CASE("[profile] equal tasks share a plan, and stand where they stand [L14]") {
  const std::string text =
      "let a = tensor([parse_float(\"1.5\")])\nlet b = a * 3.0\nprint(b.array)\nlet c = b * 3.0\nprint(c.array)\nlet d "
      "= c * "
      "3.0\nprint(d.array)\n";
  const Ran ran = run(text, true);
  std::map<std::uint32_t, std::uint64_t> calls;
  for (const OpRow& row : ran.report.ops)
    if (row.op == "mul") calls[line_of(text, row)] += row.calls;
  CHECK(calls == std::map<std::uint32_t, std::uint64_t>{{2, 1}, {4, 1}, {6, 1}});
}

TEST_CASE("[profile] ops of one pass share its time, by what each of them takes [L14]") {
  for (std::uint32_t threads : {1U, 2U}) {
    // Whoever has the core meanwhile is counted, too: one run of several must say it.
    bool is_dearer = false;
    for (int turn = 0; turn < 8 && !is_dearer; ++turn) {
      const Ran ran = run(fused, true, threads);
      const std::vector<OpRow> rows = rows_of(ran, TrainingPass::none, "wave");
      std::int64_t ops = 0, dispatches = 0;
      std::map<std::string, std::int64_t> ns;
      for (const OpRow& row : rows) {
        ops += row.ns;
        ns[row.op] = row.ns;
        CHECK(row.fused == (row.op != "sum"));
        CHECK(row.work.bytes > 200'000 * 4);
      }
      for (const ProfileRow& row : ran.report.profile)
        if (row.chain.find("wave") != std::string::npos) dispatches += row.ns;
      CHECK(ops > 0);
      CHECK(ops <= dispatches);
      is_dearer = ns["tanh"] > ns["add"];  // thirty operations for one
    }
    CHECK(is_dearer);
  }
}

TEST_CASE("[profile] to time ops changes no result, on any schedule and number of threads [L14]") {
  for (const std::string* text : {&training, &fused})
    for (const Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager})
      for (const std::uint32_t threads : {1U, 2U, 4U}) {
        const Ran plain = run(*text, false, threads, schedule), timed = run(*text, true, threads, schedule);
        CHECK(plain.output == timed.output);
        CHECK(plain.report.tasks == timed.report.tasks);
        CHECK(plain.report.ops.empty());
      }
}

TEST_CASE("[profile] the same rows and calls on every schedule [L14]") {
  const auto keys = [](const Ran& ran) {
    std::map<std::string, std::uint64_t> calls;
    for (const OpRow& row : ran.report.ops)
      calls[row.task + " " + row.op + " " + row.type + " " + std::to_string(row.span.begin)] += row.calls;
    return calls;
  };
  const auto wanted = keys(run(training, true, 1));
  CHECK(wanted.size() > 30);
  CHECK(keys(run(training, true, 2)) == wanted);
  const auto eager = keys(run(training, true, 2, Schedule::eager));
  for (const auto& [key, calls] : wanted) CHECK_MESSAGE((eager.contains(key) && eager.at(key) == calls), key);
  CHECK(eager.size() == wanted.size());
}

TEST_CASE("[profile] an op that fails is told as ever while it is timed [L14]") {
  const std::string text =
      "task third(in x: i64[4]) -> (y: i64[4]) { y = 12 / (x - 2) + 1 }\n"
      "print(third(iota(4)).y.array)\n";
  RunSettings timed;
  timed.record = timed.record_ops = true;
  const Ran plain = run_text(text), ran = run_text(text, timed);
  CHECK(plain.code == 3);
  CHECK(ran.code == 3);
  CHECK(plain.errors == ran.errors);
}

TEST_CASE("[profile] the text has a line for each op, with its task and place [L14]") {
  const Ran ran = run(training, true, 1);
  Sources sources;
  const std::string text = profile_text(ran.report, sources);
  CHECK(text.find("  pass      op ") != std::string::npos);
  CHECK(text.find("  Net.a.forward ") != std::string::npos);
  CHECK(text.find("  backward  ") != std::string::npos);
  const std::string without = profile_text(run(training, false, 1).report, sources);
  CHECK(without.find("Net.a.forward") == std::string::npos);
}

}  // namespace taskspec::op_profile_test
