#include "ir/codes/families.hpp"

namespace taskspec {
namespace {

constexpr CodeInfo graph_family[] = {
    {.code = "E3001",
     .summary = "cycle in a graph",
     .program = R"(task f(in x: f32[4]) -> (y: f32[4]) { y = x + 1.0 }
graph g() -> (r: f32[4]) {
  let a = f(b.y)
  let b = f(a.y)
  r = a.y
})",
     .cause =
         R"(The tasks of the path in the message wait for one another: each needs an output of the one before it, and
the first needs one of the last. Such a graph could never start.)",
     .fix = R"(Cut the path at one task: give it a value that is there already, or carry it from step to step in a
`var` or a `state` slot.)"},
    {.code = "E3002",
     .summary = "cycle in a block graph",
     .program = R"(ir front {
  img  : SI  i8  [y: 28, x: 28, f: 1]
  pad  : SIC2D i8 [y: 28, x: 28, r: 1]
  img -> pad
  pad -> img
})",
     .cause = R"(The edges of an `ir` block lead from a block back to itself.)",
     .fix = R"(Remove one edge of the path, or give it `delay(d)`: then the value of an earlier step comes back.)",
     .reach = Reach::circumstance},
    {.code = "E3004",
     .summary = "nothing to compose",
     .program = R"(task halves(in x: f32[4]) -> (low: f32[2], high: f32[2]) {
  low = x[..2]
  high = x[2..]
}
task negate(in x: f32[2]) -> (y: f32[2]) { y = -x }
let both = halves >> negate
print(both.inputs))",
     .cause =
         R"(a >> b hands each output of a to the input of b with the same name; if no name matches and a has a single
output, that goes to the first input of b. Here neither is the case, so b would not follow from a.)",
     .fix = R"(Give an output of the left task the name of an input of the right one, or write a graph that calls
both.)"},
    {.code = "E3005",
     .summary = "a body that is no straight list of ops",
     .program = R"(task clip(inout x: f32[4]) {
  if x.max(0) > 1.0 { x = x / x.max(0) }
}
// taskspec graph --stage ops)",
     .cause =
         R"(What a task computes is written down as one list of ops before it runs; a gradient, a chip and fused code
are made of that list. There is none if data decide which ops run, if a host value that is not known yet does, if
the list would get too long, or if the body is written in C++.)",
     .fix = R"(Choose between values, not between ops: where(x.max(0) > 1.0, x / x.max(0), x). Or put the control
around the task, into the graph. On the host a task without such a list runs all the same.)",
     .reach = Reach::circumstance},
    {.code = "E3101",
     .summary = "the points of a launch are not independent",
     .program = R"(fields Cell { state: f64 }
task w(out c: Cell[_].{state}) { for i in c { c[i].state = 1.0 } }
let p = blocks(region Cell[8], 4)
launch w(p[i / 2]) for i in 0..4)",
     .cause = R"(A launch is one operation, and its points run in any order: none of them may write what another point
reads or writes. The message names two points and what both take. Where the text does not tell, it is found when the
launch is made, from the points of the pieces.)",
     .fix = R"(Use a disjoint partition and an index that gives each point its own piece, write to a field that no
other point reads, or use reduce(+).)"},
    {.code = "E3102",
     .summary = "a claim about a partition is wrong",
     .program = R"(fields Cell { state: f64 }
let p = assume(halo(blocks(region Cell[8], 4), 1), "disjoint")
print(p))",
     .cause =
         R"(assume() was told something that its check refuted: two pieces share a point, or a point is in no piece.
The message names the point, and the colours of the two pieces.)",
     .fix = R"(Take the claim back, or repair the partition at the point that the message names.)"},
};
static_assert(is_family(graph_family, 3));

}  // namespace

std::span<const CodeInfo> graph_codes() { return graph_family; }

}  // namespace taskspec
