// Which host values may differ between shards, and what they may not decide (E1303): as a file, at a prompt, in
// libraries; and random programs, which must do the same on all shards if the checker lets them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <random>

#include "frontend/check.hpp"
#include "ir/show/program_text.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::local_values_test {

namespace {

const std::string prelude =
    "task step(in x: f32[N], in k: int) -> (y: f32[N]) { y = x * 0.5 + (k as f32) }\n"
    "fn now() -> float { return clock() }\n"
    "fn steps(x: f32[N], n: int) -> f32[N] {\n"
    "  var y = x\n"
    "  for i in 0..n { y = step(y, 1).y }\n"
    "  return y\n"
    "}\n"
    "let x = fill(f32[2], 1.0)\n";

// "code 'name' ..." of the first error; empty if it is right.
std::string said(const Diags& diags) {
  for (const Diag& diag : diags.items())
    if (diag.severity == Severity::error) return diag.code.text() + " " + diag.message;
  return "";
}

std::string said_of_file(const std::string& text) {
  Sources sources;
  return said(check_text("test.task", prelude + text, {}, standard_toolbox(), sources).diags());
}

// Line by line; what is right is entered in any case.
std::string said_at_prompt(const std::string& text) {
  Checker checker({.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins});
  std::string first = said(checker.add(checker.sources().add("<0>", prelude)).diags());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string before = program_text(checker.program());
    Result<Checker::Entry> entry = checker.add(checker.sources().add("<1>", text.substr(at, end - at)));
    if (!entry) CHECK(program_text(checker.program()) == before);
    if (first.empty()) first = said(entry.diags());
    at = end + 1;
  }
  return first;
}

std::string decides(const std::string& name, const std::string& agreed) {
  return fmt::format("E1303 '{}' is local to a shard and decides a graph operation; use agree({})", name, agreed);
}
std::string decides(const std::string& name) { return decides(name, name); }
std::string handed(const std::string& name, const std::string& agreed) {
  return fmt::format("E1303 '{}' is local to a shard and is handed to a graph operation; use agree({})", name, agreed);
}
std::string handed(const std::string& name) { return handed(name, name); }

void same_both_ways(const std::string& text, const std::string& expected) {
  CAPTURE(text);
  CHECK(said_of_file(text) == expected);
  CHECK(said_at_prompt(text) == expected);
}

}  // namespace

TEST_CASE("[local] what a local value may not do, in a file and at the prompt") {
  same_both_ways("if clock() > 3.0 { print(step(x, 1).y.array) }", decides("clock()"));
  same_both_ways("let t = clock()\nlet late = t > 3.0\nif late { print(step(x, 1).y.array) }", decides("late"));
  same_both_ways("let start = clock()\nlet t = 3.0\nif t - start > 1.0 { print(x.array) }", decides("start"));
  same_both_ways("if now() > 3.0 { print(x.array) }", decides("now()"));
  same_both_ways("print(steps(x, rank()).array)", decides("rank()"));
  same_both_ways("for i in 0..len(env(\"N\")) { print(steps(x, 1).array) }", decides("env(\"N\")"));
  same_both_ways("var n = 1\nif rank() > 0 { n = 2 }\nprint(step(x, n).y.array)", handed("n"));
  same_both_ways("var n = 1\nfor i in 0..2 { print(step(x, n).y.array); n = rank() }", handed("n"));
  same_both_ways("var y = x\nif rank() > 0 { y = fill(f32[2], 2.0) }\nprint(y.array)", handed("y", "rank()"));
  same_both_ways("for i in 0..3 { print(x.array); if clock() > 3.0 { break } }", decides("clock()"));
  same_both_ways("var l = [1, 2]\nl[0] = rank()\nprint(step(x, l[1]).y.array)", handed("l"));
  same_both_ways("print((x * clock()).array)", handed("clock()"));
  same_both_ways("print(fill(f32[rank()], 1.0).array)", handed("f32[rank()]", "rank()"));
  same_both_ways("print(tensor([clock()], \"f32\").array)", handed("clock()"));
  same_both_ways("let t = rank()\nprint(map([1, 2], i => step(x, i + t).y.array))", handed("t"));
  same_both_ways("print(map([1, rank()], i => step(x, i).y.array))", handed("rank()"));
  same_both_ways("if clock() > 3.0 && x.sum(0).scalar > 1.0 { print(1) }", decides("clock()"));
  same_both_ways("let f = now\nif f() > 3.0 { print(x.array) }", decides("f()"));
  same_both_ways("agent A(k: int) { task t(in x: f32[N]) -> (y: f32[N]) { y = x } }\nlet a = A(rank())",
                 handed("rank()"));
  same_both_ways("let r = run steps(x, 1) on host(threads: rank() + 1)", handed("rank()"));
  same_both_ways("let r = run steps(x, 1) on host\nif r.report.seconds > 3.0 { print(x.array) }",
                 decides("r.report.seconds"));
  same_both_ways("let r = run steps(x, 1) on host\nprint(fill(f32[2], r.report.peak as float).array)",
                 handed("r.report.peak"));
  same_both_ways("if rank() == 0 { print(agree(3)) }", decides("rank()"));
  same_both_ways("fn f(y: f32[2]) -> f32[2] { if rank() > 0 { return y }; return step(y, 1).y }", decides("rank()"));
  same_both_ways("fn pick() -> int { if rank() > 0 { return 1 }; return 2 }\nprint(step(x, pick()).y.array)",
                 handed("pick()"));
  same_both_ways(
      "fn pick() -> int { for i in 0..3 { if rank() > i { return 1 } }; return 2 }\nif pick() == 1 { "
      "print(x.array) }",
      decides("pick()"));
}

TEST_CASE("[local] what it may do") {
  for (const char* text : {
           "let t = clock()\nlet y = steps(x, 3)\nprint(y.array)\nprint(clock() - t)",
           "if clock() > agree(3.0) { print(clock(), env(\"N\"), rank()) }",
           "if env(\"N\") == \"\" { exit(1) }\nprint(x.array)",
           "assert(clock() > 0.0)\nprint(x.array)",
           "let l = [1, 2]\nprint(l[rank()], x.array)",
           "let k = agree(rank()) + shards()\nif k > 0 { print(step(x, k).y.array) }",
           "for i in 0..3 { print(x.array); if clock() > 3.0 { continue } }",
           "var n = rank()\nn = 2\nprint(step(x, n).y.array)",
           "for i in 0..rank() { print(i) }\nprint(x.array)",
           "if rank() == 0 { print(x) }",
           "save(x, \"file\" + env(\"N\") + \".npy\")",
           "fn timed(inout y: f32[2]) -> float { let t = clock(); y = y * 2.0; return clock() - t }\nvar y = x\nlet t "
           "= "
           "timed(y)\nprint(t)\nprint(y.array)",
           "fn twice(f: fn(int) -> int) -> int { var n = 0; if rank() == 0 { n = f(1) }; return n }\nprint(twice(i => "
           "i))",
           "let r = run steps(x, 1) on host\nif r.report.tasks > 0 { print(x.array) }",
           "fn timed(y: f32[2]) -> float { print(y.array); return clock() }\nlet f = timed\nprint(f(x))",
       })
    same_both_ways(text, "");
}

TEST_CASE("[local] functions answer for what they are given") {
  const std::string twice =
      "fn twice(f: fn(int) -> int, t: int) -> int { var n = 0; if t > 0 { n = f(1) }; return n }\n";
  same_both_ways(twice + "print(twice(i => i + 1, rank()))\nprint(twice(i => len(step(x, i).y.array), 3))", "");
  same_both_ways(twice + "print(twice(i => len(step(x, i).y.array), rank()))", decides("rank()"));
  const std::string late = "fn late(f: fn(int) -> int) -> int { var n = 0; if clock() > 3.0 { n = f(1) }; return n }\n";
  same_both_ways(late + "print(late(i => i + 1))", "");
  same_both_ways(late + "print(late(i => len(step(x, i).y.array)))", decides("clock()"));
  const std::string given = "fn given(f: fn(int) -> float) -> float { return f(1) }\n";
  same_both_ways(given + "print(given(i => 2.0))\nif given(i => clock()) > 3.0 { print(x.array) }",
                 decides("given(i => clock())"));
  // Those that call one another, and more parameters than are told apart.
  same_both_ways(
      "fn a(n: int) -> int { var k = n; if n > 0 { k = b(n - 1) }; return k }; fn b(n: int) -> int { return a(n) "
      "}\nprint(step(x, a(3)).y.array)\nprint(step(x, a(rank())).y.array)",
      handed("rank()"));
  std::string parameters, zeros;
  for (int i = 0; i < 70; ++i) parameters += fmt::format("p{}: int, ", i), zeros += "0, ";
  const std::string many = fmt::format("fn many({}last: int) -> int {{ return p66 }}\n", parameters);
  same_both_ways(many + fmt::format("print(step(x, many({}0)).y.array)", zeros), "");
  same_both_ways(many + fmt::format("print(step(x, many({}rank())).y.array)", zeros), handed("rank()"));
}

TEST_CASE("[local] one cause is told once") {
  Sources sources;
  const Diags diags = check_text("test.task",
                                 prelude +
                                     "let t = clock()\nif t > 1.0 { print(x.array) }\nif t > 2.0 { print(x.array) }\n"
                                     "fn f(y: f32[2]) -> f32[2] { if rank() > 0 { return y }; return step(y, 1).y }\n"
                                     "print(f(x).array)\n"
                                     "if now() > 1.0 { print(x.array) }\nif now() > 2.0 { print(x.array) }",
                                 {}, standard_toolbox(), sources)
                          .diags();
  CHECK(diags.size() == 4);  // each now() is one of its own
}

TEST_CASE("[local] a name that becomes local has its users checked again") {
  Checker checker({.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins});
  auto add = [&](const std::string& text) { return checker.add(checker.sources().add("<1>", text)); };
  REQUIRE(add(prelude));
  REQUIRE(add("let n = 3"));
  REQUIRE(add("fn work() -> f32[2] { return steps(x, n) }"));
  Result<Checker::Entry> entry = add("let n = rank()");
  REQUIRE(entry);
  REQUIRE(entry->broken.size() == 1);
  CHECK(entry->broken[0].name == "work");
  CHECK(said(entry->broken[0].diags) == decides("n"));
  CHECK(said(add("var v = 1").diags()).empty());
  CHECK(said(add("v = rank(); missing()").diags()) == "E1001 unknown name 'missing'");
  CHECK(said(add("print(step(x, v).y.array)").diags()).empty());
  REQUIRE(add("v = rank()"));
  CHECK(said(add("print(step(x, v).y.array)").diags()) == handed("v"));
  REQUIRE(add("v = 2"));
  CHECK(said(add("print(step(x, v).y.array)").diags()).empty());
}

TEST_CASE("[local] an entry takes no longer for the local values before it") {
  Checker checker({.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins});
  auto add = [&](const std::string& text) { return checker.add(checker.sources().add("<1>", text)); };
  REQUIRE(add(prelude + "let t0 = clock()"));
  std::set<std::size_t> changes;
  for (int i = 0; i < 200; ++i) {
    REQUIRE(add(fmt::format("let t{} = t{} + 1.0; fn f{}() -> float {{ return t{} }}", i + 1, i, i, i)));
    changes.insert(checker.work().changes);
  }
  CHECK(changes.size() == 1);
  CHECK(said(add("if f199() > 3.0 { print(x.array) }").diags()) == decides("f199()"));
}

namespace {

// Programs of ints and one tensor. Graph operations are steps of it, in branches, loops and functions.
class LocalProgram {
 public:
  explicit LocalProgram(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    std::string text = "task step(in x: f32[2], in k: int) -> (y: f32[2]) { y = x * 0.5 + (k as f32) }\n";
    for (functions_ = 0; functions_ < 3; ++functions_) {
      text += fmt::format("fn f{}(given: f32[2], n0: int) -> f32[2] {{\n  var x = given\n", functions_);
      text += fmt::format("  var n1 = n0; var n2 = 1\n{}  return x\n}}\n", block(1, Place::fn_of_tensor));
      text += fmt::format("fn g{}(n0: int) -> int {{\n  var n1 = n0; var n2 = 1\n", functions_);
      text += fmt::format("{}  return n1 + n2\n}}\n", block(1, Place::fn_of_int));
    }
    return text + "var x = fill(f32[2], 1.0)\nlet n0 = 2; var n1 = 3; var n2 = 4\n" + block(0, Place::top) +
           block(0, Place::top) + "print(x.array)\n";
  }

 private:
  enum class Place { top, fn_of_tensor, fn_of_int };

  std::int64_t pick(std::int64_t low, std::int64_t high) { return between(random_, low, high); }
  std::string name() { return fmt::format("n{}", pick(0, 2)); }
  bool may_call() const { return functions_ > 0 && loops_ == 0; }  // else they would never come to an end
  std::string value() {
    switch (pick(0, 11)) {
      case 0:
        return "shard()";
      case 1:
        return fmt::format("(agree({}) * 0 + 2)", name());  // each run here is a process of its own
      case 2:
        return may_call() ? fmt::format("g{}({})", pick(0, functions_ - 1), name()) : name();
      case 3:
        return fmt::format("[{}, {}][{} % 2]", name(), name(), name());
      case 4:
        return std::to_string(pick(0, 3));
      default:
        return fmt::format("({} + {}) % 5", name(), pick(0, 3));
    }
  }

  std::string block(int depth, Place place) {
    std::string text;
    for (std::int64_t i = pick(1, depth == 0 ? 5 : 3); i > 0; --i)
      text += std::string(2 * static_cast<std::size_t>(depth), ' ') + statement(depth, place) + "\n";
    return text;
  }

  std::string statement(int depth, Place place) {
    const std::string set = fmt::format("n{} = {}", pick(1, 2), value());
    if (place == Place::fn_of_int) return nested(depth, place, set);
    switch (pick(0, 5)) {
      case 0:
        return fmt::format("x = step(x, {}).y", value());
      case 1:
        return "x = step(x, 1).y";
      case 2:
        return may_call() ? fmt::format("x = f{}(x, {})", pick(0, functions_ - 1), value()) : set;
      default:
        return nested(depth, place, set);
    }
  }

  std::string nested(int depth, Place place, const std::string& otherwise) {
    if (depth >= 2 + (loops_ == 0 ? 1 : 0)) return otherwise;
    const std::string end(2 * static_cast<std::size_t>(depth), ' ');
    switch (pick(0, 6)) {
      case 0:
        return fmt::format("if {} > 2 {{\n{}{}}}", value(), block(depth + 1, place), end);
      case 1:
        return fmt::format("if {} > 2 {{\n{}{}}} else {{\n{}{}}}", value(), block(depth + 1, place), end,
                           block(depth + 1, place), end);
      case 2: {
        ++loops_;
        const std::string text =
            fmt::format("for i{} in 0..{} {{\n{}{}}}", depth, value(), block(depth + 1, place), end);
        --loops_;
        return text;
      }
      case 3:
        if (loops_ == 0) return otherwise;
        return fmt::format("if {} > 2 {{ {} }}", value(), pick(0, 1) == 0 ? "break" : "continue");
      case 4:
        if (place == Place::top) return otherwise;
        return fmt::format("if {} > 2 {{ return {} }}", value(), place == Place::fn_of_int ? name() : "x");
      default:
        return otherwise;
    }
  }

  std::mt19937_64 random_;
  std::int64_t functions_ = 0;
  int loops_ = 0;
};

const std::string shard_text = "fn shard() -> int { return parse_int(\"0\" + env(\"TASKSPEC_TEST_SHARD\")) }\n";

std::string on_shard(const std::string& text, const char* shard) {
  ::setenv("TASKSPEC_TEST_SHARD", shard, 1);
  const Ran ran = run_text(text);
  ::unsetenv("TASKSPEC_TEST_SHARD");
  return fmt::format("{}{}{} tasks, code {}", ran.output, ran.errors, ran.report.tasks, ran.code);
}

}  // namespace

TEST_CASE("[local] random programs that are let through do the same on all shards") {
  std::size_t refused = 0, let_through = 0;
  for (std::uint64_t seed : random_seeds(400, 10'000)) {
    CAPTURE(seed);
    const std::string text = shard_text + LocalProgram(seed).text();
    CAPTURE(text);
    Sources sources;
    const std::string wrong = said(check_text("test.task", text, {}, standard_toolbox(), sources).diags());
    if (!wrong.empty()) {
      CHECK(wrong.starts_with("E1303 "));
      ++refused;
      continue;
    }
    ++let_through;
    const std::string first = on_shard(text, "0");
    for (const char* shard : {"1", "3", "4"}) CHECK(on_shard(text, shard) == first);
  }
  if (refused + let_through > 1) {
    CHECK(refused > 10);
    CHECK(let_through > 10);
  }
}

}  // namespace taskspec::local_values_test
