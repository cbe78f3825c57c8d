// What is known of a function before it is asked: whether it does nothing but to compute.
#include "interp/control/function_key.hpp"

#include <doctest/doctest.h>

#include "frontend/check.hpp"
#include "interp/control/facts.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::function_key_test {

namespace {

constexpr const char* functions = R"(
fields Cell { a: f64 }
task put(inout c: Cell[_].{a}) { for i in c { c[i].a += 1.0 } }
let width = 4
let starts = [3, 5]
let how = 7 as f64

fn computed(c: int) -> [range] {
  var all = [c..c + width]
  for k in 0..3 { if k % 2 == 0 { all += [starts[k % 2]..maximum(k, c) + 1] } }
  return all
}
fn calls(c: int) -> [range] { return map(filter([0, 1, c], x => x > 0), x => x..x + len(computed(c))) }
fn text_of(c: int) -> int { return len("a{c}") + (sqrt(c as float) as int) }

fn given(c: int, what: fn(int) -> int) -> int { return what(c) }
fn gives(c: int) -> int { return given(c, x => x + 1) }
fn looks(c: int, cells: Cell[8]) -> int { return c + (cells.a.sum(0).scalar as int) }
fn takes_apart(c: int, cells: Cell[8]) -> int { return len(blocks(cells, c + 1)) }
fn makes(c: int) -> int {
  let own = region Cell[4]
  return c
}
fn launches(c: int, cells: Cell[8]) -> int {
  launch put(cells) for i in 0..1
  return c
}
fn of_tensors(c: int) -> int { return fill(f64[2], c).sum(0).scalar as int }
fn prints(c: int) -> int {
  print(c)
  return c
}
fn calls_one(c: int) -> int { return 2 * makes(c) }
fn agreed(c: int) -> int { return agree(c) }
)";

}  // namespace

TEST_CASE("[functions] one that only computes is told from one that does more") {
  Sources sources;
  const SourceId main = sources.add("test.task", functions);
  Result<Program> program =
      check(sources, main, {.ops = standard_toolbox().ops, .builtins = standard_toolbox().builtins});
  REQUIRE(program);
  Facts facts(*program);
  std::string compute, more;
  for (std::size_t i = 0; i < program->functions.size(); ++i) {
    const Function& function = program->functions[i];
    if (function.kind != FunctionKind::fn || function.name.starts_with('<') || !function.span.valid()) continue;
    if (function.span.source != main) continue;
    (facts.only_computes(FunctionId(i)) ? compute : more) += function.name + " ";
  }
  CHECK(compute == "computed calls text_of ");
  CHECK(more == "given gives looks takes_apart makes launches of_tensors prints calls_one agreed ");
}

}  // namespace taskspec::function_key_test
