// Time steps as a backend sees them: how often a graph is prepared and executed, whether states are given up to be
// written over, and what a failure in a step tells.
#include "interp/backends/time_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

#include "interp/backends/backends.hpp"
#include "interp/host/host_backend.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::time_steps_test {

namespace {

// Computes on the host, and tells what it was asked for.
class Counting final : public Backend {
 public:
  std::string name() const override { return "counting"; }
  Location allocate(const ArrayType& type) override { return host_->allocate(type); }
  void write(Location location, const Array& array) override { host_->write(location, array); }
  Array read(Location location) const override { return host_->read(location); }
  Location copy(Location location) override { return host_->copy(location); }
  void free(Location location) override { host_->free(location); }
  Memory memory() const override { return host_->memory(); }
  void interrupt() override { host_->interrupt(); }
  std::vector<Value> report() const override { return {Value(prepared_), Value(executed_), Value(taken_)}; }

  Prepared prepare(std::shared_ptr<const TaskGraph> graph, const Chains& chains, const PrepareOptions& options,
                   Bodies& bodies) override {
    ++prepared_;
    return host_->prepare(std::move(graph), chains, options, bodies);
  }
  Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) override {
    ++executed_;
    Outcome outcome = host_->execute(executable, inputs, options);
    taken_ += static_cast<std::int64_t>(outcome.taken.size());
    return outcome;
  }

 private:
  const std::unique_ptr<Backend> host_ = make_host_backend({.threads = 1});
  std::int64_t prepared_ = 0, executed_ = 0, taken_ = 0;
};

Type counting_type(RuleContext& c) { return backend_type("counting", time_steps(c, 0)); }
std::unique_ptr<Backend> open_counting(std::span<const Value>) { return std::make_unique<Counting>(); }

constexpr Operand operands[] = {{time_steps_option, OperandKind::integer, Default::absent()}};
constexpr ReportField fields[] = {{"prepared", Type::Kind::integer, "graphs"},
                                  {"executed", Type::Kind::integer, "runs of them"},
                                  {"taken", Type::Kind::integer, "inputs whose bytes became those of a result"}};
constexpr BackendRecord record{.report = fields, .open = open_counting};

extern const Builtin builtin_counting;
constinit const Builtin builtin_counting = BuiltinFields{.name = "counting",
                                                         .operands = operands,
                                                         .doc = "A backend of the tests.",
                                                         .example = "-",
                                                         .type = counting_type,
                                                         .run = choose<builtin_counting>,
                                                         .runs_in = RunsIn::either,
                                                         .backend = &record};

Ran run_here(const std::string& text) {
  const Toolbox& standard = standard_toolbox();
  std::vector<const Builtin*> table(standard.builtins.all().begin(), standard.builtins.all().end());
  table.push_back(&builtin_counting);
  std::ranges::sort(table, {}, [](const Builtin* builtin) { return builtin->name; });
  return run_text(text, {}, {standard.ops, BuiltinTable(table)});
}

const std::string net =
    "agent Leaky(n: int) {\n  state v: f32[n] = zero()\n"
    "  task forward(in x: f32[n]) -> (y: f32[n]) { v = 0.5 * v + x; y = v }\n}\n"
    "graph two(x: f32[3]) -> (y: f32[3]) {\n"
    "  y = Leaky(3).forward(Leaky(3).forward(x).y).y\n}\n";

}  // namespace

TEST_CASE("time steps are planned once, and states stay in their bytes") {
  const Ran ran = run_here(net +
                           "let r = run two(fill(f32[50, 3], 1.0)) on counting(time_steps: 50)\n"
                           "print(r.report.prepared <= 3, r.report.executed, r.report.taken >= 98)\n"
                           "let again = run two(fill(f32[3], 1.0)) on counting(time_steps: 1)\n"
                           "print(r.report.prepared == again.report.prepared)\n");
  CHECK(ran.errors == "");
  CHECK(ran.output.starts_with("true 5"));
  CHECK(ran.output.find(" true\ntrue\n") != std::string::npos);
}

TEST_CASE("what no step changes runs once") {
  const Ran ran = run_here(
      "task slow(in x: f32[N]) -> (y: f32[N]) { y = exp(x) }\n"
      "task fast(in x: f32[N], in t: i64) -> (y: f32[N]) { y = x + (t as f32) }\n"
      "graph g(x: f32[2], t: i64) -> (y: f32[2]) { y = fast(slow(x).y, t).y }\n"
      "let r = run g(fill(f32[2], 0.0), iota(10)) on counting(time_steps: 10)\n"
      "print(r.report.executed, r.y.array)\n");
  CHECK(ran.errors == "");
  CHECK(ran.output == "11 [10, 10]\n");
}

TEST_CASE("a failure names its time step, and leaves states from outside as they were") {
  const std::string text =
      "agent Count {\n  state n: i64[1] = zero()\n"
      "  task next(in d: i64[1]) -> (y: i64[1]) { n = n + 1; y = 12 / d }\n"
      "  task now() -> (y: i64[1]) { y = n }\n}\n"
      "let c = Count()\n"
      "let good = run c.next([[3], [4]] as i64[2, 1]) on host(time_steps: 2)\n"
      "print(c.now().y.array)\n"
      "let bad = run c.next([[3], [4], [0], [6]] as i64[4, 1]) on host(time_steps: 4)\n"
      "print(bad.y.array)\n";
  const Ran ran = run_here(text);
  CHECK(ran.output == "[2]\n");
  CHECK(ran.code == 3);
  CHECK(ran.errors.find("E5002") != std::string::npos);
  CHECK(ran.errors.find("in time step 2 of 4, counted from 0") != std::string::npos);
}

TEST_CASE("time steps: what is wrong with their number") {
  const std::string g = "graph g(x: f32[2]) -> (y: f32[2]) { y = x }\nlet x = fill(f32[2], 1.0)\n";
  CHECK(run_text(g + "let r = run g(x) on host(time_steps: 0)").errors.find("E1003") != std::string::npos);
  CHECK(run_text(g + "let r = run g(x) on host(time_steps: -3)").errors.find("not -3") != std::string::npos);
  CHECK(run_text(g + "fn f(t: int) { let r = run g(x) on host(time_steps: t) }\nf(0)").errors.find("E5003") !=
        std::string::npos);
}

}  // namespace taskspec::time_steps_test
