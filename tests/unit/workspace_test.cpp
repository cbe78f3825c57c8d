// A program written entry by entry: what stands after an error, names defined again, and what is said about the graph.
#include "include/taskspec/workspace.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::workspace_test {
using Status = Workspace::Status;

namespace {

struct Case {
  std::string output;
  Workspace work{{.output = [this](std::string_view text) { output += text; }}};

  Workspace::Answer ok(std::string_view text) {
    Workspace::Answer answer = work.enter(text);
    CHECK_MESSAGE(answer.status == Status::ok, text << "\n" << answer.diagnostics);
    return answer;
  }
  std::string value(std::string_view text) { return ok(text).value; }
  std::string error(std::string_view text) {
    Workspace::Answer answer = work.enter(text);
    CHECK(answer.status != Status::ok);
    return answer.diagnostics.substr(0, answer.diagnostics.find('\n'));
  }
};

constexpr const char* tasks = R"(
task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }
task dbl(in x: f32[N]) -> (y: f32[N]) { y = x * 2.0 }
task add(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a + b })";

}  // namespace

TEST_CASE("[repl] a value that was shown stays when another one is shown") {
  Case c;
  c.ok(tasks);
  c.ok("let a = inc(fill(f32[3], 1.0))");
  c.ok("let b = a");
  c.ok("a");  // _ is another name of it
  c.ok("1");
  CHECK(c.value("a.y") == "[2, 2, 2]");
  c.ok("let a = 5");
  CHECK(c.value("b.y") == "[2, 2, 2]");
}

TEST_CASE("[repl] a variable that becomes a place later is one of its own, also when it began as another") {
  Case c;
  c.ok("task bump(inout r: f64[1], in d: f64[1]) -> (t: f64[1]) { r = r * 10.0 + d; t = r }");
  c.ok("let one = [1.0] as f64[1]");
  c.ok("var a = one * 2.0");
  c.ok("bump(a, one)");
  c.ok("var c = a");
  c.ok("let old = a");
  c.ok("bump(c, one)");
  c.ok("bump(a, one)");
  c.ok("bump(a, one)");
  CHECK(c.value("c") == "[211]");
  CHECK(c.value("a") == "[2111]");
  CHECK(c.value("old") == "[21]");
}

TEST_CASE("[repl] values live from entry to entry") {
  Case c;
  c.ok("let n = 4");
  c.ok("var total = 0");
  c.ok("let x = iota(n) as f32[n]");
  c.ok("for i in 0..n { total += i }");
  CHECK(c.value("total") == "6");
  CHECK(c.value("x") == "[0, 1, 2, 3]");
  CHECK(c.value("(x + 1.0).shape") == "[4]");
  CHECK(c.value("\"text\"") == "\"text\"");
  c.ok("var l = [1]");
  c.ok("l += [2]; l[0] = 7");
  CHECK(c.value("l") == "[7, 2]");
  c.ok("fn twice(i: int) -> int { return 2 * i + n }");
  CHECK(c.value("twice(3)") == "10");
  CHECK(c.value("_ + 1") == "11");
  CHECK(c.value("_") == "11");
  CHECK(c.value("5;") == "");
  CHECK(c.value("_") == "5");
  c.ok("print(total, n)");
  CHECK(c.output == "6 4\n");
}

TEST_CASE("[repl] extents that only the run knows live on") {
  Case c;
  c.ok("let n = len([1, 2, 3])");
  c.ok("let x = fill(f32[n], 2.0)");
  c.ok("fn first(v: f32[N]) -> f32[N] { return v + 1.0 }");
  CHECK(c.value("x + fill(f32[n], 1.0)") == "[3, 3, 3]");
  CHECK(c.value("first(x)") == "[3, 3, 3]");
  CHECK(c.error("x + fill(f32[n + 1], 1.0)").find("shapes differ") != std::string::npos);
}

TEST_CASE("[repl] places and slots keep their versions") {
  Case c;
  c.ok("task bump(inout r: f64[1], in d: f64[1]) { r += d }");
  c.ok("var r = [1.0] as f64[1]");
  c.ok("bump(r, [2.0] as f64[1])");
  c.ok("bump(r, [3.0] as f64[1])");
  CHECK(c.value("r") == "[6]");
  c.ok("agent Counter { state n: i32[1] = zero()\n task count(in d: i32[1]) -> (now: i32[1]) { n += d; now = n } }");
  c.ok("let counter = Counter()");
  c.ok("counter.count([2] as i32[1])");
  CHECK(c.value("counter.count([5] as i32[1])") == "[7]");
}

TEST_CASE("[repl] an entry that is wrong changes nothing") {
  Case c;
  c.ok("let n = 4");
  CHECK(c.error("let n = 5; let m = unknown") == "error E1001: unknown name 'unknown'");
  CHECK(c.value("n") == "4");
  CHECK(c.error("m") == "error E1001: unknown name 'm'");
  CHECK(c.error("fn f() -> int { return \"no\" }").starts_with("error E1004"));
  CHECK(c.error("f()") == "error E1001: unknown name 'f'");
  CHECK(c.error("let = 3").starts_with("error E0001"));
  CHECK(c.error("agent A { task t(in x: f32[N]) -> (y: f32[N]) { z = x } }").starts_with("error"));
  CHECK(c.error("A()") == "error E1001: unknown name 'A'");
  CHECK(c.value("n + 1") == "5");
}

TEST_CASE("[repl] an entry that fails defines nothing; what it did to older variables stays") {
  Case c;
  c.ok("var k = 1");
  c.ok("let old = 1");
  c.ok("let zero = len([1]) - 1");
  CHECK(c.error("k = 2; let old = 2; let q = 1 / zero; let late = 3").starts_with("error E5002"));
  CHECK(c.value("k") == "2");
  CHECK(c.value("old") == "1");
  CHECK(c.error("q") == "error E1001: unknown name 'q'");
  CHECK(c.error("late") == "error E1001: unknown name 'late'");
  c.ok("fn reads_old() -> int { return old }");
  CHECK(c.error("let old = 1 / zero").starts_with("error E5002"));
  CHECK(c.value("old") == "1");
  CHECK(c.value("reads_old()") == "1");
  CHECK(c.error("let reads_old = 1 / zero").starts_with("error E5002"));
  CHECK(c.value("reads_old()") == "1");
  CHECK(c.error("fn g() -> int { return g() + 1 }\nprint(g())").starts_with("error E5006"));
  CHECK(c.value("k") == "2");
}

TEST_CASE("[repl] what uses a name that is defined again is checked again") {
  Case c;
  c.ok("agent Scale(k: float) { task apply(in x: f32[N]) -> (y: f32[N]) { y = k * x } }");
  c.ok("graph g(x: f32[N]) -> (y: f32[N]) { y = Scale(2.0).apply(x).y }");
  c.ok("graph h(x: f32[N]) -> (y: f32[N]) { y = g(x).y }");
  c.ok("let one = fill(f32[1], 1.0)");
  c.ok("let kept = Scale(3.0)");
  CHECK(c.value("h(one)") == "[2]");

  Workspace::Answer again =
      c.ok("agent Scale(k: float) { task apply(in x: f32[N]) -> (y: f32[N]) { y = 10.0 * k * x } }");
  REQUIRE(again.notes.size() == 1);
  CHECK(again.notes[0] == "checked again: g, h");
  CHECK(c.value("h(one)") == "[20]");
  CHECK(c.value("kept.apply(one)") == "[3]");  // a value keeps what it was made of

  Workspace::Answer broken = c.ok("agent Scale(k: int, n: int) { task apply(in x: f32[N]) -> (y: f32[N]) { y = x } }");
  REQUIRE(broken.notes.size() == 2);
  CHECK(broken.notes[0].starts_with("g is not valid any more: 'Scale' is defined again\nerror E1003"));
  CHECK(broken.notes[1] == "h is not valid any more: it uses 'g'");
  CHECK(c.error("h(one)") == "error E1001: 'h' is not valid any more: it uses 'g'");

  Workspace::Answer mended = c.ok("graph g(x: f32[N]) -> (y: f32[N]) { y = x + 5.0 }");
  REQUIRE(mended.notes.size() == 1);
  CHECK(mended.notes[0] == "checked again: h");
  CHECK(c.value("h(one)") == "[6]");
}

TEST_CASE("[repl] an entry sees its own definitions through everything that uses them") {
  Case c;
  c.ok("let k = 1");
  c.ok("fn f() -> int { return k }");
  c.ok("let k = 2; fn h() -> int { return f() }");
  CHECK(c.value("f()") == "2");
  CHECK(c.value("h()") == "2");
  CHECK(c.value("let k = 5; f()") == "5");
  c.ok("fn a(n: int) -> int { return 1 }");
  c.ok("fn b(n: int) -> int { return a(n) }");
  CHECK(c.ok("fn a(n: int) -> int { if n == 0 { return 0 }\n return b(n - 1) }").notes[0] == "checked again: b");
  CHECK(c.value("(a(3), b(3))") == "(0, 0)");
  CHECK(c.error("let twice = 1; let twice = 2") == "error E1005: 'twice' is defined twice");
  CHECK(c.error("fn g() -> int { return 1 }\nfn g() -> int { return 2 }") == "error E1005: 'g' is defined twice");
}

TEST_CASE("[repl] an import that fails leaves the session as it was") {
  TemporaryFolder folder;
  folder.put("broken.task", "let a = 1\nlet b = parse_int(\"boom\")\n");
  folder.put("fine.task", "let a = 7\n");
  Workspace work({.search_path = {folder.path().string()}});
  CHECK(work.enter("let x = 1").status == Status::ok);
  CHECK(work.enter("import broken; let y = 2").status == Status::failed);
  CHECK(work.enter("x + 1").value == "2");
  CHECK(work.enter("y").status == Status::wrong);
  CHECK(work.enter("broken.a").status == Status::wrong);
  CHECK(work.enter("import broken").status == Status::failed);
  CHECK(work.enter("import fine\nfine.a").value == "7");
}

TEST_CASE("[repl] functions follow a let that is defined again") {
  Case c;
  c.ok("let k = 2");
  c.ok("fn f(i: int) -> int { return i * k }");
  CHECK(c.value("f(3)") == "6");
  c.ok("let k = 5");
  CHECK(c.value("f(3)") == "15");
  CHECK(c.ok("let k = \"text\"").notes[0].starts_with("f is not valid any more: 'k' is defined again"));
}

TEST_CASE("[repl] one line says what became of the graph") {
  Case c;
  c.ok(tasks);
  CHECK(c.ok("let x = fill(f32[2], 1.0)").change == "");
  CHECK(c.ok("let a = inc(x)").change == "new task inc#0; new chain [inc]");
  CHECK(c.ok("let b = dbl(a.y)").change == "new task dbl#0; chain [inc] grew to [inc, dbl]");
  CHECK(c.ok("let d = inc(a.y)").change ==
        "new task inc#1; chain [inc, dbl] split after inc#0, because it branches to dbl#0 and inc#1 (sink rule); "
        "new chain [inc]");
  CHECK(c.ok("let e = add(b.y, d.y)").change == "new task add#0; new chain [add]");
  CHECK(c.work.why("e").text ==
        "add#0 is step 1 of 1 in [add]\n  starts with add#0, because it joins dbl#0 and inc#1 (source rule)\n"
        "  ends with add#0, because nothing follows (result)");
  CHECK(c.work.why("inc#1").found);
  CHECK_FALSE(c.work.why("nobody").found);
  CHECK(c.work.drawing().text == "● inc#0\n├─╮\n● │ dbl#0\n│ ● inc#1\n├─╯\n● add#0");
  CHECK(c.work.chains().text.find("4 tasks in 4 chains") != std::string::npos);
  CHECK(c.work.plan().found);
  CHECK(c.value("e.y") == "[7, 7]");
  CHECK(c.work.profile().text.find("[add]") != std::string::npos);
}

TEST_CASE("[repl] a launch is asked for by the name of its map, its output or its point, and printed by its name") {
  Case c;
  c.ok("fields F { a: f64 }\ntask f(inout c: F[_].{a}) -> (s: f64[1], z: f64[1]) { s = c.a.sum(0)\n z = s }");
  c.ok("let r = region F[8]\nlet p = blocks(r, 4)");
  CHECK(c.ok("let m = launch f(p[i]) for i in 0..4").change.starts_with("new task f#0"));
  c.ok("print(m)");
  CHECK(c.output == "<f#0 -> (s: <map f64[1], 4 points>, z: <map f64[1], 4 points>)>\n");
  for (const char* name : {"m", "m.s", "f#0", "m[1]", "f#0[3]"})
    CHECK_MESSAGE(c.work.why(name).text.find("f#0 is step 1 of 1 in [f]") != std::string::npos, name);
  CHECK(c.work.why("m[1]").text.starts_with("m[1] is one of 4 points of f#0, which are chained when they run"));
  for (const char* name : {"m[4]", "f#0[9]", "f#0[-1]", "f#0[1, 0]", "f#0[x]", "f#0[]"})
    CHECK_MESSAGE(c.work.why(name).text.starts_with("f#0 has no point ["), name);
}

TEST_CASE("[repl] the two programs of what was entered can be seen") {
  Case c;
  c.ok("fn halve(x: f32[N]) -> f32[N] {\n  var y = x\n  for i in 0..3 { print(y.sum(0).scalar) }\n  return y\n}");
  c.ok("let a = halve([4.0, 2.0] as f32[2]);");
  const Workspace::Text slices = c.work.slices();
  CHECK(slices.found);
  auto tells = [&](const char* part) { return slices.text.find(part) != std::string::npos; };
  CHECK_MESSAGE(tells("1 session, 1 sink, 2 functions, 1 channel (0 sends, 1 receive)\n"), slices.text);
  CHECK_MESSAGE(tells("enqueue halve:0 (sum(y, 0))\n"), slices.text);
  CHECK_MESSAGE(tells("receive at <1>:3 forces the loop at <1>:3 to"), slices.text);
}

TEST_CASE("[repl] names and types are explained") {
  Case c;
  c.ok(tasks);
  c.ok("let x = fill(f32[2], 1.0)");
  CHECK(c.work.describe("inc").text == "task inc(in x: f32[N]) -> (y: f32[N])\ndefined at <1>:2:6");
  CHECK(c.work.describe("x").text.starts_with("let x: f32[2] = <const : f32[2]>"));
  CHECK(c.work.describe("sum").text.starts_with("sum(x, axis?)"));
  CHECK(c.work.describe("i9").text.find("-256 to 255") != std::string::npos);
  CHECK(c.work.describe("smu").text == "nothing is called 'smu'; did you mean 'sum'?");
  CHECK(c.work.type("inc(x)").text.find("f32[2]") != std::string::npos);
  CHECK_FALSE(c.work.type("x + true").found);
  CHECK_FALSE(c.work.type("let z = 3").found);
  CHECK(c.error("z") == "error E1001: unknown name 'z'");
}

TEST_CASE("[repl] a saved session runs as a file") {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "session.task").string();
  Case c;
  c.ok("task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }");
  c.ok("1");
  c.ok("let r = inc([1.0, 2.0] as f32[_])");
  c.ok("r");
  c.ok("r.y.array");
  c.ok("_[1]");
  c.ok("let k = _ + _  // twice");
  c.ok("k; 2 * k;");
  c.ok("inc(r.y)");
  c.ok("let s = _.y.sum().scalar");
  CHECK(c.work.save(path).found);
  const std::string saved = read_text(path);
  Case again;
  again.work.reset();
  CHECK(again.work.load(path).status == Status::ok);
  CHECK(again.value("k") == "6");
  CHECK(again.value("s") == "7");
  const Ran ran = run_text(saved);
  CHECK_MESSAGE(ran.code == 0, saved << ran.errors);
  CHECK(ran.output == "1\n<inc#0.y : f32[2], 1 step>\n[2, 3]\n3\n<inc#1.y : f32[2], 1 step>\n");
}

namespace {

// What the file of a session prints, which must be right and come to its end.
std::string output_of_file(const Case& c) {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "session.task").string();
  CHECK(c.work.save(path).found);
  const std::string saved = read_text(path);
  const Ran ran = run_text(saved);
  CHECK_MESSAGE(ran.code == 0, saved << ran.errors);
  Case again;
  CHECK(again.work.load(path).status == Status::ok);
  CHECK(again.output == c.output);
  CHECK(ran.output == c.output);
  return ran.output;
}

}  // namespace

TEST_CASE("[repl] the file of a session in which names are defined again runs, too") {
  Case c;
  c.ok("let x = 1");
  c.ok("let y = x + 1");
  c.ok("let x = x + 10");
  c.ok("var x = x + 100");
  c.ok("x += 1");
  c.ok("for x in 0..2 { print(x) }");
  c.ok("print(x, y, [1, 2].map(x => x + 1))");
  CHECK(output_of_file(c) == "0\n1\n112 2 [2, 3]\n");
}

TEST_CASE("[repl] in the file of a session a declaration means what it meant where it was called") {
  Case c;
  c.ok("let n = 1");
  c.ok("fn f() -> int { return n }");
  c.ok("fn g() -> int { return f() * 10 }");
  c.ok("fn unused() -> int { return n }");
  c.ok("print(g())");
  c.ok("let n = 2");
  c.ok("print(f(), g())");
  c.ok("fn f() -> int { return 7 }");
  c.ok("print(g(), unused())");
  CHECK(output_of_file(c) == "10\n2 20\n70 2\n");
}

TEST_CASE("[repl] the file of a session has tasks and agents that were defined again") {
  Case c;
  c.ok("task t(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }");
  c.ok("let a = t([0.0] as f32[1])");
  c.ok("agent S { state c: f32[1] = zero(); task up() -> (y: f32[1]) { c += 1.0; y = c } }");
  c.ok("let s = S()");
  c.ok("task t(in x: f32[N]) -> (y: f32[N]) { y = x + 100.0 }");
  c.ok("agent S { state c: f32[1] = zero(); task up() -> (y: f32[1]) { c -= 1.0; y = c } }");
  c.ok("let u = S()");
  c.ok("print(a.y.array, t(a.y).y.array, s.up().y.array, u.up().y.array)");
  CHECK(output_of_file(c) == "[1] [101] [1] [-1]\n");
}

TEST_CASE("[repl] the file of a session knows what is bound inside of declarations") {
  Case c;
  c.ok("let n = 3");
  c.ok("fn own(n: int) -> int { return n }");
  c.ok("fn rec(k: int) -> int { if k == 0 { return n }; for n in 0..2 { assert(n < 2) }; return rec(k - 1) }");
  c.ok("print(own(n: 2), rec(2), [1].map(n => n + 1))");
  c.ok("let (m, n) = (n, n + 1)");
  c.ok("fn own(n: int) -> int { return -n }; let last = 5");
  c.ok("print(own(n: n), rec(2), m, fill(f32[n], 1.0).array, last)");
  CHECK(output_of_file(c) == "2 3 [2]\n-4 4 3 [1, 1, 1, 1] 5\n");
}

TEST_CASE("[repl] the file of a session leaves out what became invalid") {
  Case c;
  c.ok("fn f(x: int) -> int { return x }");
  c.ok("fn g() -> int { return f(1) }");
  c.ok("print(g())");
  c.ok("fn f(x: int, y: int) -> int { return x + y }");
  c.ok("print(f(1, 2))");
  CHECK(output_of_file(c) == "1\n3\n");
}

TEST_CASE("[repl] entries are saved, loaded and forgotten") {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "session.task").string();
  Case c;
  c.ok("let n = 2");
  c.error("let m = unknown");
  c.ok("print(n)");
  CHECK(c.work.save(path).text == "wrote 2 entries to " + path);
  c.work.reset();
  CHECK(c.error("n") == "error E1001: unknown name 'n'");
  CHECK(c.work.load(path).status == Status::ok);
  CHECK(c.value("n") == "2");
  CHECK(c.output == "2\n2\n");
  // Names that are defined again, values that are shown, and what a failed entry did: as they were.
  c.work.reset();
  c.ok("task t(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }");
  c.ok("let a = t([0.0] as f32[1])");
  c.ok("3 + 4");
  c.ok("let k = _ + 1");
  c.ok("task t(in x: f32[N]) -> (y: f32[N]) { y = x + 100.0 }");
  c.ok("var n = 0");
  c.error("for i in 0..5 { n += 1; assert(i < 3) }");
  CHECK(c.work.save(path).found);
  c.work.reset();
  CHECK(c.work.load(path).status == Status::failed);
  CHECK(c.value("a.y") == "[1]");
  CHECK(c.value("k") == "8");
  CHECK(c.value("n") == "4");
  CHECK(c.work.load((folder.path() / "none.task").string()).diagnostics.find("E7001") != std::string::npos);
  CHECK_FALSE(c.work.save((folder.path() / "no" / "folder" / "x.task").string()).found);
}

TEST_CASE("[repl] a saved session knows what _ meant: the last value of an entry that was not taken back") {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "session.task").string();
  Case c;
  c.ok("1 + 1");
  c.error("assert(false); 5");
  c.ok("_ + 10");
  c.ok("let l = [1]");
  c.error("l[3]");
  CHECK(c.value("_ * 2") == "24");
  CHECK(c.work.save(path).found);
  CHECK(read_text(path).find("let _v3 = _v1 + 10") != std::string::npos);
  c.work.reset();
  CHECK(c.work.load(path).status == Status::failed);
  CHECK(c.value("_") == "24");
  CHECK(c.work.save(path).found);  // what was loaded is saved as it was entered, too
  c.work.reset();
  CHECK(c.work.load(path).status == Status::failed);
  CHECK(c.value("_ + 1") == "25");
}

TEST_CASE("[repl] an entry that was taken back leaves definitions as they were, and says nothing of them") {
  Case c;
  c.ok("fn f(x: int) -> int { return x }");
  c.ok("graph g(x: f32[1]) -> (y: f32[1]) { y = x * (f(1) as f32) }");
  const Workspace::Answer answer = c.work.enter("fn f(x: int, y: int) -> int { return x }; assert(1 == 2)");
  CHECK(answer.status == Status::failed);
  CHECK(answer.notes.empty());
  CHECK(c.value("g([1.0] as f32[1])") == "[1]");
}

TEST_CASE("[repl] an effect that fails is told once, and takes no later entry back") {
  Case c;
  c.ok("let z = [0] as i32[1]");
  c.ok("agent S { state c: i32[1] = zero(); task up(in d: i32[1]) -> (y: i32[1]) { c += 10 / d; y = c } }");
  c.ok("let s = S()");
  CHECK(c.error("s.up(z).y").find("E5002") != std::string::npos);
  c.ok("let s = S()");
  CHECK(c.value("s.up([5] as i32[1]).y") == "[2]");
  c.ok("task dbl(in x: i32[1]) -> (y: i32[1]) { y = x * 2 }");
  c.ok("s.up(z);");  // nobody looks at it yet
  const Workspace::Answer answer = c.work.enter("let k = 5; dbl(z).y.array");
  CHECK(answer.status == Status::failed);
  CHECK(answer.diagnostics.find("E5002") != std::string::npos);
  CHECK(c.value("k") == "5");
}

TEST_CASE("[repl] first values of slots are no part of the chain that reads them") {
  Case c;
  c.ok("agent L { weight w: f32[2] = uniform(seed: 1); task f(in x: f32[2]) -> (y: f32[2]) { y = x * w } }");
  c.ok("let a = L()");
  c.ok("let b = L()");
  c.ok("graph net(x: f32[2]) -> (y: f32[2]) { y = b.f(a.f(x).y).y }");
  const std::string change = c.ok("let r = net(fill(f32[2], 1.0));").change;
  CHECK_MESSAGE(change.find("new chain [L.f, L.f]") != std::string::npos, change);
}

TEST_CASE("[repl] what finds no memory takes nothing else with it") {
  Case c;
  c.ok("task bump(inout r: f64[1], in d: f64[1]) -> (t: f64[1]) { r = r + d; t = r }");
  c.ok("var a = [1.0] as f64[1]");
  c.ok("let n = parse_int(\"4000000\")");
  c.ok("bump(a, [1.0] as f64[1]);");
  CHECK(c.error("print((fill(f64[n, n], 1.0) + 1.0).sum().scalar)").find("E5008") != std::string::npos);
  CHECK(c.value("a") == "[2]");
  c.error("graph_print(\"a\", a + 1.0); print((fill(f64[n, n], 1.0) + 1.0).sum().scalar)");
  CHECK(c.output == "a: [3]\n");
  c.ok("let y = a + 2.0");
  CHECK(c.value("y") == "[4]");
}

TEST_CASE("[repl] graphs are exported") {
  TemporaryFolder folder;
  Case c;
  c.ok(tasks);
  c.ok("graph g(x: f32[N]) -> (y: f32[N]) { y = inc(dbl(x).y).y }");
  CHECK(c.work.export_graph("g", (folder.path() / "g.json").string()).found);
  CHECK(std::filesystem::file_size(folder.path() / "g.json") > 100);
  CHECK(c.work.export_graph("g", (folder.path() / "g.dot").string()).found);
  CHECK_FALSE(c.work.export_graph("nothing", (folder.path() / "n.json").string()).found);
  CHECK_FALSE(c.work.export_graph("g", (folder.path() / "g.strange").string()).found);
  c.ok("let a = inc(fill(f32[2], 1.0))");
  CHECK(c.work.export_graph("", (folder.path() / "all.dot").string()).found);
  CHECK_FALSE(c.work.export_graph("", (folder.path() / "all.json").string()).found);  // no graph of the program
  CHECK(c.work.chains().text.starts_with("session: "));
}

TEST_CASE("[repl] a run can be interrupted, and the session goes on") {
  Case c;
  c.ok("var i = 0");
  std::atomic<bool> done{false};
  std::jthread other([&] {
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      c.work.interrupt();
    }
  });
  CHECK(c.work.enter("while true { i += 1 }").status == Status::interrupted);
  done = true;
  other.join();
  CHECK(c.value("i > 0") == "true");
}

TEST_CASE("[repl] another backend, and what was made on the one before") {
  Case c;
  c.ok(tasks);
  c.ok("let a = inc(fill(f32[2], 1.0))");
  CHECK(c.work.use_backend("host(threads: 1)").found);
  CHECK(c.value("dbl(a.y)") == "[4, 4]");
  CHECK_FALSE(c.work.use_backend("nonsense").found);
  CHECK(c.value("a.y") == "[2, 2]");
}

TEST_CASE("[repl] a name that is defined again and again keeps no memory") {
  auto resident_megabytes = [] {
    std::ifstream status("/proc/self/statm");
    std::size_t total = 0, resident = 0;
    status >> total >> resident;
    return resident * 4096 / 1'000'000;
  };
  Case c;
  const std::size_t before = resident_megabytes();
  for (int i = 0; i < 20; ++i) {  // 40 MB each, and more on the way to it
    c.ok("let big = fill(f32[10000000], 1.0) + (iota(10000000) as f32[10000000])");
    CHECK(c.value("big.sum(0) > 0.0") == "[true]");
  }
  CHECK(resident_megabytes() < before + 400);
}

TEST_CASE("[repl] random entries, right and wrong, leave the same as the right ones in a file") {
  // The right statements alone, entered one by one between wrong ones, give what they give as one text.
  const std::vector<std::string> right = {"x = x + 1",          "let y = x * 2",  "l += [x]",
                                          "x = len(l)",         "let y = [x, x]", "let z = x + 3",
                                          "if x > 2 { x = 1 }", "l[0] = x",       "for i in l { x += i }",
                                          "let w = l + [x]",    "let z = \"s\"",  "x = 2 * x % 97"};
  const std::vector<std::string> wrong = {
      "x = \"no\"", "let y = unknown + 1", "let x y",           "let v = 1 / (x - x)",
      "l[99] = 1",  "let z = [1, \"a\"]",  "fn f() -> int { }", "x += 0.5",
      "break"};
  for (unsigned seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Case mixed, plain;
    for (Case* c : {&mixed, &plain}) c->ok("var x = 3\nvar l = [1, 2]");
    for (int i = 0; i < 25; ++i) {
      if (random() % 3 == 0) {
        mixed.error(wrong[random() % wrong.size()]);
        continue;
      }
      const std::string& entry = right[random() % right.size()];
      CHECK(mixed.ok(entry).value == plain.ok(entry).value);
    }
    CHECK(mixed.value("(x, l)") == plain.value("(x, l)"));
  }
}

TEST_CASE("[repl] an agent is saved and loaded at the prompt; a load that fails leaves it as it is") {
  Case c;
  const TemporaryFolder folder;
  c.ok("agent A {\n  state s: f32[1] = zero()\n  task add(in x: f32[1]) -> (y: f32[1]) { s = s + x; y = s }\n}");
  c.ok("agent B { state t: f32[1] = zero() }");
  c.ok("let a = A()");
  c.ok("let one = [1.0] as f32[1]");
  c.ok("save(a, \"" + folder / "a.npz" + "\")");
  c.ok("save(B(), \"" + folder / "b.npz" + "\")");
  c.ok("let before = a.add(one).y");
  CHECK(c.error("load(a, \"" + folder / "b.npz" + "\")") ==
        "error E7003: '" + folder / "b.npz" + "' does not fit A(): 2 differences");
  CHECK(c.value("a.add(one).y") == "[2]");
  c.ok("load(a, \"" + folder / "a.npz" + "\")");
  CHECK(c.value("a.add(one).y") == "[1]");
  CHECK(c.value("before") == "[1]");
}

}  // namespace taskspec::workspace_test
