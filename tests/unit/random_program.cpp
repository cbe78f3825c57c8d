#include "tests/unit/random_program.hpp"

#include <random>
#include <vector>

#include "tests/unit/random_cases.hpp"

namespace {

constexpr const char* definitions = R"(task inc(in x: f32[N]) -> (y: f32[N]) { y = x * 0.5 + 1.0 }
task mix(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a * 0.5 - b * 0.25 }
task halves(in x: f32[N]) -> (low: f32[N], high: f32[N]) { low = minimum(x, 0.5); high = maximum(x, 0.5) }
task norm(in x: f32[N]) -> (mean: f32[1], dev: f32[N]) { mean = x.mean(0); dev = x - mean }
task bump(inout r: f32[N], in d: f32[N]) -> (t: f32[N]) { r = r * 0.5 + d; t = r + r.mean(0) }
task swap(inout a: f32[N], inout b: f32[N]) { let c = a * 1.0; a = b * 1.0; b = c }
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
fn count(n: int) -> int { if n < 2 { return n }; return count(n - 1) + 1 }
)";

class Writer {
 public:
  Writer(std::uint64_t seed, const RandomProgramOptions& options) : random_(seed), options_(options) {}

  std::string program() {
    for (int g = 0; g < 3; ++g) graph(g);
    std::string text = definitions + text_;
    text_.clear();
    graphs_ = 3;
    line("let v0 = [0.5, -1.0, 2.0, 0.25] as f32[4]");
    line("let v1 = fill(f32[4], 1.5)");
    line("let v2 = iota(4) as f32[4]");
    values_ = {"v0", "v1", "v2"};
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
  const std::string& value() { return values_[static_cast<std::size_t>(below(values_.size()))]; }
  std::string read() {  // a value, sometimes a place
    return !places_.empty() && chance(20) ? places_[static_cast<std::size_t>(below(places_.size()))] : value();
  }
  std::string fresh() { return "v" + std::to_string(next_++); }
  void let(const std::string& expression) {
    const std::string name = fresh();
    line("let " + name + " = " + expression);
    values_.push_back(name);
  }

  // What gives one new value, inside a graph or outside.
  void computation() {
    switch (below(options_.failures && chance(30) ? 12 : 11)) {
      case 0: return let("inc(" + read() + ").y");
      case 1: return let("mix(" + read() + ", " + read() + ").y");
      case 2: return let(read() + (chance(50) ? " * 0.5 + " : " * 0.25 - ") + read() + " * 0.5");
      case 3: {
        const std::string name = "h" + std::to_string(next_++);
        const bool halves = chance(50);
        line("let " + name + " = " + (halves ? "halves(" : "norm(") + read() + ")");
        let(name + (halves ? ".high" : ".dev"));
        if (halves && chance(50)) let(name + ".low");
        return;
      }
      case 4: return let("grow(" + read() + ", " + std::to_string(below(4)) + ").y");
      case 5: return let("pick(" + read() + ").y");
      case 6: return let("halve(" + read() + ").y");
      case 7: return let("blend(" + read() + ", " + read() + ")");
      case 8: return let("concat([" + read() + "[2..4], " + read() + "[0..2]], 0).tanh()");
      case 9: return let("inc(mix(" + read() + ", inc(" + read() + ").y).y).y");
      case 10: return let("where(" + read() + " > 0.5, " + read() + ", " + read() + ")");
      default: return let("risky(" + read() + ", " + (chance(50) ? "-9.0" : "0.25") + ").y");
    }
  }

  void update() {
    const std::string place = places_[static_cast<std::size_t>(below(places_.size()))];
    if (places_.size() > 1 && chance(15)) return line("swap(" + places_[0] + ", " + places_[1] + ")");
    if (chance(50)) return line("bump(" + place + ", " + value() + ")");
    let("bump(" + place + ", " + value() + ").t");
  }

  void graph(int number) {
    values_ = {"x", "z"};
    places_.clear();
    const bool has_place = chance(50);
    if (has_place) places_ = {"q"};
    line("graph g" + std::to_string(number) + "(x: f32[4], z: f32[4]" + (has_place ? ", inout q: f32[4]" : "") +
         ", n: int = 2) -> (y: f32[4], w: f32[4]) {");
    indent_ = 2;
    has_place_.push_back(has_place);
    for (int i = below(5); i >= 0; --i) {
      if (has_place && chance(25)) update();
      else if (chance(15)) loop_in_graph();
      else if (chance(15)) branch_in_graph();
      else computation();
    }
    line("y = " + value() + " * 1.0");
    line("w = " + value() + " * 0.5");
    indent_ = 0;
    line("}");
  }

  void loop_in_graph() {
    const std::string name = fresh();
    line("var " + name + " = " + value());
    if (chance(50)) line("for i in 0..n { " + name + " = inc(" + name + ").y * 0.5 + i }");
    else line("while " + name + ".max(0) > 0.75 { " + name + " = " + name + " * 0.5 }");
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
    const std::string agent = agents_[static_cast<std::size_t>(below(agents_.size()))];
    switch (below(14)) {
      case 0: case 1: return update();
      case 2: return let(agent + ".add(" + read() + ").y");
      case 3: return let(agent + ".peek().y");
      case 4: case 5: return call_graph();
      case 6: return line("print(" + value() + ")");
      case 7: return line("print(" + value() + ".array)");
      case 8: return line("print(" + value() + "[" + std::to_string(below(4)) + "].scalar > 0.5, count(" + std::to_string(below(5)) + "))");
      case 9: return loop();
      default: return computation();
    }
  }

  void call_graph() {
    const int number = below(static_cast<std::size_t>(graphs_));
    const std::string name = "c" + std::to_string(next_++);
    std::string call = "g" + std::to_string(number) + "(" + value() + ", " + value();
    if (has_place_[static_cast<std::size_t>(number)]) call += ", " + places_[static_cast<std::size_t>(below(places_.size()))];
    line("let " + name + " = " + call + (chance(50) ? ", n: " + std::to_string(below(4)) + ")" : ")"));
    let(name + ".y");
    if (chance(50)) let(name + ".w");
    if (chance(30)) line("print(" + name + ")");
  }

  void loop() {
    const std::string name = fresh();
    const std::string place = places_[static_cast<std::size_t>(below(places_.size()))];
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
  int next_ = 3, graphs_ = 0;
  std::vector<std::string> values_, places_, agents_;
  std::vector<bool> has_place_;
};

}  // namespace

std::string random_program(std::uint64_t seed, const RandomProgramOptions& options) {
  return Writer(seed, options).program();
}
