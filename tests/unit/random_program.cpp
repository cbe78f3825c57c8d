#include "tests/unit/random_program.hpp"

#include <random>
#include <vector>

#include "tests/unit/random_cases.hpp"

namespace {

constexpr const char* program_definitions = R"(let base = [0.25, -0.5, 1.0, 0.75] as f32[4]
let lead = base * 0.5 + 0.125
task inc(in x: f32[N]) -> (y: f32[N]) { y = x * 0.5 + 1.0 }
task mix(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a * 0.5 - b * 0.25 }
task halves(in x: f32[N]) -> (low: f32[N], high: f32[N]) { low = minimum(x, 0.5); high = maximum(x, 0.5) }
task norm(in x: f32[N]) -> (mean: f32[1], dev: f32[N]) { mean = x.mean(0); dev = x - mean }
task bump(inout r: f32[N], in d: f32[N]) -> (t: f32[N]) { r = r * 0.5 + d; t = r + r.mean(0) }
task swap(inout a: f32[N], inout b: f32[N]) { let c = a; a = b; b = c }
task spin(inout a: f32[N], inout b: f32[N], in n: int) { for i in 0..n { let c = a; a = b; b = c } }
task order(inout a: f32[N], inout b: f32[N]) { if a.sum(0) > b.sum(0) { let c = a; a = b; b = c } }
task put(inout r: f32[N], in d: f32[N]) -> (t: f32[N]) { t = r; r = d }
task turn(inout a: f32[N], inout b: f32[N], in d: f32[N]) -> (t: f32[N]) { t = a; a = b; b = d }
task same(in x: f32[N]) -> (y: f32[N]) { y = x }
task both(in x: f32[N]) -> (low: f32[N], high: f32[N]) { low = x; high = x }
task twin(in x: f32[N]) -> (low: f32[N], high: f32[N]) { low = x * 0.5; high = low }
task cross(in a: f32[N], in b: f32[N]) -> (low: f32[N], high: f32[N]) { low = b; high = a }
task shift(in x: f32[4]) -> (y: f32[4]) { y = x * 0.5 + base }
task first(in x: f32[4]) -> (y: f32[4]) { y = lead }
task grow(in x: f32[N], in n: int) -> (y: f32[N]) { y = x; for i in 0..n { y = y * 0.5 + i } }
task pick(in x: f32[N]) -> (y: f32[N]) { if x.sum(0) > 1.0 { y = x * 0.125 } else { y = 1.0 - x } }
task halve(in x: f32[N]) -> (y: f32[N]) { y = x; while y.max(0) > 0.75 { y = y * 0.5 } }
task risky(in x: f32[N], in level: float) -> (y: f32[N]) { y = (4 / ((x > level) as i32[N])) as f32[N] * x * 0.25 }
agent Memory(k: float) {
  state s: f32[4] = constant(0.5)
  weight w: f32[4] = fill(0.25)
  task add(in x: f32[4]) -> (y: f32[4]) { s = s * w + x * k; y = s * 1.0 }
  task peek() -> (y: f32[4]) { y = s - w }
}
fn blend(a: f32[N], b: f32[N]) -> f32[N] { return a * 0.75 + inc(b).y * 0.25 }
fn lean(x: f32[N]) -> f32[N] { return x }
fn tilt(x: f32[4]) -> f32[4] { return x * 0.25 + lead }
graph through(x: f32[4], z: f32[4], n: int = 2) -> (y: f32[4], w: f32[4]) { y = z; w = x }
graph fork(x: f32[4], z: f32[4], n: int = 2) -> (y: f32[4], w: f32[4]) { y = z; w = z }
fn count(n: int) -> int { if n < 2 { return n }; return count(n - 1) + 1 }
)";

class ProgramWriter {
 public:
  ProgramWriter(std::uint64_t seed, const RandomProgramOptions& options) : random_(seed), options_(options) {}

  std::string program() {
    for (int g = 0; g < 3; ++g) graph("g" + std::to_string(g));
    graphs_.push_back({"through", 0});
    graphs_.push_back({"fork", 0});
    std::string text = program_definitions + text_;
    text_.clear();
    line("let v0 = [0.5, -1.0, 2.0, 0.25] as f32[4]");
    line("let v1 = fill(f32[4], 1.5)");
    line("let v2 = iota(4) as f32[4]");
    values_ = {"v0", "v1", "v2", "lead"};
    line("var p0 = v0");
    line("var p1 = v1");
    places_ = {"p0", "p1"};
    line("let m0 = Memory(0.5)");
    line("let m1 = Memory(2.0)");
    agents_ = {"m0", "m1"};
    for (int i = 0; i < options_.statements; ++i) top_level_statement();
    for (const std::string& value : values_) line("print(" + value + ", " + value + ".array)");
    for (const std::string& place : places_) line("print(" + place + ".array)");
    return text + text_;
  }

 private:
  bool chance(int percent) { return between(random_, 1, 100) <= percent; }
  int below(std::size_t n) { return static_cast<int>(between(random_, 0, static_cast<std::int64_t>(n) - 1)); }
  void line(const std::string& text) { text_ += std::string(indent_, ' ') + text + "\n"; }
  const std::string& one_of(const std::vector<std::string>& names) {
    return names[static_cast<std::size_t>(below(names.size()))];
  }
  const std::string& value() { return one_of(values_); }
  std::string read() {  // a value, sometimes a place
    return !places_.empty() && chance(20) ? one_of(places_) : value();
  }
  std::string fresh() { return "v" + std::to_string(next_++); }
  void let(const std::string& expression) {
    const std::string name = fresh();
    line("let " + name + " = " + expression);
    values_.push_back(name);
  }

  // What gives one new value, inside a graph or outside.
  void computation() {
    if (options_.failures && chance(5)) return let("risky(" + read() + ", " + (chance(50) ? "-9.0" : "0.25") + ").y");
    if (chance(25)) return handed_through();
    switch (below(11)) {
      case 0:
        return let("inc(" + read() + ").y");
      case 1:
        return let("mix(" + read() + ", " + read() + ").y");
      case 2:
        return let(read() + (chance(50) ? " * 0.5 + " : " * 0.25 - ") + read() + " * 0.5");
      case 3: {
        const std::string name = "h" + std::to_string(next_++);
        const bool halves = chance(50);
        line("let " + name + " = " + (halves ? "halves(" : "norm(") + read() + ")");
        let(name + (halves ? ".high" : ".dev"));
        if (halves && chance(50)) let(name + ".low");
        return;
      }
      case 4:
        return let("grow(" + read() + ", " + std::to_string(below(4)) + ").y");
      case 5:
        return let("pick(" + read() + ").y");
      case 6:
        return let("halve(" + read() + ").y");
      case 7:
        return let("blend(" + read() + ", " + read() + ")");
      case 8:
        return let("concat([" + read() + "[2..4], " + read() + "[0..2]], 0).tanh()");
      case 9:
        return let("inc(mix(" + read() + ", inc(" + read() + ").y).y).y");
      default:
        return let("where(" + read() + " > 0.5, " + read() + ", " + read() + ")");
    }
  }

  // What gives values that are others under a new name, or that the top level holds.
  void handed_through() {
    switch (below(7)) {
      case 0:
        return let("same(" + read() + ").y");
      case 1:
        return let("lean(" + read() + ")");
      case 2:
        return let("tilt(" + read() + ")");
      case 3:
        return let("shift(" + read() + ").y");
      case 4:
        return let("first(" + read() + ").y");
      default: {
        const std::string name = "h" + std::to_string(next_++);
        const int task = below(3);
        line("let " + name + " = " +
             (task == 0   ? "both("
              : task == 1 ? "twin("
                          : "cross(" + read() + ", ") +
             read() + ")");
        let(name + ".high");
        if (chance(50)) let(name + ".low");
      }
    }
  }

  void update() {
    const std::string place = one_of(places_);
    if (places_.size() > 1 && chance(30)) return update_both();
    const std::string call = (chance(70) ? "bump(" : "put(") + place + ", " + value() + ")";
    if (chance(50)) return line(call);
    let(call + ".t");
  }

  void update_both() {
    const bool turned = chance(50);
    const std::string pair = places_[turned] + ", " + places_[!turned];
    switch (below(4)) {
      case 0:
        return line("swap(" + pair + ")");
      case 1:
        return line("spin(" + pair + ", " + std::to_string(below(4)) + ")");
      case 2:
        return line("order(" + pair + ")");
      default:
        return let("turn(" + pair + ", " + value() + ").t");
    }
  }

  void graph(const std::string& name) {
    values_ = {"x", "z", "lead"};
    places_.clear();
    for (int places = below(3); places > 0; --places) places_.push_back("q" + std::to_string(places));
    std::string parameters;
    for (const std::string& place : places_) parameters += ", inout " + place + ": f32[4]";
    line("graph " + name + "(x: f32[4], z: f32[4]" + parameters + ", n: int = 2) -> (y: f32[4], w: f32[4]) {");
    indent_ = 2;
    graphs_.push_back({name, places_.size()});
    for (int i = below(5); i >= 0; --i) {
      if (!places_.empty() && chance(25))
        update();
      else if (chance(15))
        loop_in_graph();
      else if (chance(15))
        branch_in_graph();
      else
        computation();
    }
    line("y = " + value() + (chance(50) ? "" : " * 1.0"));
    line("w = " + (chance(50) ? read() : value() + " * 0.5"));
    indent_ = 0;
    line("}");
  }

  void loop_in_graph() {
    const std::string name = fresh();
    line("var " + name + " = " + value());
    if (chance(50))
      line("for i in 0..n { " + name + " = inc(" + name + ").y * 0.5 + i }");
    else
      line("while " + name + ".max(0) > 0.75 { " + name + " = " + name + " * 0.5 }");
    values_.push_back(name);
  }

  void branch_in_graph() {
    const std::string name = fresh();
    const std::string a = value(), b = value();
    line("var " + name + " = " + b);
    line("if " + a + ".sum(0) > 0.5 { " + name + " = inc(" + a + ").y } else { " + name + " = " + name + " * 0.25 }");
    values_.push_back(name);
  }

  void top_level_statement() {
    const std::string agent = one_of(agents_);
    switch (below(14)) {
      case 0:
      case 1:
        return update();
      case 2:
        return let(agent + ".add(" + read() + ").y");
      case 3:
        return let(agent + ".peek().y");
      case 4:
      case 5:
        return call_graph();
      case 6:
        return line("print(" + value() + ")");
      case 7:
        return line("print(" + value() + ".array)");
      case 8:
        return line("print(" + value() + "[" + std::to_string(below(4)) + "].scalar > 0.5, count(" +
                    std::to_string(below(5)) + "))");
      case 9:
        return loop();
      default:
        return computation();
    }
  }

  void call_graph() {
    const Graph& graph = graphs_[static_cast<std::size_t>(below(graphs_.size()))];
    const std::string name = "c" + std::to_string(next_++);
    std::string call = graph.name + "(" + value() + ", " + value();
    const std::size_t first = chance(50);
    for (std::size_t i = 0; i < graph.places; ++i) call += ", " + places_[(first + i) % 2];
    call += chance(50) ? ", n: " + std::to_string(below(4)) + ")" : ")";
    const bool is_nested = chance(25);
    line("let " + name + " = " + (is_nested ? "run " + call + " on " + backend() : call));
    let(name + ".y");
    if (chance(50)) let(name + ".w");
    if (!is_nested && chance(30)) line("print(" + name + ")");  // the report of a nested session holds times
  }

  std::string backend() {
    switch (below(3)) {
      case 0:
        return "host";
      case 1:
        return "host(threads: 2)";
      default:
        return "host(schedule: \"pull\")";
    }
  }

  void loop() {
    const std::string name = fresh();
    const std::string place = one_of(places_);
    line("var " + name + " = " + value());
    line("for i in 0.." + std::to_string(below(5)) + " {");
    line("  " + name + " = mix(" + name + ", inc(" + value() + ").y).y + i * 0.125");
    if (chance(40)) line("  bump(" + place + ", " + name + ")");
    if (chance(40)) line("  if " + name + "[0].scalar > 0.25 { " + name + " = inc(" + name + ").y }");
    line("}");
    values_.push_back(name);
  }

  std::mt19937_64 random_;
  const RandomProgramOptions options_;
  std::string text_;
  std::size_t indent_ = 0;
  int next_ = 3;
  struct Graph {
    std::string name;
    std::size_t places = 0;
  };
  std::vector<Graph> graphs_;
  std::vector<std::string> values_, places_, agents_;
};

}  // namespace

std::string random_program(std::uint64_t seed, const RandomProgramOptions& options) {
  return ProgramWriter(seed, options).program();
}
