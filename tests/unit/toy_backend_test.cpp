// A backend from outside, by a builtin with a backend record: its own clock in simulated time, a field of its own in
// the report, an option, and an op that it refuses.
#include <doctest/doctest.h>

#include <algorithm>

#include "interp/backends/backends.hpp"
#include "interp/host/host_backend.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::toy_backend_test {

namespace {

// Computes on the host. Each task takes some ticks of a clock of a thousand a second. It has no exp.
class Toy final : public Backend {
 public:
  explicit Toy(std::int64_t ticks) : ticks_(ticks) {}
  std::string name() const override { return "toy"; }
  Location allocate(const ArrayType& type) override { return host_->allocate(type); }
  void write(Location location, const Array& array) override { host_->write(location, array); }
  Array read(Location location) const override { return host_->read(location); }
  Location copy(Location location) override { return host_->copy(location); }
  void free(Location location) override { host_->free(location); }
  Memory memory() const override { return host_->memory(); }
  void interrupt() override { host_->interrupt(); }
  double hz() const override { return 1000; }
  std::vector<Value> report() const override { return {Value(now_), Value(static_cast<double>(now_) / hz())}; }

  Prepared prepare(std::shared_ptr<const TaskGraph> graph, const Chains& chains, const PrepareOptions& options,
                   Bodies& bodies) override {
    std::vector<Poison> refused;
    for (std::size_t i = 0; i < graph->size(); ++i)
      if (graph->definition(NodeId(i)).name == "exp")
        refused.push_back({NodeId(i), {"E1009", "toy has no exp; it can do what else a host can"}});
    if (!refused.empty()) return refused;
    auto made = std::make_shared<Ready>();
    for (std::size_t c = 0; c < chains.size(); ++c)
      made->ticks.push_back(ticks_ * static_cast<std::int64_t>(chains.members(ChainId(c)).size()));
    made->host = std::get<0>(host_->prepare(std::move(graph), chains, options, bodies));
    return made;
  }
  Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) override {
    auto& ready = dynamic_cast<Ready&>(executable);
    Outcome outcome = host_->execute(*ready.host, inputs, {options.schedule, true});
    for (DispatchRecord& record : outcome.records) {
      record.begin = now_;
      record.end = now_ += ready.ticks[record.chain.index()];
    }
    return outcome;
  }

 private:
  struct Ready final : Executable {
    std::shared_ptr<Executable> host;
    std::vector<std::int64_t> ticks;  // by chain
  };
  const std::int64_t ticks_;
  const std::unique_ptr<Backend> host_ = make_host_backend({.threads = 1});
  std::int64_t now_ = 0;
};

Type toy_type(RuleContext&) { return backend_type("toy"); }
std::unique_ptr<Backend> open_toy(std::span<const Value> options) {
  return std::make_unique<Toy>(options[0].integer());
}

constexpr Operand operands[] = {{"ticks", OperandKind::integer, 5}};
constexpr ReportField fields[] = {{"cycles", Type::Kind::integer, "ticks so far"},
                                  {"time", Type::Kind::real, "simulated seconds"}};
constexpr BackendRecord record{.report = fields, .open = open_toy};

extern const Builtin builtin_toy;
constinit const Builtin builtin_toy = BuiltinFields{.name = "toy",
                                                    .operands = operands,
                                                    .doc = "A backend of the tests.",
                                                    .example = "-",
                                                    .type = toy_type,
                                                    .run = choose<builtin_toy>,
                                                    .runs_in = RunsIn::either,
                                                    .backend = &record};

Ran run_here(const std::string& text, RunSettings settings = {}) {
  const Toolbox& standard = standard_toolbox();
  std::vector<const Builtin*> table(standard.builtins.all().begin(), standard.builtins.all().end());
  table.push_back(&builtin_toy);
  std::ranges::sort(table, {}, [](const Builtin* builtin) { return builtin->name; });
  return run_text(text, std::move(settings), {standard.ops, BuiltinTable(table)});
}

const std::string graphs =
    "graph g(x: f32[2]) -> (y: f32[2], z: f32[2]) { y = relu(-x); z = y * 2.0 }\n"
    "graph h(x: f32[2]) -> (fine: f32[2], refused: f32[2], behind: f32[2]) {\n"
    "  fine = -x\n  refused = exp(fine)\n  behind = refused + 1.0\n}\n"
    "let x = [0.0, 1.0] as f32[2]\n";

}  // namespace

TEST_CASE("a backend counts in its own clock, and its report has fields of its own") {
  const Ran ran = run_here(graphs +
                           "let r = run g(x) on toy(ticks: 7)\n"
                           "print(r.z.array, r.report.tasks, r.report.cycles, r.report.time + 1.0)\n"
                           "print((run g(x) on toy).report.cycles, r.report)\n");
  CHECK(ran.errors == "");
  CHECK(ran.output.starts_with("[-0, 0] 3 21 1.021\n15 {tasks: 3, chains: "));
  CHECK(ran.output.find("cycles: 21, time: 0.021}") != std::string::npos);

  // As the backend of the program: a profile is in its time.
  RunSettings settings;
  settings.record = true;
  const Value five[] = {Value(std::int64_t{5})};
  settings.on = std::make_shared<BackendChoice>(builtin_toy, five);
  const Ran whole = run_here(graphs + "print(g(x).z.array)", settings);
  REQUIRE(whole.report.profile.size() >= 1);
  std::int64_t ns = 0;
  for (const ProfileRow& row : whole.report.profile) ns += row.ns;
  CHECK(ns == 15'000'000);  // three tasks of five milliseconds
}

TEST_CASE("what a backend refuses fails with the reason and its line; the rest runs") {
  const Ran ran = run_here(graphs + "let r = run h(x) on toy\nprint(r.fine.array)\nprint(r.behind.array)\n");
  CHECK(ran.errors.find("E1009") != std::string::npos);
  CHECK(ran.errors.find("toy has no exp") != std::string::npos);
  CHECK(ran.errors.find(":4:13") != std::string::npos);

  RunSettings settings;
  settings.on = std::make_shared<BackendChoice>(builtin_toy);
  const Ran whole = run_here(graphs + "let r = h(x)\nprint(r.fine.array)\nprint(r.behind.array)\n", settings);
  CHECK(whole.output == "[-0, -1]\n");
  CHECK(whole.code == 3);
  CHECK(whole.errors.find("the failure reached this value along") != std::string::npos);
}

TEST_CASE("the type of a backend says which one it is") {
  const Ran ran = run_here(graphs + "let r = run g(x) on host\nprint(r.report.cycles)\n");
  CHECK(ran.code == 1);
  CHECK(ran.errors.find("E1002") != std::string::npos);
  const Ran mixed = run_here("var b = toy()\nb = null()\n");
  CHECK(mixed.code == 1);
  CHECK(mixed.errors.find("backend toy") != std::string::npos);
}

}  // namespace taskspec::toy_backend_test
