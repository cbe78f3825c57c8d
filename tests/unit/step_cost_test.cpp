// m.profile and m.cost: what a step takes, told without a change to what is trained.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "interp/train/rates.hpp"
#include "tests/guard/tool.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::step_cost_test {
using nlohmann::json;

namespace {

constexpr const char* net = R"(import nn
agent Net(hidden: int) {
  weight w1: f32[hidden, 12] = glorot_uniform(seed: 1)
  weight b1: f32[hidden] = zero()
  weight w2: f32[3, hidden] = glorot_uniform(seed: 2)
  task forward(in x: f32[B, 12]) -> (y: f32[B, 3]) {
    let h = nn.dropout(nn.linear(x, w1, b1, act: "relu"), rate: 0.2)
    y = nn.linear(h, w2, fill(f32[3], 0.0))
  }
}
let x = normal(f32[32, 12], seed: 3)
let y = iota(32) % 3
)";

std::string trained(const std::string& optimizer, const std::string& more) {
  return std::string(net) +
         "let m = train(Net(20), loss: \"sparse_categorical_crossentropy\", optimizer: " + optimizer +
         ", metrics: [\"accuracy\"])\nfor k in 0..5 { m.step(x, y) }\n" + more;
}

std::string output_of(const std::string& text, std::uint32_t threads = 0) {
  RunSettings settings;
  settings.threads = static_cast<int>(threads);
  const Ran ran = run_text(text, settings);
  CHECK(ran.errors == "");
  CHECK(ran.report.memory.allocations == ran.report.memory.frees);
  return ran.output;
}

constexpr std::int64_t weights = 4 * (20 * 12 + 20 + 3 * 20);  // bytes

}  // namespace

TEST_CASE("[training] a profile or a cost in between changes nothing that is trained [L14] [L15] [cost]") {
  const std::string rest =  // `|`: between backward and update
      "for k in 0..5 { m.step(x, y) }\nm.forward(x)\nm.backward(y)\n|"
      "print(m.loss.scalar, m.metrics.accuracy.scalar, m.grad(\"w1\").array)\nm.update()\n"
      "print(m.eval().forward(x).y.array)\n";
  const auto with = [&](const std::string& before, const std::string& within) {
    return trained("adam()", before + rest.substr(0, rest.find('|')) + within + rest.substr(rest.find('|') + 1));
  };
  const std::string wanted = output_of(with("", ""));
  const std::string looks = "let p = m.profile(warmup: 1, iters: 3)\nlet c = m.cost\n";
  for (const std::uint32_t threads : {1U, 2U}) {
    CHECK(output_of(with(looks, ""), threads) == wanted);
    CHECK(output_of(with("", looks), threads) == wanted);  // between backward and update
  }
}

TEST_CASE("[training] a profile tells of each op its task, line, pass, times and bytes [L14]") {
  const std::string said = output_of(trained(
      "sgd(lr: 0.1)",
      "let p = m.profile(warmup: 0, iters: 4)\nprint(p.steps)\n"
      "for o in p.ops {\n"
      "  assert(o.min > 0.0 && o.min <= o.median && o.calls > 0)\n"
      "  if o.op == \"linear\" && o.pass == \"forward\" { print(o.pass, o.in_task, o.makes, o.calls, o.bytes) }\n"
      "}\n"
      "print(p.forward > 0.0, p.backward > 0.0, p.update > 0.0)\n"));
  CHECK(said == "4\nforward Net.forward f32[32, 20] 1 5136\nforward Net.forward f32[32, 3] 1 3196\ntrue true true\n");
}

TEST_CASE(
    "[training] memory of a step: slots, moments of the optimizer, what forward leaves for backward [L15] [cost]") {
  const std::string show = "let c = m.cost\nprint(c.slots, c.moments, c.hidden, c.memory, c.peak >= c.memory)\n";
  // Hidden: what relu and dropout made, each f32[32, 20], and at most both matrices once more, as products read them.
  const auto line = [](std::int64_t moments, const std::string& said) {
    std::int64_t slots = 0, own = 0, hidden = 0, all = 0;
    char whether[8] = "";
    REQUIRE(std::sscanf(said.c_str(), "%ld %ld %ld %ld %7s", &slots, &own, &hidden, &all, whether) == 5);
    CHECK(slots == weights);
    CHECK(own == moments * weights);
    CHECK(hidden >= 2 * 32 * 20 * 4);
    CHECK(hidden <= 2 * 32 * 20 * 4 + 4 * (20 * 12 + 3 * 20));
    CHECK(all == slots + own + hidden);
    CHECK(std::string(whether) == "true");
  };
  line(0, output_of(trained("sgd(lr: 0.1)", show)));
  line(1, output_of(trained("sgd(lr: 0.1, momentum: 0.9)", show)));
  line(2, output_of(trained("adam()", show)));
}

TEST_CASE("[training] a cost is measured once for the shapes of a step [L15] [cost]") {
  CHECK(output_of(trained("sgd(lr: 0.1)",
                          "let a = m.cost\nlet b = m.cost\nm.step(x, y)\nlet c = m.cost\n"
                          "m.step(x[0..8], y[0..8])\nlet d = m.cost\n"
                          "print(a.total == b.total, a.total == c.total, a.total == d.total, a.hidden > d.hidden)\n"
                          "print(a.total == a.forward + a.backward + a.update)\n")) == "true true false true\ntrue\n");
}

TEST_CASE("[training] estimates follow the records: more work, more time [L15] [cost]") {
  const std::string text =
      std::string(net) +
      "fn estimate(hidden: int) -> float {\n"
      "  let m = train(Net(hidden), loss: \"sparse_categorical_crossentropy\", optimizer: sgd(lr: 0.1))\n"
      "  m.step(x, y)\n  let e = m.cost.estimate\n"
      "  assert(e.forward > 0.0 && e.backward > 0.0 && e.update > 0.0)\n"
      "  assert(close(e.total, e.forward + e.backward + e.update))\n  return e.total\n}\n"
      "let small = estimate(16)\nlet large = estimate(4096)\nprint(large > 2.0 * small)\n";
  CHECK(output_of(text) == "true\n");
}

TEST_CASE("[training] an estimate is the longer one of arithmetic and bytes, and a call [L15] [cost]") {
  const MachineRates rates{.products = 1e9, .elements = 1e8, .cache = 1e10, .memory = 1e9, .call = 1e-6};
  OpRow row;
  row.calls = 2;
  row.work = {2e6, 2e3};  // of both calls
  CHECK(estimated_ms(row, rates) == doctest::Approx(10.001));
  row.product = true;
  CHECK(estimated_ms(row, rates) == doctest::Approx(1.001));
  row.work = {2, 2e9};
  CHECK(estimated_ms(row, rates) == doctest::Approx(1000.001));
  row.fused = true;  // its neighbours keep it in the cache
  CHECK(estimated_ms(row, rates) == doctest::Approx(100.001));
  row.work = {};
  CHECK(estimated_ms(row, rates) == doctest::Approx(0.001));
}

TEST_CASE("[training] a cost as JSON says what the record says [L15] [cost]") {
  TemporaryFolder folder;
  folder.put("p.task",
             trained("sgd(lr: 0.1)", "let c = m.cost\nexport(c, \"c.json\")\nprint(c.memory, c.peak, len(c.ops))\n"));
  const ToolOutcome run = in_shell("taskspec run p.task && cat c.json", folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  const std::size_t line = run.out.find('\n');
  const json cost = json::parse(run.out.substr(line + 1));
  CHECK(fmt::format("{} {} {}", cost["memory"].get<long>(), cost["peak"].get<long>(), cost["ops"].size()) ==
        run.out.substr(0, line));
  for (const char* times : {"forward", "backward", "update", "total"}) {
    CHECK(cost[times].get<double>() > 0);
    CHECK(cost["estimate"][times].get<double>() > 0);
  }
  for (const json& op : cost["ops"]) {
    CHECK(op["line"].get<std::string>().find(".task:") != std::string::npos);
    CHECK(op["estimate"].get<double>() > 0);
  }
}

}  // namespace taskspec::step_cost_test
