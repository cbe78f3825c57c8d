// Compact programs: what functions are made into, and that they do what their forms say: values, places and texts of
// errors, limits, Ctrl-C; and that a turn of a loop allocates nothing.
#include "interp/control/compact.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "frontend/check.hpp"
#include "interp/control/facts.hpp"
#include "tests/unit/failing_memory.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::compact_test {

namespace {

// The compact program of a function's body.
std::string compact_of(const std::string& program_text, std::string_view function, bool in_graph = false) {
  Sources sources;
  const SourceId main = sources.add("test.task", program_text);
  Result<Program> program =
      check(sources, main, {.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins});
  REQUIRE(program);
  Facts facts(*program);
  for (std::size_t i = 0; i < program->functions.size(); ++i) {
    const FunctionId id(i);
    if (program->display_name(id) != function) continue;
    return text(facts.compact(id, (*program)[id].body, in_graph),
                {*program, (*program)[id], facts.function(id), in_graph});
  }
  FAIL("no such function");
  return "";
}

void check_both(const std::string& program, const std::string& output, int code = 0, std::string_view error = "") {
  for (const Ran& ran : {run_text(program), run_text_directly(program)}) {
    CHECK(ran.output == output);
    CHECK_MESSAGE(ran.code == code, ran.errors);
    CHECK_MESSAGE(ran.errors.find(error) != std::string::npos, ran.errors);
    if (error.empty()) CHECK(ran.errors == "");
  }
}

// Allocations of a whole run.
std::int64_t allocations(const std::string& program) {
  constexpr std::int64_t none_fails = INT64_MAX;
  FailingMemory memory(none_fails);
  const Ran ran = run_text(program);
  const std::int64_t made = memory.counted();
  memory.stop();
  CHECK_MESSAGE(ran.code == 0, ran.errors);
  return made;
}

}  // namespace

TEST_CASE("[compact] a function is one list of instructions on registers") {
  const std::string text =
      "fn fib(n: int) -> int {\n  if n < 2 { return n }\n  return fib(n - 1) + fib(n - 2)\n}\nprint(fib(5))\n";
  CHECK(compact_of(text, "fib") ==
        "  0  unless_lt_ints_constant r0, 2 -> 3\n"
        "  1  branch r1 -> 3\n"
        "  2  give r0\n"
        "  3  sub_ints_constant r3, r0, 1\n"
        "  4  call r4 = fib(r3)\n"
        "  5  sub_ints_constant r3, r0, 2\n"
        "  6  call r3 = fib(r3)\n"
        "  7  add_ints r3, r4, r3\n"
        "  8  give r3\n"
        "  9  leave next\n");
  // In a graph each of them may become a node.
  CHECK(compact_of(text, "fib", true).find("  1  node -> 4\n") != std::string::npos);
}

TEST_CASE("[compact] values are made where they are written, variables read where they stand") {
  const std::string loop =
      "fn work(n: int) -> int {\n  var s = 0\n  for i in 0..n { s = s + i * 3 }\n  return s\n}\nprint(work(3))\n";
  const std::string text = compact_of(loop, "work");
  INFO(text);
  CHECK(text.find("copy r1, 0\n") != std::string::npos);
  CHECK(text.find("mul_ints_constant") != std::string::npos);
  CHECK(text.find("add_ints r1, r1, ") != std::string::npos);
  CHECK(text.find("step %") == text.rfind("step %"));  // the range alone

  const std::string list =
      "fn work(n: int) -> [int] {\n  var l = [1]\n  l += [n]\n  l[0] = l[1]\n  return l\n}\nprint(work(3))\n";
  const std::string lists = compact_of(list, "work");
  INFO(lists);
  CHECK(lists.find("append r1, r0\n") != std::string::npos);
  CHECK(lists.find("item ") != std::string::npos);
  CHECK(lists.find("store r1, ") != std::string::npos);
}

TEST_CASE("[compact] of turns that are launches and numbers the next ones are numbers alone") {
  const auto turns = [](const std::string& body) {
    return compact_of(
        "fields Cell { a: int }\ntask one(inout c: Cell[_].{a}, in t: int) { for i in c { c[i].a = t } }\n"
        "fn work(n: int) {\n  let cells = region Cell[4]\n  var p = blocks(cells, 4)\n  var s = 1\n"
        "  for t in 0..n {\n" +
            body + "  }\n}\nwork(3)\n",
        "work");
  };
  const std::string text =
      turns("launch one(p[i], 2 * t) for i in 0..n\ns = s + t\nlaunch one(p[i], s) for i in 0..4\n");
  INFO(text);
  const std::size_t next = text.find("turns_again"), again = text.find("launch_again", next);
  REQUIRE(again != std::string::npos);
  CHECK(text.find("launch_again", again + 1) != std::string::npos);
  const std::string alone = text.substr(text.find("jump", next));
  CHECK(alone.find("constant_mul_ints") != std::string::npos);
  CHECK(alone.find("add_ints") != std::string::npos);
  CHECK(alone.find("project") == std::string::npos);
  CHECK(alone.find("step") == std::string::npos);  // no range, no launch
  CHECK(alone.find("poll_again") != std::string::npos);
  for (const char* body :
       {"launch one(p[i], t) for i in 0..s\n", "let m = 2 * s\nlaunch one(p[i], t) for i in 0..m\n",
        "let m = s - 1\nlaunch one(p[i + m], m) for i in 0..1\n", "launch one(p[i], 2 * i + s) for i in 0..n\n"}) {
    CAPTURE(body);
    CHECK(turns(body).find("launch_again") != std::string::npos);
  }
  // What may change more than numbers.
  for (const char* body :
       {"s = s + t\n", "launch one(p[i], t) for i in 0..t\n", "s = s + 1\nlaunch one(p[i], t) for i in 0..s\n",
        "let m = t % 2\nlaunch one(p[i + m], m) for i in 0..1\n", "launch one(p[i * t], t) for i in 0..1\n",
        "launch one(p[i], t) for i in 0..n\nif s > 3 { s = 1 }\n",
        "launch one(p[i], t) for i in 0..n\nlet q = p\np = q\n", "launch one(p[i], 2 * i + t) for i in 0..n\n",
        "launch one(p[i], t) for i in 0..n\nprint(s)\n", "one(p[0], t)\n"}) {
    CAPTURE(body);
    CHECK(turns(body).find("_again") == std::string::npos);
  }
}

TEST_CASE("[compact] conversions, lengths and rests are instructions") {
  const std::string text = compact_of(
      "fn work(l: [int], x: float, i: int) -> float {\n  var s = x % 2.5\n  s = s + (i as float) % x\n"
      "  let n = s as int\n  for k in 0..3 { s = s + len(l) + len(0..k) + n }\n  return s\n}\nprint(work([1], 2, 3))\n",
      "work");
  INFO(text);
  for (const char* name : {"mod_floats_constant r", "mod_floats r", "to_float r", "to_int r", "length r"})
    CHECK(text.find(name) != std::string::npos);
  CHECK(text.find(" type\n") == std::string::npos);
  CHECK(text.find(" builtin\n") == std::string::npos);
  // Of what is no number or list the form knows more.
  const std::string others = compact_of(
      "fn f(s: string, b: bool) -> int {\n  let n = b as int\n  return len(s) + n\n}\nprint(f(\"a\", true))\n", "f");
  INFO(others);
  CHECK(others.find("to_int") == std::string::npos);
  CHECK(others.find(" type\n") != std::string::npos);
  CHECK(others.find(" builtin\n") != std::string::npos);
}

TEST_CASE("[compact] conversions, lengths and rests give what they always gave") {
  check_both(
      "fn f(x: float) -> int { return x as int }\nlet n = 0.0 / 0.0\n"
      "print(f(0.5), f(1.5), f(2.5), f(-2.5), f(-0.4), f(1e300), f(-1e300), f(n))\n",
      "0 2 2 -2 0 9223372036854775807 -9223372036854775808 0\n");
  check_both(
      "fn f(i: int, b: bool) -> float { return (i as float) / 2 + (b as float) + (i as int) }\n"
      "print(f(3, true), f(-9223372036854775807, false))\n",
      "5.5 -1.3835058055282164e+19\n");
  check_both(
      "fn f(a: float, b: float) -> float { return a % b }\nfn g(a: int, b: float) -> float { return a % b + b % a }\n"
      "print(f(7.5, 2), f(-7.5, 2), f(7.5, -2), f(1, 0), f(0.3, 1.0 / 0.0), g(-7, 2.5))\n",
      "1.5 -1.5 1.5 nan 0.3 0.5\n");
  check_both(
      "fn f(a: int, b: int) -> [int] { return [a / b, a % b] }\nlet least = -9223372036854775807 - 1\n"
      "print(f(-7, 2), f(7, -2), f(-7, -1), f(least, 3), f(least + 1, -1))\n",
      "[-3, -1] [-3, 1] [7, 0] [-3074457345618258602, -2] [9223372036854775807, 0]\n");
  check_both(
      "fn f(l: [f32[2]], m: [[int]], r: range) -> int { return len(l) * 100 + len(m) * 10 + len(r) }\n"
      "print(f([fill(f32[2], 1.0)], [], 3..7))\nvar l = [1]\nl += [len(l)]\nprint(l, len(l), len(\"né\"))\n",
      "104\n[1, 1] 2 2\n");
}

TEST_CASE("[compact] what is read before it is changed keeps its value") {
  check_both(
      "fn f(n: int) -> int {\n  var a = n\n  let b = a\n  a = a + 1\n  let c = a\n  a = 10\n  return b * 100 + c\n}\n"
      "print(f(3))\n",
      "304\n");
  check_both("fn f() -> bool {\n  var ok = true\n  ok = ok && !ok || ok\n  return ok\n}\nprint(f())\n", "true\n");
  check_both(
      "fn f() -> [int] {\n  var l = [1, 2, 3]\n  let k = l\n  l[0] = 7\n  l += [l[0]]\n  for x in l { l += [x] }\n"
      "  return l + k\n}\nprint(f())\n",
      "[7, 2, 3, 7, 7, 2, 3, 7, 1, 2, 3]\n");
  check_both(
      "var i = 5\nvar a = [i, i]\nwhile i > 0 {\n  i = i - 1\n  let j = i\n  i = i - 1\n  a += [j, i]\n}\nprint(a)\n",
      "[5, 5, 4, 3, 2, 1, 0, -1]\n");
}

TEST_CASE("[compact] loops end where break, continue and return say, nested ones too") {
  check_both(
      "fn f(n: int) -> int {\n  var s = 0\n  for i in 0..n {\n    if i == 2 { continue }\n    var j = 0\n"
      "    while true {\n      j += 1\n      if j > i { break }\n      if j == 2 { continue }\n      s += j\n"
      "      for k in [1, 2, 3] {\n        if k == 2 { break }\n        if s > 40 { return s * 100 + k }\n      }\n"
      "    }\n  }\n  return s\n}\nprint(f(3), f(6), f(100))\n",
      "1 26 4501\n");
  check_both(
      "for i in 0..3 {\n  for j in 0..3 {\n    if j == 1 { continue }\n    if i == 1 { break }\n    print(i, j)\n"
      "  }\n}\n",
      "0 0\n0 2\n2 0\n2 2\n");
}

TEST_CASE("[compact] errors keep their texts and places") {
  check_both(
      "fn f(a: int) -> int {\n  var s = a\n  for i in 0..100 { s = s * 3 + i }\n  return s\n}\nprint(1)\nprint(f(7))\n",
      "1\n", 3, "error E5001: 3264558317709730863 * 3 overflows int\n --> test.task:3:25");
  check_both("fn f(a: int) -> int { return a + 1 }\nprint(f(9223372036854775807))\n", "", 3,
             "error E5001: 9223372036854775807 + 1 overflows int\n --> test.task:1:30");
  check_both("fn f(a: int) -> int { return -a }\nprint(f(-9223372036854775807 - 1))\n", "", 3, "error E5001");
  check_both("fn f(a: int) -> int { return a / (a - a) }\nprint(f(3))\n", "", 3,
             "error E5002: division by zero: 3 / 0\n --> test.task:1:30");
  check_both("fn f(a: int) -> int { return a % (a - a) }\nprint(f(3))\n", "", 3,
             "error E5002: division by zero: 3 % 0");
  check_both("fn f(l: [int], i: int) -> int { return l[i] }\nprint(f([1, 2], 1), f([1, 2], 2))\n", "", 3,
             "error E5003: index 2 is outside a list of 2\n --> test.task:1:40");
  check_both("fn f(i: int) -> int {\n  var l = [1]\n  l[i] = 2\n  return l[0]\n}\nprint(f(0), f(-1))\n", "", 3,
             "error E5003: index -1 is outside a list of 1\n --> test.task:3:3");
  check_both("fn f(a: int) -> int { return a / -1 + a % -1 }\nprint(f(5), f(-9223372036854775807 - 1))\n", "", 3,
             "error E5001: -9223372036854775808 / -1 overflows int");
}

TEST_CASE("[compact] floats and ints mix as they always did") {
  check_both("fn f(a: int, x: float) -> float { return a * x + x / a - a }\nprint(f(3, 0.5), f(-2, 4))\n",
             "-1.3333333333333333 -8\n");
  check_both(
      "fn f(x: float) -> bool { return x < 1 || x >= 1 || x == x }\nlet n = 0.0 / 0.0\nprint(f(n), f(2), n != n)\n",
      "false true true\n");
  check_both(
      "fn f(x: float) -> [float] {\n  var l = [x]\n  l += [1.5]\n  l[0] = 3\n  return l\n}\nprint(f(1), f(2)[0] / 2)\n",
      "[3, 1.5] 1.5\n");
  check_both("fn f(a: int, b: int) -> bool { return a * 1.0 == b }\nprint(f(3, 3), f(3, 4), !f(1, 1))\n",
             "true false false\n");
}

TEST_CASE("[compact] a loop without any effect is interrupted") {
  std::atomic<bool> stop = false;
  RunSettings settings;
  settings.interrupted = &stop;
  std::thread ctrl_c([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  const Ran ran =
      run_text("fn f() -> int {\n  var i = 0\n  while i >= 0 { i = i % 7 + 1 }\n  return i\n}\nprint(f())\n", settings);
  ctrl_c.join();
  CHECK(ran.code == 130);
  CHECK(ran.output == "");
}

TEST_CASE("[compact] a turn of a loop and a call of a function allocate nothing") {
  const std::string loops[] = {
      "fn work(n: int) -> int {\n  var s = 0\n  for i in 0..n { s = s + i * 3 % 7 }\n  return s\n}\nprint(work({}))\n",
      "fn work(n: int) -> float {\n  var x = 0.0\n  var i = 0\n  while i < n && x >= 0.0 {\n    x = x * 0.5 + i * "
      "0.25\n"
      "    i += 1\n  }\n  return x\n}\nprint(work({}))\n",
      "fn work(n: int) -> int {\n  var l = [1, 2, 3, 4]\n  for i in 0..n { l[i % 4] = l[(i + 1) % 4] + 1 }\n"
      "  var s = 0\n  for i in 0..n { for x in l { if x % 2 == 0 { s += x % 3 } } }\n  return s\n}\nprint(work({}))\n",
      "fn add(a: int, x: float) -> float {\n  if a > 3 { return a + x }\n  return x\n}\n"
      "fn work(n: int) -> float {\n  var x = 0.0\n  for i in 0..n { x = add(i, x) }\n  return x\n}\nprint(work({}))\n",
      "fn fib(n: int) -> int {\n  if n < 2 { return n }\n  return fib(n - 1) + fib(n - 2)\n}\n"
      "fn work(n: int) -> int {\n  var s = 0\n  for i in 0..n / 100 { s += fib(6) }\n  return s\n}\nprint(work({}))\n",
      "var s = 0\nfor i in 0..{} { s = s + i * 3 % 7 }\nprint(s)\n",
      "fn work(l: [int], n: int) -> float {\n  var x = 0.0\n  for i in 0..n {\n    let k = x as int\n"
      "    x = ((i as float) + k) % 3.5 + len(l) - i % -7\n  }\n  return x\n}\nprint(work([1, 2], {}))\n",
  };
  for (const std::string& loop : loops) {
    CAPTURE(loop);
    auto with = [&](const std::string& turns) { return std::string(loop).replace(loop.find("{}"), 2, turns); };
    (void)allocations(with("100"));
    const std::int64_t few = allocations(with("1000")), many = allocations(with("41000"));
    CHECK(many - few < 50);  // one at each some thousand turns would be seen
  }
}

}  // namespace taskspec::compact_test
