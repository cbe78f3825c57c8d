#include "ir/codes/families.hpp"

namespace taskspec {
namespace {

constexpr CodeInfo run_family[] = {
    {.code = "E5001",
     .summary = "integer overflow",
     .program = R"(var x = 9223372036854775807
for i in 0..2 { x += 1 }
print(x))",
     .cause = R"(An int of the host has 64 bits and does not wrap; or a number does not fit the integer precision of the
tensor it meets. (Integers inside tensors wrap.))",
     .fix = R"(Use float where the exact last digit does not matter, or keep the numbers smaller.)"},
    {.code = "E5002",
     .summary = "division by zero",
     .program = R"(fn share(total: int, parts: int) -> int { return total / parts }
print(share(10, 0)))",
     .cause =
         R"(Integers cannot be divided by zero, neither by / nor by %. In a tensor one such element spoils the whole
result, and what reads it does not run. (Floats give inf or nan.))",
     .fix = R"(Test the divisor first; in tensors replace the zeros: where(d == 0, 1, d).)"},
    {.code = "E5003",
     .summary = "out of range",
     .program = R"(let l = [1, 2, 3]
for i in 0..4 { print(l[i]) })",
     .cause = R"(An index or range reaches outside a list, string or tensor, which was known only during the run. Or a task
over views reads or writes a point that its piece does not have; the message names the task, its point, the field and
the index. Or a launch takes a colour that its partition does not have.)",
     .fix = R"(Indices go from 0 to len(l) - 1; loop with `for x in l` or `for i in 0..len(l)`. A task that reads its
neighbours takes a partition that holds them, halo(p, 1) say, or asks for them with a value for those outside:
at(v, i + 1, 0.0).a.)"},
    {.code = "E5004",
     .summary = "a shape is not what was promised",
     .program = R"(fn ones(n: int) -> [float] {
  var l: [float] = []
  for i in 0..n { l += [1.0] }
  return l
}
print((ones(3) as f32[4]).array))",
     .cause = R"(A shape that depends on values of the run (lists, files, int parameters) turned out different from the
one that the program demands. Lists must also be rectangular. An extent that a signature divides, as H / 2, leaves a
rest. The views of a task have other numbers of points than its signature says: Cell[8], or one Cell[N] for both.)",
     .fix =
         R"(Correct the data or the demanded shape; `_` takes a dimension as it comes. pad makes an extent divide.)"},
    {.code = "E5005",
     .summary = "an assertion failed",
     .program = R"(let total = 1 + 1
assert(total == 3, "the total is wrong"))",
     .cause = R"(The condition of assert() was false.)",
     .fix = R"(Something before it does not do what its author believed; the message says what.)"},
    {.code = "E5006",
     .summary = "recursion too deep",
     .program = R"(fn down(n: int) -> int { return 1 + down(n + 1) }
print(down(0)))",
     .cause = R"(Functions called each other more than a million deep; mostly the end of the recursion is missing.)",
     .fix = R"(Return without a call in the simplest case, or write a loop.)"},
    {.code = "E5007",
     .summary = "backward before forward",
     .program = R"(agent Line() {
  weight w: f32[1, 1] = constant(0.5)
  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }
}
let m = train(Line(), loss: "mse_avg", optimizer: sgd(lr: 0.1))
m.backward([[3.0]] as f32[1, 1])
m.forward([[1.0]] as f32[1, 1]))",
     .cause =
         R"(A backward uses what the forward before it computed, an update what the backward before it found; each of
them is used once. There is no loss, no gradient and no metric before the first backward.)",
     .fix = R"(Call forward, backward and update in this order, or step, which does all three.)"},
    {.code = "E5008",
     .summary = "out of memory",
     .program = R"(let x = fill(f64[1000000, 1000000], 1.0)
print(x.sum().scalar))",
     .cause = R"(A tensor, a field of a region, or all that are alive at one time, need more memory than there is. A launch
has more than 2^31 points. Or the system starts no further thread: that, too, is a matter of limits.)",
     .fix = R"(Use smaller shapes or a narrower precision; `run --profile` shows the peak and who makes it. Let a point of a
launch do more: it takes a piece of a partition, not one element. Ask for fewer threads, or raise the limits of the
process: `ulimit -v`, `ulimit -u`.)"},
    {.code = "E5009",
     .summary = "interrupted",
     .program = R"(var n = 0
while true { n = (n + 1) % 10 }       // until Ctrl-C is pressed)",
     .cause = R"(The run was stopped from outside. Files that were complete before are kept; nothing is half written.)",
     .fix = R"(None is needed; the exit code is 130.)",
     .reach = Reach::circumstance},
    {.code = "E5011",
     .summary = "a task or function written in C++ threw an exception",
     .program = R"(task measure(in x: f32[4]) -> (y: f32[4]) extern "measure"    // whose function throws)",
     .cause = R"(The function behind an `extern` or .native task ended by an exception. The outputs of the task have no
values, and what reads them does not run. A function of the host program that is C++ ends the program so.)",
     .fix = R"(The message holds what the exception says; catch in the function what it can deal with itself.)",
     .reach = Reach::circumstance},
    {.code = "E5012",
     .summary = "a rule of a chip was broken during a run",
     .program = R"(// a mapped program in which two buffers of a core share bytes)",
     .cause =
         R"(The simulated cores check each access: a byte that nobody wrote in this step, a packet on top of one that
was not read, one outside of the receive area, stop flags that do not come, cores that wait for one another, a phase that
is longer than the chip allows. What the mapper makes keeps all rules, so this is a program that was changed by hand, or a
mistake of ours.)",
     .fix = R"(The message has core, phase, stage, block, buffer and address. Of a mapping of your own: map anew, or undo
the last change. Else please report it, with the program.)",
     .reach = Reach::circumstance},
    {.code = "E5013",
     .summary = "a weight without a gradient",
     .program = R"(agent Steps() {
  weight w: f32[4] = constant(0.5)
  task forward(in x: f32[4]) -> (y: f32[4]) { y = floor(x * w) }
}
let m = train(Steps(), loss: "mse_avg", optimizer: sgd(lr: 0.1))
m.forward(fill(f32[4], 1.0)))",
     .cause =
         R"(Training changes each weight by the gradient of the loss. Every way from this weight to the loss goes through
an op that has none: it is a step, a choice or a random number, or a C++ function whose reverse nobody gave. So the
weight would stay as it is, whatever it is trained on.)",
     .fix =
         R"(Put an op that has a gradient in its place, or add a way around it: x * w + (floor(x * w) - x * w) has the
values of floor and a gradient. What is not to change is a `state` or a `table`, not a `weight`.)"},
    {.code = "E5014",
     .summary = "an op made a nan",
     .program = R"(let x = fill(f32[4], -1.0)      // run with --detect-nan
print(sqrt(x).array))",
     .cause = R"(The run was asked to stop where a nan appears first, and this op made one of numbers that were none:
0 / 0, the root or logarithm of a negative number, inf - inf. In a step of training it is often a rate that is too
large, some steps before.)",
     .fix = R"(The error shows the op and the task; the number behind the name of the task counts its calls, so it is
that of the step. Look at its inputs, at `m.grad(...)` and at the rate, or bound the gradients with `clip:`.)",
     .reach = Reach::circumstance},
    {.code = "E5017",
     .summary = "no file is attached",
     .program = R"(fields Cell { state: f64 }
let cells = region Cell[4]
detach(cells))",
     .cause =
         R"(`detach` writes to the file that `attach` left with the same region, piece, field or partition. There is none:
nothing was attached, it was to something else (a region is not the partition that is of it), or it was detached before.)",
     .fix = R"(Detach what was attached, or say where to: detach(cells, file: "cells.npy").)"},
};
static_assert(is_family(run_family, 5));

}  // namespace

std::span<const CodeInfo> run_codes() { return run_family; }

}  // namespace taskspec
