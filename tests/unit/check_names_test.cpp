// Names: scopes, declarations in any order, lets and vars, what is not set yet.
#include <doctest/doctest.h>

#include "tests/unit/checking.hpp"

namespace taskspec::check_names_test {

using testing::details_of;
using testing::dump_of;
using testing::error_of;
using testing::type_of_last;
using testing::value_of_last;

TEST_CASE("check: an unknown name suggests the nearest one, once per function") {
  CHECK(details_of("let energy = 45\nprint(enrgy)") ==
        "E1001 2:7 unknown name 'enrgy'\n  help: did you mean 'energy'?\n");
  CHECK(error_of("fn f() -> int { print(a); print(a); return a }") == "E1001 1:23 unknown name 'a'");
  CHECK(details_of("pront(1)") == "E1001 1:1 unknown name 'pront'\n  help: did you mean 'print'?\n");
  CHECK(details_of("let x: flot = 1.0") == "E1001 1:8 unknown type 'flot'\n  help: did you mean 'float'?\n");
}

TEST_CASE("check: declarations are visible in the whole file, in any order") {
  CHECK(error_of("print(f(1))\nfn f(x: int) -> int { return g(x) }\nfn g(x: int) -> int { return x + k }\nlet k = 2") ==
        "");
}

TEST_CASE("check: an inner scope may hide an outer or library name") {
  CHECK(error_of("let len = 3\nprint(len + 1)") == "");
  CHECK(error_of("let a = 1\nif true {\n  let a = \"s\"\n  print(a + \"t\")\n}\nprint(a + 1)") == "");
  CHECK(error_of("fn f(x: int) -> int {\n  for i in 0..x { let x = \"s\"; print(x + \"t\") }\n  return x + 1\n}") ==
        "");
}

TEST_CASE("check: a name is defined once in a scope") {
  CHECK(details_of("let x = 1\nlet x = 2") == "E1005 2:5 'x' is defined twice\n  1:5 first defined here\n");
  CHECK(error_of("fn f(x: int) -> int { let x = 2; return x }") == "E1005 1:27 'x' is defined twice");
  CHECK(error_of("let (a, a) = (1, 2)") == "E1005 1:9 'a' is defined twice");
  CHECK(error_of("let f = 1\nfn f() { print(1) }") == "E1005 2:4 'f' is defined twice");
  CHECK(error_of("let x = 1\nlet x = 2", {.at_prompt = true}) == "E1005 2:5 'x' is defined twice");
}

TEST_CASE("check: a let is final, a var is not") {
  CHECK(details_of("let x = 1\nx = 2") ==
        "E1007 2:1 'x' is a let and cannot be changed\n  1:5 defined here\n  help: define it with var\n");
  CHECK(error_of("var x = 1\nx = 2\nx += 3") == "");
  CHECK(error_of("for i in 0..3 { i = 2 }") == "E1007 1:17 'i' is a loop variable and cannot be changed");
  CHECK(error_of("fn f(n: int) { n = 2 }") == "E1007 1:16 'n' is a parameter and cannot be changed");
  CHECK(error_of("fn f() { print(1) }\nf = 2") == "E1007 2:1 'f' is a fn and cannot be changed");
  CHECK(details_of("x = 2") == "E1001 1:1 unknown name 'x'\n  help: define it: let x = ...\n");
}

TEST_CASE("check: functions see top-level lets, never vars") {
  CHECK(error_of("let k = 1\nfn f() -> int { return k }") == "");
  CHECK(error_of("var k = 1\nfn f() -> int { return k }") ==
        "E1010 2:24 'k' is a top-level var; functions see only lets");
  CHECK(error_of("var k = 1\nfn f() { k = 2 }") == "E1010 2:10 'k' is a top-level var; functions see only lets");
  CHECK(error_of("let k = 1\nfn f() { k = 2 }") == "E1007 2:10 'k' is a let and cannot be changed");
  CHECK(dump_of("let k = len([1])\nfn f() -> int { return k }", "f") ==
        "fn f() -> int\n  %0 = global test.k : int\n  return %0\n");
}

TEST_CASE("check: a name used above the place that sets it") {
  CHECK(details_of("print(n)\nlet n = 4") == "E1006 1:7 'n' is not set yet\n  2:1 set here, further down\n");
  CHECK(error_of("fn f(x: i32[n]) -> i32[n] { return x + n }\nprint(f(fill(i32[4], 1)).shape)\nlet n = 4") ==
        "E1006 1:13 'n' is not set yet");  // once
  CHECK(error_of("fn f() -> int {\n  let a = b\n  let b = 1\n  return a\n}") == "E1006 2:11 'b' is not set yet");
  CHECK(error_of("for i in 0..3 { print(t); let t = i }") == "E1006 1:23 't' is not set yet");
  CHECK(error_of("let a = 1\nif true { print(a); let a = 2 }") == "");  // the outer one, until it is hidden
}

TEST_CASE("check: a value that needs itself is a cycle, with the way around [A17]") {
  const std::string f = "task f(in x: f32[4]) -> (y: f32[4]) { y = x + 1.0 }\n";
  CHECK(error_of(f + "graph g() -> (r: f32[4]) {\n  let a = f(b.y)\n  let b = f(a.y)\n  r = a.y\n}") ==
        "E3001 3:13 cycle: f#0.y -> f#1.x -> f#1.y -> f#0.x");
  CHECK(error_of(f + "graph g() -> (r: f32[4]) {\n  let a = f(a.y)\n  r = a.y\n}") ==
        "E3001 3:13 cycle: f#0.y -> f#0.x");
  CHECK(
      error_of(f + "graph g() -> (r: f32[4]) {\n  let a = f(f(c))\n  let b = f(a)\n  let c = b + 1.0\n  r = a.y\n}") ==
      "E3001 3:15 cycle: f#1.y -> f#2.x -> f#2.y -> c -> f#0.x -> f#0.y -> f#1.x");
  CHECK(error_of(f + "let a = f(b.y)\nlet b = f(a.y)") == "E3001 2:11 cycle: f#0.y -> f#1.x -> f#1.y -> f#0.x");
  CHECK(error_of("let a = b + 1\nlet b = c\nlet c = a") == "E3001 1:9 cycle: a -> c -> b -> a");
  CHECK(error_of(
            "agent S { task t(in x: f32[2]) -> (y: f32[2]) { y = x } }\nlet a = S().t(b.y)\nlet b = S().t(in_b: a.y)\n"
            "let c = 1") ==
        "E3001 2:15 cycle: S.t#0.y -> S.t#1 -> S.t#1.y -> S.t#0.x\n"
        "E1003 3:15 task 'S.t' has no parameter 'in_b'");
}

TEST_CASE("check: names of a great length are compared with nothing") {
  const std::string name(30000, 'a');
  CHECK(details_of("let " + name + "b = 1\nprint(" + name + "c)").find("did you mean") == std::string::npos);
}

TEST_CASE("check: a closure reads nothing that is not set yet") {
  CHECK(details_of("fn f(a: [int] = map([1, 2], x => x + b), b: int = 3) -> int { return a[0] }") ==
        "E1006 1:38 'b' is not set yet\n  1:42 a later parameter\n");
  CHECK(error_of("fn f(b: int = 3, a: [int] = map([1, 2], x => x + b)) -> int { return a[0] }") == "");
  CHECK(error_of("graph g(x: f32[4]) -> (y: f32[4]) { let l = map([0], i => y + 1.0); y = x }") ==
        "E1006 1:59 'y' is not set yet");
  CHECK(error_of("graph g(x: f32[4]) -> (y: f32[4]) { y = x; let l = map([0], i => y + 1.0); y = l[0] }") == "");
}

TEST_CASE("check: outputs are names that the body sets") {
  const std::string head = "task t(in x: f32[2], in k: int) -> (y: f32[2], z: f32[2]) {\n";
  CHECK(error_of(head + "  y = x\n  y += 1.0\n  z = y * y\n}") == "");
  CHECK(error_of(head + "  z = y\n  y = x\n}") == "E1006 2:7 'y' is not set yet");
  CHECK(details_of(head + "  y = x\n}") ==
        "E1006 1:48 output 'z' of task 't' is never set\n  3:1 the body ends here\n");
  CHECK(details_of(head + "  y = x\n  if k > 0 { z = x }\n}") ==
        "E1006 1:48 output 'z' of task 't' is not set on every path\n  3:6 not set when this is false\n");
  CHECK(error_of(head + "  y = x\n  if k > 0 { z = x } else if k > 1 { z = y } else { z = x + y }\n}") == "");
  CHECK(details_of(head + "  y = x\n  for i in 0..k { z = x }\n}") ==
        "E1006 1:48 output 'z' of task 't' is not set on every path\n  3:7 this loop may run no turn\n");
  CHECK(error_of(head +
                 "  z = x\n  for i in 0..k {\n    if i > 1 { break } else { y = x }\n    z = y\n  }\n  y = x\n}") ==
        "");
  CHECK(error_of("task t(in x: f32[2]) -> f32[2] { value = x }") == "");
}

TEST_CASE("check: a fn returns on every path") {
  CHECK(details_of("fn f(k: int) -> int {\n  if k > 0 { return 1 }\n}") ==
        "E1006 1:4 fn 'f' may end without returning its int\n  3:1 it ends here\n");
  CHECK(error_of("fn f(k: int) -> int { if k > 0 { return 1 } else { return 2 } }") == "");
  CHECK(error_of("fn f() -> int { while true { return 1 } }") == "");
  CHECK(error_of("fn f() -> int { while true { break } }") == "E1006 1:4 fn 'f' may end without returning its int");
  CHECK(error_of("fn f() { return 1 }") == "E1004 1:17 fn 'f' returns nothing");
  CHECK(error_of("fn f() -> int { return \"s\" }") == "E1004 1:24 the result of fn 'f' is int, this is string");
  CHECK(error_of("return 1") == "E0001 1:1 unexpected 'return': only a fn returns");
  CHECK(error_of("break") == "E0001 1:1 unexpected 'break': there is no loop around it");
}

TEST_CASE("check: an expression statement does something") {
  CHECK(error_of("let x = 1\nx + 1") == "E1008 2:1 this statement has no effect: its value is lost");
  CHECK(error_of("1 + 2", {.at_prompt = true}) == "");
  CHECK(error_of("len([1])") == "warning E1008 1:1 the result of this call is not used");
  CHECK(error_of("fn f() -> int { return 1 }\nf()") == "warning E1008 2:1 the result of fn 'f' is not used");
  CHECK(error_of("fn f() -> int { print(1); return 1 }\nf()") == "");
  CHECK(error_of("task t(inout x: f32[2]) { x += 1.0 }\nvar a = fill(f32[2], 0.0)\nt(a)") == "");
}

TEST_CASE("check: patterns take tuples apart") {
  CHECK(type_of_last("let (a, b) = (1, \"s\")\nlet c = b") == "string");
  CHECK(error_of("let (a, b) = 3") == "E1004 1:5 2 names take a tuple apart, this is int");
  CHECK(error_of("for (i, x) in zip([1, 2], [\"a\", \"b\"]) { print(i + 1, x + \"c\") }") == "");
  CHECK(error_of("let _ = 1") == "E1001 1:5 '_' stands for any extent and is only a name in types");
}

TEST_CASE("check: names of the library that are no functions") {
  CHECK(type_of_last("let x = pi") == "float");
  CHECK(value_of_last("let x = inf") == "inf");
  CHECK(error_of("let x = sqrt") == "E1004 1:9 'sqrt' is a function of the library; call it");
}

}  // namespace taskspec::check_names_test
