// Agents, tasks, graphs: invocations and their outputs, places, privileges, effects, composition, sessions.
#include <doctest/doctest.h>

#include "tests/unit/checking.hpp"

namespace taskspec::check_tasks_test {

using testing::details_of;
using testing::dump_of;
using testing::error_of;
using testing::type_of_last;

namespace {

const std::string scale =
    "agent Scale(k: float) {\n"
    "  task apply(in x: f32[N]) -> (y: f32[N]) { y = k * x }\n"
    "}\n";
const std::string moments =
    "task moments(in x: f32[N]) -> (mean: f32[1], dev: f32[N]) {\n  mean = x.mean(0)\n  dev = x - mean\n}\n";
const std::string bump = "task bump(inout r: f64[N], in d: f64[1]) -> (t: f64[1]) { r += d; t = r.sum(0) }\n";

}  // namespace

TEST_CASE("check: an agent, its task and a graph over them") {
  CHECK(dump_of(scale, "Scale.apply") ==
        "task Scale.apply(agent k: float, x: f32[N]) -> (y: f32[N])   [graph]\n"
        "  %0 = parameter k : float\n"
        "  %1 = parameter x : f32[N]\n"
        "  %2 = op mul(%0, %1) : f32[N]\n"
        "  write y = %2\n");
  CHECK(dump_of(scale + "graph g(x: f32[N]) -> (e: f32[N]) { let a = Scale(2.0).apply(x); e = a.y + 1.0 }", "g") ==
        "graph g(x: f32[N]) -> (e: f32[N])   [graph]\n"
        "  %0 = parameter x : f32[N]\n"
        "  %1 = constant 2 : float\n"
        "  %2 = agent Scale(%1) : agent\n"
        "  %3 = invoke Scale.apply(%2, %0) : invocation (y: f32[N])\n"
        "  %4 = output 0 of %3 : f32[N]\n"
        "  %5 = constant 1 : float\n"
        "  %6 = op add(%4, %5) : f32[N]\n"
        "  write e = %6\n");
}

TEST_CASE("check: outputs first, then members of a single output") {
  CHECK(type_of_last(scale + "let y = Scale(2.0).apply(fill(f32[3], 0.0)).sum(0)") == "f32[1]");
  CHECK(type_of_last(scale + "let y = Scale(2.0).apply(fill(f32[3], 0.0)) + 1.0") == "f32[3]");
  CHECK(type_of_last(moments + "let d = moments(fill(f32[3], 0.0)).dev") == "f32[3]");
  CHECK(
      error_of(
          "task energy(in x: f32[N]) -> (e: f32[1]) { e = x.sum(0) }\nlet t = energy(fill(f32[3], 0.0))\nprint(t.z)") ==
      "E1002 3:9 task 'energy' has no output 'z'; outputs: e");
  CHECK(error_of(moments + "let d = moments(fill(f32[3], 0.0)).sum(0)") ==
        "E1002 5:36 task 'moments' has no output 'sum'; outputs: mean, dev");
  CHECK(error_of(moments + "let d = moments(fill(f32[3], 0.0)) + 1.0").substr(0, 6) == "E1004 ");
  CHECK(details_of("let x = fill(f32[3], 0.0)\nprint(x.scaler)") ==
        "E1002 2:9 f32[3] has no member 'scaler'; members: scalar, array, iter, handle, shape, rank, precision\n"
        "  help: did you mean 'scalar'?\n");
  CHECK(error_of("let x = fill(f32[3], 0.0)\nprint(x.smu(0))") == "E1002 2:9 f32[3] has no method 'smu'");
}

TEST_CASE("check: arguments") {
  const std::string f = "fn f(a: int, b: int = 2, c: int = a + b) -> int { return a + b + c }\n";
  CHECK(error_of(f + "print(f(1), f(1, 3), f(1, c: 4), f(a: 1))") == "");
  CHECK(dump_of(f + "print(f(1, c: 4))", "<module>").find("call f(%0, default, %1) : int") != std::string::npos);
  CHECK(error_of(f + "f()") == "E1003 2:1 fn 'f' needs argument 'a'");
  CHECK(error_of(f + "f(1, 2, 3, 4)") == "E1003 2:12 fn 'f' takes at most 3 arguments");
  CHECK(error_of(f + "f(1, a: 2)") == "E1003 2:6 argument 'a' of fn 'f' is given twice");
  CHECK(error_of(f + "f(a: 1, 2)") == "E1003 2:9 positional arguments come before named ones");
  CHECK(details_of(f + "f(1, bb: 2)") ==
        "E1003 2:6 fn 'f' has no parameter 'bb'\n  1:4 declared here\n  help: did you mean 'b'?\n");
  CHECK(error_of("fn f(a: int = b, b: int = 1) -> int { return a + b }") == "E1006 1:15 'b' is not set yet");
  CHECK(error_of("let x = 3\nx(1)") == "E1004 2:1 'x' is int and cannot be called");
  CHECK(error_of("inf(1)") == "E1004 1:1 'inf' is float and cannot be called");
  CHECK(error_of("print(pi(no_name))").find("E1001 1:10 unknown name 'no_name'") != std::string::npos);
}

TEST_CASE("check: a wrong argument says nothing about the others") {
  CHECK(error_of("fn f(a: f32[N], b: f32[N + 1]) { print(a, b) }\nf(nope, fill(f32[5], 0.0))") ==
        "E1001 2:3 unknown name 'nope'");
  CHECK(error_of("fn f(a: int, b: f32[N]) { print(a, b) }\nf(nope, fill(f32[5], 0.0))") ==
        "E1001 2:3 unknown name 'nope'");
  CHECK(error_of("fn f(a: int, b: f32[4]) { print(a, b) }\nf(nope, fill(f32[5], 0.0))").find("E2001 2:9 ") !=
        std::string::npos);
  CHECK(error_of("agent M {}\nfn f(g: fn(f32[N]) -> f32[M], x: f32[N]) { print(x) }\nf(y => y, fill(f32[5], 0.0))") ==
        "E1004 2:27 'M' is an agent, not a value");
}

TEST_CASE("check: agents have defaults, slots and members") {
  CHECK(error_of("agent A(k: float = 1.5, n: int = 2) { task t(in x: f32[4]) -> (y: f32[4]) { y = k * x } }\n"
                 "let a = A()\nlet b = A(n: 3)\nlet y = b.t(fill(f32[4], 0.0)).y") == "");
  CHECK(error_of("agent A(k: int = \"s\") { }\nlet a = A()").substr(0, 10) == "E1004 1:18");
  CHECK(error_of("agent A { }\nprint(A)") == "E1004 2:7 'A' is an agent, not a value");
  CHECK(error_of("agent A { task t() -> (y: f32[1]) { y = fill(f32[1], 0.0) } }\nlet y = A().tt()") ==
        "E1002 2:13 agent 'A' has no member 'tt'; members: t");
  CHECK(error_of("agent A { slate v: f32[1] }").substr(0, 33) == "E1001 1:11 unknown kind of slot '");
  CHECK(error_of("agent A(w: f32[3]) { }") == "E1004 1:12 parameters of agents are host values, 'w' is f32[3]");
}

TEST_CASE("check: a member that writes a slot has it as inout, one that reads it as in") {
  const std::string counter =
      "agent Counter(n: int) {\n"
      "  state c: i32[n] = zero()\n"
      "  weight w: i32[n] = constant(2)\n"
      "  task step(in d: i32[n]) -> (y: i32[n]) { c += d; y = c }\n"
      "  task look() -> (y: i32[n]) { y = c * w }\n"
      "  fn twice() -> int { return n + n }\n"
      "  graph both(d: i32[n]) -> (y: i32[n]) { y = step(d).y + look().y }\n"
      "}\n";
  CHECK(dump_of(counter, "Counter.step") ==
        "task Counter.step(agent n: int, slot inout c: i32[n], d: i32[n]) -> (y: i32[n])   [graph]\n"
        "  %0 = parameter n : int\n"
        "  %1 = parameter d : i32[n]\n"
        "  %2 = variable c : i32[n]\n"
        "  %3 = op add(%2, %1) : i32[n]\n"
        "  write c = %3\n"
        "  %5 = variable c : i32[n]\n"
        "  write y = %5\n");
  CHECK(dump_of(counter, "Counter.look").find("task Counter.look(agent n: int, slot c: i32[n], slot w: i32[n])") == 0);
  CHECK(dump_of(counter, "Counter.both").find("= self : agent\n") != std::string::npos);
  CHECK(type_of_last(counter + "let y = Counter(3).step(fill(i32[3], 1)).y") == "i32[3]");
  CHECK(error_of(counter + "let y = Counter(3).step(fill(i32[4], 1)).y") ==
        "E2001 9:25 shapes differ: 'd' of task 'Counter.step' is i32[3], this is i32[4]; dimension 0 is 3 against 4");
  CHECK(error_of("agent A { weight w: f32[1]\n task t() -> (y: f32[1]) { w += 1.0; y = w } }") ==
        "E1401 2:28 'w' is read-only in task 'A.t'");
  CHECK(error_of("agent A { weight w: f32[1]\n fn f() -> f32[1] { return w } }") ==
        "E1001 2:28 'w' is a slot; a fn of an agent sees its parameters only");
}

TEST_CASE("check: inout arguments are places") {
  CHECK(dump_of(bump + "graph h(inout r: f64[N], d: f64[1]) -> (t: f64[1]) { t = bump(r, d).t }", "h")
            .find("invoke bump(%1, %0) : invocation (t: f64[1])   %1 -> r\n") != std::string::npos);
  CHECK(error_of(bump + "var r = fill(f64[3], 0.0)\nlet t = bump(r, fill(f64[1], 1.0)).t") == "");
  CHECK(error_of(bump + "let r = fill(f64[3], 0.0)\nbump(r, fill(f64[1], 1.0))") ==
        "E1007 3:6 'r' is a let and cannot be changed");
  CHECK(error_of(bump + "bump(fill(f64[3], 0.0), fill(f64[1], 1.0))") ==
        "E1007 2:6 'fill(f64[3], 0.0)' is no place that could be changed");
  CHECK(error_of(bump + "graph g(r: f64[3]) -> (t: f64[1]) { t = bump(r, fill(f64[1], 1.0)).t }") ==
        "E1401 2:46 'r' is read-only in graph 'g'");
  CHECK(details_of(bump + "var r = fill(f64[1], 0.0)\nbump(r, r)") ==
        "E1403 3:9 'r' is named twice in a call that writes it\n  at read here\n  3:6 written here\n"
        "  help: pass a copy for one of them: x.copy()\n");
  CHECK(error_of("task add_one(in c: f32[4]) -> (y: f32[4]) { c = c + 1.0; y = c }") ==
        "E1401 1:45 'c' is read-only in task 'add_one'");
  CHECK(error_of("task t(inout n: int) { n = 2 }") == "E1004 1:17 inout is for tensors, 'n' is int");
}

TEST_CASE("check: tasks and graphs have no host effects, also not through functions") {
  CHECK(error_of("graph g() { print(1) }") == "E1302 1:13 graph 'g' has host effects: print at 1:13");
  CHECK(error_of(
            "fn f(x: f32[1]) -> float { return x.sum(0).scalar }\ngraph g(x: f32[1]) -> (y: f32) {\n  y = f(x)\n}") ==
        "E1302 3:7 graph 'g' has host effects: f at 3:7");
  CHECK(error_of("graph g(x: f32[1]) -> (y: f32) { y = x.scalar; print(1); print(clock()) }") ==
        "E1302 1:38 graph 'g' has host effects: .scalar at 1:38, print at 1:48, print at 1:58, clock at 1:64");
  CHECK(
      error_of(
          "graph h(x: f32[1]) -> (y: f32[1]) { print(1); y = x }\ngraph g(x: f32[1]) -> (y: f32[1]) { y = h(x).y }") ==
      "E1302 1:37 graph 'h' has host effects: print at 1:37");
  CHECK(error_of("graph g(x: f32[1]) -> (y: f32[1]) { let l = map([1], i => clock()); y = x }") ==
        "E1302 1:59 graph 'g' has host effects: clock at 1:59");
}

TEST_CASE("check: a tensor decides in graphs and tasks, in a fn it must be received") {
  CHECK(details_of("fn f(x: f32[1]) -> int {\n  if x > 0.0 { return 1 }\n  return 2\n}") ==
        "E1301 2:6 'x' is a graph value; host control needs an explicit receive: x.scalar\n");
  CHECK(error_of("fn f(x: f32[3]) {\n  while x.max(0) > 0.0 && true { print(1) }\n}") ==
        "E1301 2:9 'x.max(0)' is a graph value; host control needs an explicit receive: x.max(0).scalar");
  CHECK(error_of("task t(in x: f32[1]) -> (y: f32[1]) {\n  y = x\n  if x > 0.0 && x < 3.0 { y = -x }\n  while y > 9.0 "
                 "{ y /= 2.0 }\n}") == "");
  CHECK(error_of("task t(in x: f32[4]) -> (y: f32[4]) {\n  y = x\n  if x > 0.0 { y = -x }\n}") ==
        "E1004 3:6 a condition is a bool or a tensor of one bool, this is bool[4]");
  CHECK(error_of("if 3 { print(1) }") == "E1004 1:4 a condition is a bool, this is int");
}

TEST_CASE("check: no task in a task") {
  CHECK(error_of(moments + "task t(in x: f32[3]) -> (y: f32[3]) { y = moments(x).dev }") ==
        "E1009 5:43 a call of task 'moments' in a task body needs a part that is not built yet: nested tasks");
  CHECK(error_of(
            moments +
            "fn f(x: f32[3]) -> f32[3] { return moments(x).dev }\ntask t(in x: f32[3]) -> (y: f32[3]) { y = f(x) }") ==
        "E1009 6:43 a call of fn 'f', which invokes tasks, in a task body needs a part that is not built yet: nested "
        "tasks");
}

TEST_CASE("check: composition") {
  const std::string tasks =
      "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
      "task add(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a + b }\n"
      "task four(in y: f32[4]) -> (z: f32[2, 2]) { z = y.reshape(2, 2) }\n" +
      moments;
  CHECK(type_of_last(tasks + "let c = inc >> inc") == "task(x: f32[N]) -> (y: f32[N])");
  CHECK(type_of_last(tasks + "let c = inc >> add") == "task(x: f32[N], b: f32[N]) -> (y: f32[N])");
  CHECK(type_of_last(tasks + "let c = inc >> four") == "task(x: f32[4]) -> (z: f32[2, 2])");
  CHECK(type_of_last(tasks + "let c = (inc >> four)(fill(f32[4], 0.0)).z") == "f32[2, 2]");
  CHECK(type_of_last(tasks + "let c = (inc >> inc).inputs") == "(string)");
  CHECK(error_of(tasks + "let c = moments >> inc").substr(0, 40) == "E3004 8:17 nothing to compose: no output");
  CHECK(error_of(tasks + "let c = four >> four").substr(0, 11) == "E2001 8:14 ");
  CHECK(error_of(tasks + "let c = inc >> 3") == "E1004 8:16 '>>' composes tasks and graphs, this is int");
  CHECK(error_of(tasks + "let c = (inc >> four)(fill(f32[5], 0.0)).z").substr(0, 11) == "E2001 8:23 ");
}

TEST_CASE("check: a session gives the outputs and a report") {
  CHECK(type_of_last(scale + "let r = run Scale(2.0).apply(fill(f32[3], 0.0)) on host(threads: 2)") ==
        "invocation (y: f32[3], report: record {tasks: int, chains: int, dispatches: int, peak: int, seconds: float, "
        "received: int})");
  CHECK(type_of_last("fn f() -> int { return 3 }\nlet r = (run f() on host).value + 1") == "int");
  CHECK(type_of_last(scale + "let r = (run Scale(2.0).apply(fill(f32[3], 0.0)) on host).sum(0)") == "f32[1]");
  CHECK(type_of_last("fn f() { print(1) }\nlet r = (run f() on host).report.peak") == "int");
  const std::string steps = "let r = run Scale(2.0).apply(fill(f32[4, 3], 0.0)) on host(time_steps: 4)";
  CHECK(type_of_last(scale + steps) ==
        "invocation (y: f32[3], steps: invocation (y: f32[4, 3]), report: record {tasks: int, chains: int, dispatches: "
        "int, peak: int, seconds: float, received: int})");
  CHECK(type_of_last(scale + "let r = (run Scale(2.0).apply(fill(f32[4, 3], 0.0)) on host(time_steps: 4)).sum(0)") ==
        "f32[1]");
  CHECK(error_of("fn f() { print(1) }\nrun f() on host(time_steps: 4)") ==
        "E1004 2:5 'time_steps' repeats a graph, a task or an agent's member; this call gives nothing");
}

TEST_CASE("check: function values that tasks and graphs may call have no host effects") {
  const std::string noisy =
      "fn noisy(i: int) -> int { print(i); return i }\nfn quiet(i: int) -> int { return i + 1 }\n";
  const std::string g = "graph g(f: fn(int) -> int, x: f32[4]) -> (y: f32[4]) { y = x * f(3) }\n";
  const std::string x = "let x = fill(f32[4], 1.0)\n";
  const std::string wrong = " 'noisy' has host effects, and a task or graph may call it";
  CHECK(error_of(noisy + g + x + "let y = g(quiet, x)") == "");
  CHECK(error_of(noisy + g + x + "let y = g(noisy, x)") == "E1302 5:11" + wrong);
  CHECK(error_of(noisy + g + x + "let f = noisy\nlet y = g(f, x)") == "E1302 6:11" + wrong);
  CHECK(error_of(noisy + g + x + "let y = g(i => noisy(i), x)") ==
        "E1302 5:11 this function has host effects, and a task or graph may call it");
  // Through a fn, and only the parameter that goes to the graph.
  const std::string h = "fn h(f: fn(int) -> int, k: fn(int) -> int, x: f32[4]) -> f32[4] { return g(f, x) * k(1) }\n";
  CHECK(error_of(noisy + g + h + x + "let y = h(noisy, quiet, x)") == "E1302 6:11" + wrong);
  CHECK(error_of(noisy + g + h + x + "let y = h(quiet, noisy, x)") == "");
  CHECK(error_of(noisy + "agent A(f: fn(int) -> int) { task t(in x: f32[4]) -> (y: f32[4]) { y = x * f(1) } }\n" +
                 "let a = A(noisy)") == "E1302 4:11" + wrong);
}

TEST_CASE("check: a slot that a member uses is a place of its calls") {
  const std::string t =
      "agent A {\n  state s: f32[1] = zero()\n"
      "  task bump(inout x: f32[1]) -> (y: f32[1]) { x = x + 1.0; s = s + x; y = s }\n"
      "  task look(in x: f32[1]) -> (y: f32[1]) { y = x + s }\n"
      "  graph deep(inout x: f32[1]) -> (y: f32[1]) { y = bump(x).y }\n";
  CHECK(error_of(t + "  graph g() -> (y: f32[1]) { y = bump(s).y }\n}") ==
        "E1403 6:39 's' is named in a call that writes it; task 'A.bump' uses the slot as well");
  CHECK(error_of(t + "  graph g() -> (y: f32[1]) { y = deep(s).y }\n}").starts_with("E1403 6:39 "));
  CHECK(error_of(t + "  graph g() -> (y: f32[1]) { y = look(s).y }\n}") == "");
  CHECK(error_of(t + "  graph g() -> (y: f32[1]) { var v = s.copy(); y = bump(v).y }\n}") == "");
}

TEST_CASE("check: what is not built yet is refused once per construct, and nothing follows from it") {
  CHECK(error_of("fields Cell { state: f64 }\n"
                 "task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }\n"
                 "task g() -> (y: f64[1]) { let cells = region Cell[4]; y = fill(f64[1], 1.0) }\n") ==
        "E1009 3:39 a region in a task body needs a part that is not built yet: nested tasks");
  CHECK(error_of("import \"net.onnx\" as net\nlet y = net.net(1)") ==
        "E1009 1:8 the import of a model file needs a part that is not built yet: importers");
}

}  // namespace taskspec::check_tasks_test
