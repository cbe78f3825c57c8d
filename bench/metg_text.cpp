// The loops of metg.cpp as texts of the language.
#include <fmt/format.h>

#include <cmath>

#include "bench/metg.hpp"
#include "bench/subject.hpp"
#include "interp/control/natives.hpp"
#include "interp/control/objects.hpp"
#include "interp/host/host_backend.hpp"
#include "ir/records/backend_record.hpp"
#include "ir/records/builtin.hpp"

namespace taskspec::bench {

namespace {

// ---- a host whose runs are timed ------------------------------------------------------------------

constexpr std::size_t points = metg_columns * metg_steps;  // of one run

// From the begin of a run of all steps to its end, and to the begin of the next one.
struct Runs {
  bool is_next = false;  // another one came just before
  Sample begin;          // of that
  Repeats took, between;
  int count = 0;  // of `between`
} runs;

Sample now() { return {wall_clock(), cpu_clock()}; }
Sample since(const Sample& begin) { return {wall_clock() - begin.wall, cpu_clock() - begin.cpu}; }

class TimedHost final : public Backend {
 public:
  explicit TimedHost(std::uint32_t threads) : host_(make_host_backend({.threads = threads})) {}
  std::string name() const override { return host_->name(); }
  Location allocate(const ArrayType& type) override { return host_->allocate(type); }
  Location allocate_zeros(const ArrayType& type) override { return host_->allocate_zeros(type); }
  void write(Location location, const Array& array) override { host_->write(location, array); }
  Array read(Location location) const override { return host_->read(location); }
  Location copy(Location location) override { return host_->copy(location); }
  void free(Location location) override { host_->free(location); }
  Prepared prepare(std::shared_ptr<const TaskGraph> graph, const Chains& chains, const PrepareOptions& options,
                   Bodies& bodies) override {
    runs.is_next = false;  // what made a plan is nothing that is done again
    return static_cast<Backend&>(*host_).prepare(std::move(graph), chains, options, bodies);
  }
  Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) override {
    const Sample begin = now();
    const Sample between = since(runs.begin);
    Outcome outcome = host_->execute(executable, inputs, options);
    const bool whole = outcome.tasks_run == points;
    if (whole) runs.took.add(since(begin));
    if (whole && runs.is_next) {
      runs.between.add(between);
      ++runs.count;
    }
    runs.is_next = whole;
    runs.begin = begin;
    return outcome;
  }
  Memory memory() const override { return host_->memory(); }
  bool runs_launches() const override { return true; }
  void interrupt() override { host_->interrupt(); }

 private:
  std::unique_ptr<PlanBackend> host_;
};

std::unique_ptr<Backend> open_timed(std::span<const Value>) { return std::make_unique<TimedHost>(metg_columns); }

constexpr BackendRecord timed_record{.open = open_timed};
constinit const Builtin timed_host = BuiltinFields{.name = "timed_host",
                                                   .operands = {},
                                                   .doc = "host(threads: 2) with a clock",
                                                   .example = "none",
                                                   .type = [](RuleContext&) { return backend_type("timed_host"); },
                                                   .run = [](HostContext&, std::span<const Value>) { return Value(); },
                                                   .runs_in = RunsIn::either,
                                                   .backend = &timed_record};

// ---- bodies of C++ --------------------------------------------------------------------------------

// Writes fields `to`, `to` + 1 (value, stamp) and reads the other ones.
class Body final : public NativeTaskBody {
 public:
  Body(std::size_t to, bool reads) : to_(to), reads_(reads) {}
  void forward(const NativeCall&) const override { bug("a task over views is called with tensors"); }
  void over_views(const NativeViewSite&, const ExternCall& call) const override {
    const auto number = [&](std::size_t input) { return *reinterpret_cast<const std::int64_t*>(call.inputs[input]); };
    const std::int64_t step = number(0);
    double start = 1;
    if (reads_) {
      const std::size_t from = 2 - to_;
      const auto* value = reinterpret_cast<const double*>(call.views[1].fields[from]);
      const auto* stamp = reinterpret_cast<const std::int64_t*>(call.views[1].fields[from + 1]);
      call.views[1].points->runs(*call.views[1].root, [&](Run run) {
        for (std::int64_t j = run.lo; j < run.hi; ++j) {
          if (stamp[j] != step - 1) bug("a task ran before those that it depends on");
          start += 1e-9 * value[j];
        }
      });
    }
    const double value = metg_kernel(number(1), start);
    call.views[0].points->runs(*call.views[0].root, [&](Run run) {
      for (std::int64_t i = run.lo; i < run.hi; ++i) {
        reinterpret_cast<double*>(call.views[0].fields[to_])[i] = value;
        reinterpret_cast<std::int64_t*>(call.views[0].fields[to_ + 1])[i] = step;
      }
    });
  }

 private:
  std::size_t to_;
  bool reads_;
};

const Natives& bodies() {
  static Natives all;
  static const bool filled = [] {
    all.define("metg_to_even", std::make_shared<const Body>(0, true));
    all.define("metg_to_odd", std::make_shared<const Body>(2, true));
    all.define("metg_alone_even", std::make_shared<const Body>(0, false));
    all.define("metg_alone_odd", std::make_shared<const Body>(2, false));
    return true;
  }();
  static_cast<void>(filled);
  return all;
}

// ---- texts ----------------------------------------------------------------------------------------

std::string body_of(const std::string& to, const std::string& from, bool reads, bool native) {
  if (native) return fmt::format("extern \"metg_{}_{}\"\n", reads ? "to" : "alone", to);
  const std::string looks = reads ? fmt::format(
                                        "    for j in d {{\n"
                                        "      x += 1e-9 * d[j].{0}\n"
                                        "      if d[j].{0}_at != t - 1 {{ c[i].wrong += 1 }}\n"
                                        "    }}\n",
                                        from)
                                  : "";
  return fmt::format(
      "{{\n  for i in c {{\n    var x = 1.0 as f64\n{1}    for k in 0..n {{ x = x * 0.999999 + 0.000001 }}\n"
      "    c[i].{0} = x\n    c[i].{0}_at = t\n  }}\n}}\n",
      to, looks);
}

MetgTime timed(const MetgCase& what, std::int64_t iterations, int repeats, bool native) {
  const Subject subject(metg_definitions(what, native) +
                        metg_statements(what, iterations, repeats + 2) +  // the first rounds make plans
                        "print(columns.wrong.sum(0).scalar, columns.even.sum(0).scalar)\n");
  RunSettings settings = Subject::settings();
  settings.on = std::make_shared<const BackendChoice>(timed_host);
  settings.natives = &bodies();
  settings.window = points;
  std::string printed;
  settings.output = [&](std::string_view text) { printed += text; };
  runs = {};
  subject.run_cut(settings);
  if (!printed.starts_with("0 ")) bug("tasks ran before those that they depend on: " + printed);
  if (runs.count == 0) bug("rounds of a loop are no batches");
  return metg_time(runs.took, runs.between);
}

}  // namespace

std::string metg_definitions(const MetgCase& what, bool native) {
  const bool reads = !what.reads[0].empty();
  std::string text = "fields Column { even: f64, even_at: int, odd: f64, odd_at: int, wrong: int }\n";
  for (const auto& [to, from] : {std::pair("odd", "even"), std::pair("even", "odd")})
    text += fmt::format("task to_{0}(inout c: Column[_].{{{0}, {0}_at, wrong}}, {1}in t: int, in n: int) ", to,
                        reads ? fmt::format("in d: Column[_].{{{0}, {0}_at}}, ", from) : "") +
            body_of(to, from, reads, native);
  return text;
}

std::string metg_statements(const MetgCase& what, std::int64_t iterations, int rounds, const std::string& after_round) {
  const bool reads = !what.reads[0].empty();
  std::string text = fmt::format("let columns = region Column[{0}]\nlet own = blocks(columns, {0})\n", metg_columns);
  if (reads) {
    text += "let ranges = [";
    for (const std::vector<std::int64_t>& row : what.reads) {
      text += '[';
      for (const std::int64_t j : row) text += fmt::format("{}..{}, ", j, j + 1);
      text += "], ";
    }
    text += fmt::format("]\nlet dep = cover(columns, {}, i => ranges[i])\n", metg_columns);
  }
  text += "fill(columns.even_at, -1)\n";
  // Steps of one round are counted from 0: its plan is the same, whatever the number.
  return text + fmt::format(
                    "for round in 0..{0} {{\n  for turn in 0..{1} {{\n    let t = {1} * round * 2 + 2 * turn\n"
                    "    launch to_odd(own[i], {2}t, {3}) for i in 0..{4}\n"
                    "    launch to_even(own[i], {2}t + 1, {3}) for i in 0..{4}\n  }}\n{5}}}\n",
                    rounds, metg_steps / 2, reads ? "dep[i], " : "", iterations, metg_columns, after_round);
}

MetgTime metg_text_native(const MetgCase& what, std::int64_t iterations, int repeats) {
  return timed(what, iterations, repeats, true);
}

MetgTime metg_text(const MetgCase& what, std::int64_t iterations, int repeats) {
  return timed(what, iterations, repeats, false);
}

}  // namespace taskspec::bench
