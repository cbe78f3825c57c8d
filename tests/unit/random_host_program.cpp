#include "tests/unit/random_host_program.hpp"

#include <random>
#include <vector>

#include "tests/unit/random_cases.hpp"

namespace {

// What the generated statements call. `half`, `grow` and `walk` are plain host code: their results cross over.
constexpr const char* definitions = R"(let scale = 0.5
let table = [3, 1, 4, 1, 5]
let base = [0.5, -0.25, 1.0] as f32[3]
task inc(in x: f32[N]) -> (y: f32[N]) { y = x * 0.5 + 1.0 }
task add(in x: f32[N], in k: float) -> (y: f32[N]) { y = x + k }
task bump(inout r: f32[N], in d: f32[N]) -> (t: f32[1]) { r = r * 0.5 + d; t = r.sum(0) }
task risky(in x: f32[N], in d: int) -> (y: f32[N]) { y = x * ((4 / (fill(i32[N], 1) * d)) as f32[N]) }
graph twice(x: f32[N]) -> (y: f32[N]) { y = inc(inc(x).y).y }
graph shrunk(x: f32[N]) -> (y: f32[N]) { y = x; while y.max(0) > 2.0 { y = y * 0.5 } }
agent Counter(step: float) {
  state n: f32[1] = zero()
  task tick(in x: f32[3]) -> (y: f32[3]) { n += step; y = x + n }
  fn two(x: f32[3]) -> f32[3] { return tick(tick(x).y).y }
}
fn half(n: int) -> int { return n / 2 }
fn grow(l: [float], v: float) -> [float] { return l + [v * 0.5] }
fn walk(n: int) -> int { var k = n
  var turns = 0
  while k > 1 { if k % 2 == 0 { k = k / 2 } else { k = k * 3 + 1 }
    turns += 1
    if turns > 20 { break } }
  return turns }
fn power(x: f32[N], n: int) -> f32[N] {
  if n == 0 { return x * 0.0 + 1.0 }
  if n % 2 == 0 { return power(x * 0.5, n / 2) }
  return x * power(x, n - 1) }
fn even(x: f32[N], n: int) -> f32[N] { if n == 0 { return x }
  return odd(x + 1.0, n - 1) }
fn odd(x: f32[N], n: int) -> f32[N] { if n == 0 { return x * 0.5 }
  return even(x - 0.5, n - 1) }
fn settle(x: f32[N], n: int) -> (f32[N], int) {
  var y = x
  var k = 0
  while y.sum(0).scalar > 1.0 && k < n { y = y * 0.5
    k += 1 }
  return (y, k) }
fn report(x: f32[N], tag: int) -> float {
  let s = x.sum(0).scalar
  if tag % 3 == 0 { print("tag", tag, s) }
  return s + tag }
fn descend(x: f32[N], l: [int], n: int) -> float {
  if n >= len(l) { return x.max(0).scalar }
  let s = inc(x).y.sum(0).scalar
  if s > 4.0 { return s }
  return s + descend(x + l[n], l, n + 1) }
fn apply(f: fn(f32[3]) -> f32[3], x: f32[3], n: int) -> f32[3] { var y = x
  for i in 0..n { y = f(y) }
  return y }
)";

// What prints from inside the graph: everywhere a function can stand.
constexpr const char* showing = R"(graph noted(x: f32[N]) -> (y: f32[N]) { graph_print("graph noted", x); y = inc(x).y }
fn shown(x: f32[N], n: int) -> f32[N] { var y = x
  for i in 0..n { graph_print("graph turn", y); y = y * 0.5 }
  return y }
fn told(x: f32[N], n: int) -> f32[N] { if n > 1 { print("told", n) }
  graph_print("graph told", x)
  if n > 2 { return x * 0.5 }
  return noted(x).y }
fn sunk(x: f32[N], n: int) -> f32[N] { if n <= 0 { return shown(x, 1) }
  graph_print("graph sunk", x)
  return sunk(x * 0.5, n - 1) }
)";

class Writer {
 public:
  Writer(std::uint64_t seed, const RandomHostProgramOptions& options) : random_(seed), options_(options) {}

  std::string program() {
    line("var t0 = base");
    line("var t1 = fill(f32[3], 1.5)");
    line("var i0 = 2");
    line("var i1 = parse_int(\"5\")");
    line("var f0 = 0.75");
    line("var l0 = [1.0, 0.5, 0.25]");
    line("var p0 = base * 1.0");
    line("let c0 = Counter(0.5)");
    line("let c1 = Counter(parse_float(\"0.25\"))");
    block(options_.statements, 0);
    for (const char* name : {"t0", "t1", "p0"}) line(std::string("print(") + name + ".array)");
    line("print(i0, i1, f0, l0, t0)");
    return definitions + std::string(options_.shows ? showing : "") + text_;
  }

 private:
  bool chance(int percent) { return between(random_, 1, 100) <= percent; }
  int below(int n) { return static_cast<int>(between(random_, 0, n - 1)); }
  std::string number(int n) { return std::to_string(n); }
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }
  std::string fresh() { return "n" + std::to_string(next_++); }

  // ---- expressions ----

  std::string tensor() { return chance(70) ? (chance(50) ? "t0" : "t1") : (chance(50) ? "base" : "p0"); }
  std::string integer(int deep = 0) {
    switch (below(deep > 1 ? 4 : 10)) {
      case 0:
        return "i0";
      case 1:
        return "i1";
      case 2:
        return loops_.empty() ? number(below(5))
                              : loops_[static_cast<std::size_t>(below(static_cast<int>(loops_.size())))];
      case 3:
        return number(below(6));
      case 4:
        return "half(" + integer(deep + 1) + ")";
      case 5:
        return "(" + integer(deep + 1) + " + " + integer(deep + 1) + ")";
      case 6:
        return "len(l0)";
      case 7:
        return "(" + tensor() + ".argmax(0).scalar)";
      case 8:
        return "walk(" + integer(deep + 1) + " % 9)";
      default:
        return "table[" + small() + "]";
    }
  }
  std::string small() { return "((" + integer(1) + ") % 3 + 2) % 3"; }  // 0, 1, 2; negative ones too
  std::string turns() { return "minimum(maximum(" + integer(1) + ", 0), 3)"; }
  std::string real(int deep = 0) {
    switch (below(deep > 1 ? 3 : 7)) {
      case 0:
        return "f0";
      case 1:
        return "scale";
      case 2:
        return chance(50) ? "0.25" : "1.5";
      case 3:
        return "l0[" + number(0) + "]";
      case 4:
        return "(" + real(deep + 1) + " * 0.5 + " + real(deep + 1) + " * 0.25)";
      case 5:
        return tensor() + ".mean(0).scalar";
      default:
        return "clamp(" + integer(1) + " * 0.125, -1.0, 1.0)";
    }
  }
  std::string condition() {
    switch (below(6)) {
      case 0:
        return integer() + " % 2 == 0";
      case 1:
        return real() + " > 0.5";
      case 2:
        return tensor() + ".sum(0).scalar > 1.0";
      case 3:
        return "i0 > 1 && " + tensor() + ".max(0).scalar < 2.0";
      case 4:
        return "walk(" + integer(1) + " % 7) > 2 || f0 > 1.0";
      default:
        return "len(l0) > 3";
    }
  }
  std::string value() {
    switch (below(14)) {
      case 0:
        return "inc(" + tensor() + ").y";
      case 1:
        return "twice(" + tensor() + ").y";
      case 2:
        return tensor() + " * 0.5 + " + real();
      case 3:
        return "add(" + tensor() + ", " + real() + ").y";
      case 4:
        return tensor() + " * 0.25 + tensor([" + real() + ", " + real() + ", 0.5])";
      case 5:
        return "power(" + tensor() + ".tanh(), " + turns() + ")";
      case 6:
        return "even(" + tensor() + " * 0.5, " + turns() + ")";
      case 7:
        return "c" + number(below(2)) + ".tick(" + tensor() + " * 0.25).y";
      case 8:
        return "c" + number(below(2)) + ".two(" + tensor() + " * 0.25)";
      case 9:
        return std::string("apply(x => x * 0.5 + ") + (chance(50) ? "f0" : "scale") + ", " + tensor() + ", " + turns() +
               ")";
      case 10:
        return "shrunk(" + tensor() + ").y";
      case 11:
        return "(fill(f32[2], 0.5) * " + real() + ")[0..1].sum(0) + " + tensor() + " * 0.25";
      case 12:
        return "(run twice(" + tensor() + ") on host(threads: 1)).y";
      default:
        return "where(" + tensor() + " > 0.5, " + tensor() + ", " + tensor() + " * 0.5)";
    }
  }

  // ---- statements ----

  void block(int statements, int deep) {
    for (int i = 0; i < statements; ++i) statement(deep);
  }
  void braces(const std::string& head, int statements, int deep) {
    line(head + " {");
    ++depth_;
    block(statements, deep + 1);
    --depth_;
  }
  void loop(const std::string& head, int deep) {
    line(head + " {");
    ++depth_;
    block(1 + below(3), deep + 1);
    if (chance(25)) line("if " + condition() + (chance(50) ? " { break }" : " { continue }"));
    --depth_;
    line("}");
  }

  void statement(int deep) {
    if (deep < 2 && chance(30)) return control(deep);
    if (options_.failures && chance(4)) return failure();
    if (options_.shows && chance(20)) return show();
    switch (below(12)) {
      case 0:
      case 1:
        return line((chance(50) ? "t0 = " : "t1 = ") + value());
      case 2:
        return line((chance(50) ? "i0 = (" : "i1 = (") + integer() + ") % 11");
      case 3:
        return line("f0 = clamp(" + real() + ", -2.0, 2.0)");
      case 4:
        return line("if len(l0) < 6 { l0 = grow(l0, " + real() + ") }");
      case 5:
        return line("l0[" + small() + "] = clamp(" + real() + ", -2.0, 2.0)");
      case 6:
        return line("print(" + integer() + ", " + real() + ", " + tensor() + ")");
      case 7:
        return line("f0 = clamp(report(" + value() + ", " + integer(1) + " % 5), -2.0, 2.0)");
      case 8:
        return line("print(bump(p0, " + tensor() + " * 0.25).t.scalar)");
      case 9: {
        const std::string name = fresh();
        line("let " + name + " = settle(" + value() + " + 1.0, " + turns() + ")");
        line("let (" + name + "a, " + name + "b) = " + name);
        line("t0 = " + name + "a");
        return line("i0 = (i0 + " + name + "b) % 11");
      }
      case 10:
        return line("print(descend(" + tensor() + ", [1, " + integer(1) + " % 3, 0], 0))");
      default:
        return line("print(map([1, 2, " + integer(1) + "], n => n * 2 + i0), format(\"{:.3f}\", " + real() + "))");
    }
  }

  void control(int deep) {
    switch (below(5)) {
      case 0:
        braces("if " + condition(), 1 + below(3), deep);
        if (!chance(50)) return line("}");
        braces("} else", 1 + below(2), deep);
        return line("}");
      case 1: {
        const std::string name = fresh(), end = turns();
        loops_.push_back(name);
        loop("for " + name + " in 0.." + end, deep);
        loops_.pop_back();
        return;
      }
      case 2: {
        const std::string name = fresh();
        line("var " + name + " = 0");
        line("while " + name + " < 3 && (" + condition() + ") {");
        ++depth_;
        line(name + " += 1");
        block(1 + below(3), deep + 1);
        if (chance(30)) line("if " + condition() + " { break }");
        --depth_;
        return line("}");
      }
      case 3: {
        const std::string name = fresh();
        line("for " + name + " in [" + real() + ", " + real() + "] {");
        ++depth_;
        line("t1 = t1 * 0.5 + " + (chance(60) ? name : std::string("0.25")));
        block(1 + below(2), deep + 1);
        --depth_;
        return line("}");
      }
      default: {
        const std::string name = fresh();
        line("for " + name + " in [t0, " + value() + "] {");
        ++depth_;
        line("t1 = t1 * 0.5 + " + name + " * 0.25");
        if (chance(50)) line("print(" + name + ".sum(0).scalar, len([" + name + ", t1]))");
        --depth_;
        return line("}");
      }
    }
  }

  void failure() {
    switch (below(3)) {
      case 0:
        return line("t0 = risky(t0, " + integer(1) + " % 2).y");
      case 1:
        return line("i0 = 7 / (" + integer(1) + " % 3)");
      default:
        return line("f0 = l0[" + integer(1) + "]");
    }
  }

  void show() {
    const std::string name = fresh();
    switch (below(9)) {
      case 0:
      case 1:
        return line("graph_print(\"graph " + name + "\", " + value() + ")");
      case 2:
        return line("t0 = noted(" + tensor() + ").y");
      case 3:
        return line("t1 = shown(" + tensor() + ", " + (chance(50) ? turns() : "2") + ")");
      case 4:
        return line("t0 = told(" + tensor() + ", " + integer() + " % 4)");
      case 5:
        return line("t1 = sunk(" + tensor() + ", " + turns() + ")");
      case 6:
        return line("t0 = apply(x => " + std::string(chance(50) ? "told(x, 1)" : "shown(x, 1)") + ", " + tensor() +
                    ", " + turns() + ")");
      case 7:
        return line("t1 = (run noted(" + tensor() + ") on host(threads: 1)).y");
      default:
        return line(chance(50) ? "assert(" + integer() + " != 4, \"four\")"
                               : "if " + condition() + " && i0 > 3 { exit(" + number(below(3)) + ") }");
    }
  }

  std::mt19937_64 random_;
  const RandomHostProgramOptions options_;
  std::string text_;
  std::vector<std::string> loops_;
  std::size_t depth_ = 0;
  int next_ = 0;
};

}  // namespace

std::string random_host_program(std::uint64_t seed, const RandomHostProgramOptions& options) {
  return Writer(seed, options).program();
}
