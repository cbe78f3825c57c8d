#include "ir/codes/families.hpp"

namespace taskspec {
namespace {

constexpr CodeInfo names_family[] = {
    {.code = "E1001",
     .summary = "unknown name",
     .program = R"(let energy = 45
print(enrgy))",
     .cause = R"(No variable, function, agent, module or op of this name can be seen from here. A name of a block ends
with the block; names of an imported file that begin with _ stay private.)",
     .fix = R"(Check the spelling (the message names the nearest one), define it, or import the file that does.)"},
    {.code = "E1002",
     .summary = "no such output or member",
     .program = R"(task energy(in x: f32[N]) -> (e: f32[1]) { e = (x * x).sum(0) }
let t = energy([1.0, 2.0] as f32[2])
print(t.z))",
     .cause = R"(What stands before the dot has no output, member or method of this name. On the call of a task the
outputs are looked up first, then the methods of its output if it has only one.)",
     .fix = R"(Use one of the names that the message lists.)"},
    {.code = "E1003",
     .summary = "wrong arguments",
     .program = R"(fn double(x: int) -> int { return 2 * x }
print(double(1, 2)))",
     .cause = R"(The call gives too many arguments, too few, one twice, or one by a name that the signature does not
have. For format(): the number of {} and the number of values differ.)",
     .fix = R"(Compare with the signature in the message; positional arguments come first, then named ones.)"},
    {.code = "E1004",
     .summary = "wrong type",
     .program = R"(let x: int = "one")",
     .cause = R"(A value of one type stands where another is wanted. Nothing converts by itself but int to float. A
comparison takes two sides, so `a < b < c` compares a bool and is refused too.)",
     .fix = R"(Convert with `as`, with parse_int or parse_float from a string, or change the wanted type. Write a
chain of comparisons with &&.)"},
    {.code = "E1005",
     .summary = "defined twice",
     .program = R"(let x = 1
let x = 2)",
     .cause = R"(One scope (a file, a body or a block) already has this name. An inner scope may hide it.)",
     .fix = R"(Use another name, or make the first one a `var` and assign to it.)"},
    {.code = "E1006",
     .summary = "not set",
     .program = R"(task pick(in x: f32[4], in k: int) -> (y: f32[4]) {
  if k > 0 { y = x }
})",
     .cause = R"(A variable is read before it has a value, or an output of a task or graph is not set on every path
through its body; of a task in C++, an element of it is left as it was. A function may also be called above the `let`
that it reads.)",
     .fix = R"(Set it in the other branch too, give it a first value, or move the use below the `let`.)"},
    {.code = "E1007",
     .summary = "cannot be changed",
     .program = R"(let x = 1
x = 2)",
     .cause = R"(What `let` names is final, and so are parameters, loop variables and the names of declarations.)",
     .fix = R"(Declare it with `var`, or give the new value a name of its own.)"},
    {.code = "E1008",
     .summary = "statement without effect",
     .program = R"(let x = 1
x + 1)",
     .cause = R"(Only a call, `launch` or `run` can stand as a statement: the value of anything else would be lost. This
also happens when a line starts with ( [ or -, which begins a new statement.)",
     .fix = R"(Name the value with `let`, print it, or remove it. To go on with the line before, end that one with the
operator.)"},
    {.code = "E1009",
     .summary = "needs a part that is not built yet",
     .program = R"(fields Cell { a: f64 }
task best(in c: Cell[4].{a}) -> (y: f64[2]) { let two = topk(c.a, 2); y = two.values })",
     .cause =
         R"(The language has this, and the parser and checker know it, but this version of taskspec cannot run it.)",
     .fix = R"(Take it out, or express it with tensors, tasks and graphs.)"},
    {.code = "E1010",
     .summary = "a function cannot see a top-level var",
     .program = R"(var count = 1
fn next() -> int { return count + 1 }
print(next()))",
     .cause = R"(Functions, tasks and graphs see the top-level `let`s and no top-level `var`, so that what they compute
depends on their arguments only.)",
     .fix = R"(Pass it as an argument, or make it a `let`.)"},
    {.code = "E1301",
     .summary = "host control needs an explicit receive",
     .program = R"(fn sign(x: f32[1]) -> int {
  if x > 0.0 { return 1 }
  return -1
}
print(sign([2.0] as f32[1])))",
     .cause =
         R"(A tensor is a value of the graph, which may not have been computed yet; `if`, `while` and the other parts
of the host program need a value now.)",
     .fix = R"(Receive it: x.scalar for one element, x.array for nested lists. In a graph or task a one-element bool
tensor may be tested as it is.)"},
    {.code = "E1302",
     .summary = "a graph has host effects",
     .program = R"(graph g(x: f32[4]) -> (y: f32[4]) {
  print("here")
  y = x + 1.0
})",
     .cause = R"(The body of a graph or task is pure tensor work: it may run anywhere, at any time, so it cannot print,
read files, receive or ask the clock, nor call a function that does.)",
     .fix = R"(Move the effect to the caller, or make the graph a `fn`. graph_print shows a value from inside.)"},
    {.code = "E1303",
     .summary = "a local value decides a graph operation",
     .program = R"(task step(in x: f32[4]) -> (y: f32[4]) { y = x + 1.0 }
var x = [1.0, 2.0, 3.0, 4.0] as f32[4]
let start = clock()
while clock() - start < 0.5 { x = step(x).y }
print(x.array))",
     .cause =
         R"(clock(), env() and rank() may differ from shard to shard, and so may seconds and peak of a report and whatever
is computed from these or set where one of them decides. If such a value decides whether or how often the graph does
something, or is handed to it, the shards no longer run the same program. Receives are part of that: all shards take
part in them. Printing such a value, measuring with it, and control over host code are fine; so is ending the program
by it (exit, assert), since that ends it on all shards.)",
     .fix = R"(Let them agree first: agree(clock()) takes the value of shard 0 on all.)"},
    {.code = "E1304",
     .summary = "a host value is sent to the graph",
     .program = R"(fn grown(x: f32[4], k: float) -> f32[4] {
  return x * k
}
print(grown([1.0, 2.0, 3.0, 4.0] as f32[4], parse_float("2.5")).array))",
     .cause =
         R"(The graph program needs a value that only the host program can make: each time it comes there, it waits for
a message. Nothing is wrong with that; `taskspec check --warn=implicit-send FILE` and `--error=implicit-send` point at
such places, and `taskspec slices FILE` shows all that goes between the two programs.)",
     .fix = R"(Constants, what is computed from constants, and loops with constant bounds need no message; neither does
a tensor that the graph makes itself.)",
     .reach = Reach::circumstance},
    {.code = "E1401",
     .summary = "read-only in this task",
     .program = R"(task add_one(in c: f32[4]) -> (y: f32[4]) {
  c = c + 1.0
  y = c
})",
     .cause = R"(A parameter with the privilege `in` (which is what no privilege means) is only read. So it is in a C++
function behind a task: its signature says what it gets to write, and check_native_tasks(true) finds what it wrote all
the same.)",
     .fix = R"(Declare it `inout` if the caller shall see the change, else compute into a name of its own.)"},
    {.code = "E1402",
     .summary = "elements of a tensor cannot be assigned",
     .program = R"(var x = [1.0, 2.0] as f32[2]
x[0] = 3.0)",
     .cause = R"(Tensors are values: an operation makes a new one and never changes an old one.)",
     .fix = R"(Build the new tensor with operations (where, concat, pad), or change a list and convert it.)"},
    {.code = "E1403",
     .summary = "one place twice in a call that writes it",
     .program = R"(task take(inout a: f32[N], inout b: f32[N]) -> (s: f32[1]) {
  a = a - b
  b = b + a
  s = a.sum(0)
}
var x = [1.0, 2.0] as f32[2]
print(take(x, x).s.scalar))",
     .cause = R"(Two parameters of one call name the same place and at least one of them writes it, so the order of
reading and writing inside the task would decide the result. So it is with two views of one region that have points and a
field in common, where one of them writes it.)",
     .fix = R"(Pass a copy for one of them, or write a task with one parameter. Of a region take pieces that have no point in
common, or say in the signature that each view has fields of its own: inout c: Cell[_].{a}, in d: Cell[_].{b}.)"},
    {.code = "E1405",
     .summary = "a use of a view that its privilege does not have",
     .program = R"(fields Node { charge: f64 }
task add_up(reduce(+) n: Node[_].{charge}) {
  for i in n { n[i].charge = n[i].charge + 1.0 }
})",
     .cause = R"(What a task does with a view stands in its signature, and who runs tasks side by side relies on it. A
view under `reduce(op)` is folded into, in any order and from any number of tasks, so nobody may see what it holds
meanwhile; a view under `out` has no contents before the task writes them.)",
     .fix = R"(Under `reduce(+)` write `n[i].f += e`, under `reduce(*)` `n[i].f *= e`, under `reduce(min)`
`n[i].f = minimum(n[i].f, e)`, and so for max. A view that is read and written is `inout`.)"},
};
static_assert(is_family(names_family, 1));

}  // namespace

std::span<const CodeInfo> name_codes() { return names_family; }

}  // namespace taskspec
