// Types, extents and constants: polynomials, unification, guards, folding, conversions.
#include <doctest/doctest.h>

#include "frontend/check/body.hpp"
#include "stdlib/ops.hpp"
#include "tests/unit/checking.hpp"

namespace taskspec::check_types_test {

using testing::details_of;
using testing::dump_of;
using testing::error_of;
using testing::type_of_last;
using testing::value_of_last;

namespace {

const std::string pass = "task pass(in x: f32[N, M]) -> (y: f32[M, N]) { y = x.permute(1, 0) }\n";

}  // namespace

TEST_CASE("check: constants are folded, and leave no call behind") {
  CHECK(value_of_last("let n = 2 * 3 + 1") == "7");
  CHECK(value_of_last("let n = 4\nlet m = n * n") == "16");
  CHECK(value_of_last("let s = \"a\" + \"b\"") == "ab");
  CHECK(value_of_last("let x = 7 / 2 as float") == "3.5");
  CHECK(value_of_last("let l = [1, 2.0]") == "[1, 2]");
  CHECK(type_of_last("let l = [1, 2.0]") == "[float]");
  CHECK(value_of_last("let t = ([10, 20], 3)\nlet x = [1, 2, 3][2]") == "3");
  CHECK(value_of_last("let b = 1 < 2 && !(3 == 4)") == "true");
  CHECK(dump_of("let n = 1 + 2 * 3", "<module>") == "module test\n  %0 = constant 7 : int\n  write n = %0\n");
}

TEST_CASE("check: floats are read exactly, whatever the language of the user") {
  CHECK(value_of_last("let x = 1_000.5e-2") == "10.005");
  CHECK(value_of_last("let x = 1e-400") == "0");
  CHECK(value_of_last("let x = 0.001e-322") == "0");
  CHECK(value_of_last("let x = 0e99999999999999999999") == "0");
  CHECK(value_of_last("let x = 0.001e310") == "1e+307");
  CHECK(error_of("let x = 1e99999999999999999999") == "E0004 1:9 number too large");
}

TEST_CASE("check: what goes wrong in a constant is an error already") {
  CHECK(error_of("let x = 9223372036854775807 + 1").substr(0, 10) == "E5001 1:9 ");
  CHECK(error_of("let x = 1 / 0").substr(0, 10) == "E5002 1:9 ");
  CHECK(error_of("let x = [1, 2][2]") == "E2004 1:16 index 2 is outside a list of 2");
}

TEST_CASE("check: a top-level let is known in functions, but read when they run") {
  // The two reads are what finds out that `n` is not set yet (E1006) when g runs too early.
  CHECK(dump_of("let n = 4\ngraph g() -> (y: f32[n]) { y = fill(f32[n], 0.0) }", "g") ==
        "graph g() -> (y: f32[4])   [graph]\n"
        "  %0 = global test.n : int   folded\n"
        "  %1 = global test.n : int   folded\n"
        "  %2 = type : type f32[4]\n"
        "  %3 = constant 0 : float\n"
        "  %4 = op fill(%2, %3) : f32[4]   folded\n"
        "  write y = %4\n");
}

TEST_CASE("check: extents are polynomials in normal form") {
  CHECK(type_of_last("let n = len([1])\nlet x = fill(f32[2 * n + n, n * n], 0.0)") == "f32[3*n, n*n]");
  CHECK(error_of("fn f(n: int) -> f32[n + 1] { return fill(f32[1 + n], 0.0) }") == "");
  CHECK(error_of("fn f(n: int) -> f32[2 * n] { let m = n + n; return fill(f32[m], 0.0) }") == "");
  CHECK(error_of("graph g(x: f32[N]) -> (y: f32[2*N]) { y = concat([x, x], 0) }") == "");
  CHECK(error_of("graph g(x: f32[N]) -> (y: f32[N]) { y = fill(f32[x.shape[0]], 0.0) }") == "");
  CHECK(error_of("graph g(x: f32[N]) -> (y: f32[N + 1]) { y = fill(f32[N], 0.0) }") ==
        "E2001 1:45 shapes differ: 'y' is f32[N + 1], this is f32[N]; dimension 0 is N + 1 against N");
  CHECK(error_of("fn f(n: int) { let x = fill(f32[n - 5 + 2], 0.0) }") == "");
  CHECK(error_of("let x = fill(f32[2 - 3], 0.0)") == "E2004 1:18 an extent cannot be negative: -1");
}

TEST_CASE("check: dimension variables are bound by the arguments") {
  CHECK(type_of_last(pass + "let y = pass(fill(f32[2, 3], 0.0)).y") == "f32[3, 2]");
  CHECK(error_of("task t(in x: f32[N], in y: f32[N]) -> (z: f32[N]) { z = x + y }\n"
                 "let z = t(fill(f32[4], 0.0), fill(f32[5], 0.0))") ==
        "E2001 2:30 shapes differ: 'y' of task 't' is f32[4], this is f32[5]; dimension 0 is 4 against 5");
  CHECK(details_of("task t(in x: f32[N], in y: f32[N]) -> (z: f32[N]) { z = x + y }\n"
                   "let z = t(fill(f32[4], 0.0), fill(f32[5], 0.0))")
            .find("  2:11 this made it 4\n") != std::string::npos);
  CHECK(error_of("graph g(x: f32[N], y: f32[M]) -> (z: f32[N]) { z = x + y }") ==
        "E2001 1:54 shapes differ: f32[N] + f32[M]; dimension 0 is N against M");
  CHECK(type_of_last("fn f(n: int, x: f32[n]) -> f32[n, 2 * n] { return fill(f32[n, 2 * n], 0.0) }\n"
                     "let y = f(3, fill(f32[3], 0.0))") == "f32[3, 6]");
  CHECK(error_of("fn f(n: int, x: f32[n]) { print(x) }\nf(3, fill(f32[4], 0.0))") ==
        "E2001 2:6 shapes differ: 'x' of fn 'f' is f32[3], this is f32[4]; dimension 0 is 3 against 4");
  CHECK(error_of("graph g(x: f32[N*N]) -> (y: f32[1]) { y = x.sum(0) }") ==
        "E1004 1:16 the extent 'N' cannot be read off an argument: no parameter has it alone");
  CHECK(error_of("task t() -> (y: f32[N]) { y = fill(f32[3], 0.0) }") ==
        "E1001 1:21 unknown extent 'N': no parameter has it");
  CHECK(error_of("task t(in x: f32[n]) { print(1) }").substr(0, 32) == "E1001 1:18 unknown name 'n'\nE130");
}

TEST_CASE("check: a function calls itself with other extents") {
  CHECK(error_of("fn half(x: f32[N, M], n: int) -> f32[N, M] {\n"
                 "  if n == 0 { return fill(f32[N, M], 1.0) }\n"
                 "  return half(half(x * x, n / 2), n - 1)\n}") == "");
  CHECK(error_of("fn grow(x: f32[N], n: int) -> f32[N] {\n  return grow(concat([x, x], 0), n - 1)\n}") ==
        "E2001 2:10 shapes differ: the result of fn 'grow' is f32[N], this is f32[2*N]; dimension 0 is N against 2*N");
}

TEST_CASE("check: what only the run can decide becomes a guard") {
  std::string dump =
      dump_of("let n = len([1])\nlet m = len([2])\nlet z = fill(f32[n], 0.0) + fill(f32[m], 0.0)", "<module>");
  CHECK(dump.find("   guard n == m") != std::string::npos);
  dump = dump_of("let n = len([1])\nlet x: f32[4] = fill(f32[n], 0.0)", "<module>");
  CHECK(dump.find("   guard n == 4") != std::string::npos);
  // An extent that came from a file is asked for where it is needed.
  dump = dump_of("let x: f32[4] = load(f32[_], \"x.npy\")", "<module>");
  CHECK(dump.find("field shape of %2 : [int]") != std::string::npos);
  CHECK(dump.find("   guard _ == 4") != std::string::npos);
}

TEST_CASE("check: extents inside lists and results have no guard, so they must be known") {
  const std::string two = "fn two() -> int { return 2 }\n";
  CHECK(error_of(two + "var l = [fill(f32[4], 0.0)]\nlet m = [fill(f32[two()], 1.0)]\nl = m") ==
        "E1004 4:5 'l' is [f32[4]], this is [f32[two()]], and whether they agree is not known before the run");
  const std::string list = "let m = [fill(f32[two()], 1.0)]\n", pair = "let m = (1, fill(f32[two()], 1.0))\n";
  CHECK(error_of(two + list + "fn f(l: [f32[4]]) { print(l) }\nf(m)").starts_with("E1004 4:3 "));
  CHECK(error_of(two + pair + "fn f(t: (int, f32[4])) { print(t[0]) }\nf(m)").starts_with("E1004 4:3 "));
  // A list or tuple that stands in the text has its guards on its parts.
  CHECK(
      dump_of(two + "var l = [fill(f32[4], 0.0)]\nl = [fill(f32[two()], 1.0)]", "<module>").find("guard two() == 4") !=
      std::string::npos);
  CHECK(error_of(two + "fn f(n: int) -> (f32[n], f32[n]) { return (fill(f32[n], 1.0), fill(f32[two()], 2.0)) }") == "");
  CHECK(error_of("fn f(n: int) -> [f32[n]] { return map(0..n, i => fill(f32[n], 1.0)) }") == "");
  CHECK(error_of(two + "fn f(l: [f32[4]]) { print(l) }\nf([fill(f32[two()], 1.0) as f32[4]])") == "");
  CHECK(error_of(two + "fn g(n: int) -> f32[n] { return fill(f32[n], 0.0) }\n"
                       "fn f(h: fn(int) -> f32[4]) { print(h(2)) }\nf(g)")
            .starts_with("E1004 4:3 "));
  CHECK(error_of("var l: [f32[_]] = []\nl = [load(f32[_], \"x.npy\")]") == "");
}

TEST_CASE("check: a type that is held stays what it was while the function grows") {
  const OpTable ops = standard_ops();
  const BuiltinTable builtins = testing::test_builtins();
  const CheckOptions options{.ops = ops, .builtins = builtins};
  checking::World world(options);
  checking::Body body(world, world.add_function({}));
  const checking::Term four = body.make(Form::constant, Type::tensor(Precision::f32, {Dim(4)}), {}, {});
  auto&& type = body.type(four);
  auto&& known = body.known(body.constant(Value(std::int64_t{7}), Type::Kind::integer, {}).id);
  static_assert(!std::is_lvalue_reference_v<decltype(type)> && !std::is_pointer_v<std::remove_cvref_t<decltype(known)>>,
                "no look into the list of calls, which moves when it grows");
  const Call* const before = &body[four.id];
  while (&body[four.id] == before) body.constant(Value(std::int64_t{0}), Type::Kind::integer, {});
  CHECK(type.text() == "f32[4]");
  CHECK(known->integer() == 7);
}

TEST_CASE("check: guards name what the running function knows") {
  // The default of n is known to f alone, which looks at its arguments itself.
  const std::string f = "fn two() -> int { return 2 }\nfn f(n: int = two(), x: f32[n]) -> int { return n }\n";
  CHECK(dump_of(f + "let k = 7\nprint(f(x: [1.0, 2.0] as f32[2]))", "<module>").find("guard") == std::string::npos);
  // A let or var has the type that is written, and what uses it depends on the guard.
  std::string dump = dump_of("let x: f32[4] = load(f32[_], \"x.npy\")\nlet y = x + 1.0", "<module>");
  CHECK(dump.find("op add") != std::string::npos);
  CHECK(type_of_last("let x: f32[4] = load(f32[_], \"x.npy\")\nlet y = x + 1.0") == "f32[4]");
  CHECK(error_of("var x: f32[4] = load(f32[_], \"x.npy\")\nx = fill(f32[5], 1.0)") ==
        "E2001 2:5 shapes differ: 'x' is f32[4], this is f32[5]; dimension 0 is 4 against 5");
  // Two files: the second one must be as long as the first.
  dump = dump_of("var x = load(f32[_], \"x.npy\")\nx = load(f32[_], \"y.npy\")", "<module>");
  CHECK(dump.find("   guard _ == _") != std::string::npos);
}

TEST_CASE("check: closures wait for the extents of other arguments") {
  const std::string twice = "fn twice(f: fn(f32[N]) -> f32[N], x: f32[N]) -> f32[N] { return f(f(x)) }\n";
  CHECK(type_of_last(twice + "let y = twice(v => v * 2.0, [1.0, 2.0] as f32[2])") == "f32[2]");
  CHECK(type_of_last(twice + "let y = twice(x: [1.0, 2.0] as f32[2], f: v => v * 2.0)") == "f32[2]");
  // A fn with dimensions of its own is taken for the extents that are wanted.
  const std::string id = "fn id(a: f32[N]) -> f32[N] { return a }\nfn short(a: f32[3]) -> f32[3] { return a }\n";
  CHECK(type_of_last(twice + id + "let y = twice(id, [1.0, 2.0] as f32[2])") == "f32[2]");
  CHECK(error_of(twice + id + "let y = twice(short, [1.0, 2.0] as f32[2])").starts_with("E2001 4:22 "));
  CHECK(error_of("fn f(g: fn(f32[N]) -> f32[N]) { print(g) }\nf(x => x * 2.0)") ==
        "E1004 2:3 no other argument says what the extents of fn(f32[N]) -> f32[N] are");
  CHECK(error_of("fn f(g: fn(f32[n]) -> f32[n], n: int) { print(g(fill(f32[n], 0.0))) }\nf(x => x * 2.0, 3)") == "");
}

TEST_CASE("check: extents are polynomials of bounded length") {
  std::string sum = "(A + B + C + D + E + F + G + H)", power = sum;
  for (int i = 0; i < 40; ++i) power += " * " + sum;
  std::string text = "graph g(x: f32[" + power + "]) -> (y: f32[1]) { y = fill(f32[1], 0.0) }";
  CHECK(error_of(text).find("an extent has at most 256 terms of at most 16 factors") != std::string::npos);
  // An int that is computed so becomes a symbol of its own.
  std::string product = "n";
  for (int i = 0; i < 20; ++i) product += " * n";
  CHECK(error_of("let n = len([1])\nlet m = " + product + "\nlet x = fill(f32[m], 0.0)") == "");
}

TEST_CASE("check: casts") {
  CHECK(type_of_last("let x = [1.0, 2.0] as f32[2]") == "f32[2]");
  CHECK(type_of_last("let x = [[1, 2, 3], [4, 5, 6]] as i32[_, _]") == "i32[2, 3]");
  CHECK(type_of_last("let x = fill(f32[3], 0.0) as i8[_]") == "i8[3]");
  CHECK(type_of_last("let x = 2.5 as int") == "int");
  CHECK(type_of_last("let x = 3 as f64") == "f64");
}

TEST_CASE("check: int becomes float and a scalar a rank-0 tensor, nothing else by itself") {
  CHECK(error_of("let x: float = 1") == "");
  CHECK(error_of("fn f(x: float) { print(x) }\nf(1)") == "");
  CHECK(error_of("let x: int = 1.5") == "E1004 1:14 'x' is int, this is float");
  CHECK(error_of("let x: int = \"one\"") == "E1004 1:14 'x' is int, this is string");
  CHECK(error_of("let l: [float] = [1, 2]") == "");
  CHECK(error_of("let l: [int] = []\nlet m = l + [1]") == "");
  CHECK(error_of("let l = []") == "E1004 1:9 the type of an empty list is not known");
  CHECK(error_of("let l = [1, \"a\"]") == "E1004 1:13 a list holds values of one type, here int and string");
  CHECK(error_of("task t(in a: f32, in b: i8) -> (y: f32) { y = a }\nlet y = t(1.5, 3).y") == "");
  CHECK(error_of("task t(in b: i8) -> (y: i8) { y = b }\nlet y = t(300).y") ==
        "E2003 2:11 300 does not fit i8 (-128..127)");
  CHECK(details_of("fn f(x: int) { print(x) }\nf(fill(i64, 3))") ==
        "E1004 2:3 'x' of fn 'f' is int, this is i64\n  at i64\n  1:6 declared here\n  help: receive its value with "
        ".scalar\n");
}

TEST_CASE("check: precisions") {
  CHECK(details_of("let a = [1, 2] as i8[2]\nlet b = [1.0, 2.0] as f32[2]\nlet c = a * b") ==
        "E2002 3:11 precision differs: i8 * f32; convert one side with 'as'\n  3:9 i8[2]\n  3:13 f32[2]\n");
  CHECK(error_of("let a = [1, 2] as i8[2]\nlet c = a + 300") == "E2003 2:13 300 does not fit i8 (-128..127)");
  CHECK(error_of("task t(in x: f32[N]) -> (y: f32[N]) { y = x }\nlet y = t(fill(i8[3], 0))") ==
        "E2002 2:11 precision differs: 'x' of task 't' is f32, this is i8; convert it with 'as'");
}

TEST_CASE("check: shapes of both sides are labelled") {
  CHECK(details_of("let c = fill(f32[4], 0.0) + fill(f32[5], 0.0)") ==
        "E2001 1:27 shapes differ: f32[4] + f32[5]; dimension 0 is 4 against 5\n  1:9 f32[4]\n  1:29 f32[5]\n");
}

TEST_CASE("check: indexing") {
  const std::string x = "let x = fill(f32[4, 5], 0.0)\n";
  CHECK(type_of_last(x + "let y = x[1]") == "f32[5]");
  CHECK(type_of_last(x + "let y = x[1, 2]") == "f32");
  CHECK(type_of_last(x + "let y = x[1..3]") == "f32[2, 5]");
  CHECK(type_of_last(x + "let y = x[.., 2..]") == "f32[4, 3]");
  CHECK(type_of_last(x + "let y = x[..2, 1]") == "f32[2]");
  CHECK(type_of_last(x + "let i = 2 as i64\nlet y = x[1..3, i]") == "f32[2]");
  CHECK(error_of(x + "let y = x[4]") == "E2004 2:11 4 is outside dimension 0 of f32[4, 5]");
  CHECK(error_of(x + "let y = x[\"a\"]") ==
        "E1004 2:11 an index is an int, a range or an integer tensor of rank 0, this is string");
  CHECK(type_of_last("let l = [1, 2, 3]\nlet y = l[0..2]") == "[int]");
  CHECK(type_of_last("let s = \"abc\"\nlet y = s[1]") == "string");
  CHECK(type_of_last("let s = \"abc\"\nlet y = s[1..]") == "string");
  CHECK(error_of("let y = 3[0]") == "E1004 1:9 int cannot be indexed");
  CHECK(type_of_last("let t = (1, \"a\")\nlet y = t[1]") == "string");
}

TEST_CASE("check: elements of lists are assigned, those of tensors not") {
  CHECK(error_of("var l = [[1, 2], [3]]\nl[0][1] = 5\nl[1][0] += 2") == "");
  CHECK(error_of("let x = fill(f32[4], 0.0)\nx[0] = 1.0") ==
        "E1402 2:1 'x' is a tensor; its elements cannot be assigned");
  CHECK(error_of("var l = [fill(f32[4], 0.0)]\nl[0][1] = 1.0") ==
        "E1402 2:1 'l[0]' is a tensor; its elements cannot be assigned");
  CHECK(error_of("let l = [1]\nl[0] = 2") == "E1007 2:1 'l' is a let and cannot be changed");
  CHECK(error_of("var l = [1]\nl[0] = \"a\"") == "E1004 2:8 'l[0]' is int, this is string");
  CHECK(dump_of("var l = [1]\nlet i = len(l)\nl[i] = 2", "<module>").find("store l[%3] = %5") != std::string::npos);
}

TEST_CASE("check: closures take their types from where they are used") {
  CHECK(type_of_last("let k = len([1])\nlet l = map([1, 2], x => x * k + 0.5)") == "[float]");
  CHECK(type_of_last("let l = map(0..3, i => (i, \"a\"))") == "[(int, string)]");
  CHECK(type_of_last("let l = map(zip([1], [\"a\"]), (i, s) => s + \"b\")") == "[string]");
  CHECK(type_of_last("let l = [1.0, 4.0].map(sqrt)") == "[float]");
  CHECK(error_of("fn twice(f: fn(int) -> int, x: int) -> int { return f(f(x)) }\nprint(twice(x => x + 1, 2))") == "");
  CHECK(error_of("fn twice(f: fn(int) -> int, x: int) -> int { return f(f(x)) }\nprint(twice(x => 0.5, 2))") ==
        "E1004 2:18 the result of this function is int, this is float");
  CHECK(error_of("let f = x => x + 1") == "E1004 1:9 the parameters of this function have no types here");
  CHECK(dump_of("let k = len([1])\nlet l = map([1, 2], x => x * k)", "<closure>") ==
        "fn <closure>(capture k: int, x: int) -> int\n"
        "  %0 = parameter x : int\n"
        "  %1 = parameter k : int\n"
        "  %2 = op mul(%0, %1) : int\n"
        "  return %2\n");
  CHECK(type_of_last("let n = len([1])\nlet x = fill(f32[n], 0.0)\nlet l = map([1.0], k => x * k)") == "[f32[n]]");
}

}  // namespace taskspec::check_types_test
