// An hour through the language: each stop is a few sentences and a program that the tests run.
#include "interp/reference/language.hpp"

namespace taskspec {

namespace {

constexpr TourStop tour_stops[] = {
    {"Values and printing",
     "A program is a text that runs from top to bottom: taskspec run FILE. `let` names a value for good, `var` a "
     "variable. Ints and floats are two types, and a division of ints drops the fraction. Lists are values: a change "
     "of "
     "one variable is seen by no other. The lines `// expect:` say what is printed; taskspec test FILE checks them.",
     "let name = \"tour\"\n"
     "var l = [3, 1, 2]\n"
     "l += [4]\n"
     "print(name, l, sort(l), len(l), 7 / 2, 7 / 2.0)\n"
     "// expect: tour [3, 1, 2, 4] [1, 2, 3, 4] 4 3 3.5\n"},
    {"Control",
     "`if`, `for` and `while` are what they are elsewhere, with braces always and brackets never. A range a..b ends "
     "before b. Several values make a tuple, which a pattern takes apart.",
     "for i in 0..3 { if i != 1 { print(i) } }\n"
     "for (k, word) in enumerate([\"a\", \"b\"]) { print(k, word) }\n"
     "var n = 1\n"
     "while n < 100 { n *= 3 }\n"
     "print(n)\n"
     "// expect: 0\n"
     "// expect: 2\n"
     "// expect: 0 a\n"
     "// expect: 1 b\n"
     "// expect: 243\n"},
    {"Functions",
     "A `fn` has typed parameters, defaults among them, and one result; recursion is fine. `x => e` is a function "
     "value of one expression, where something takes one.",
     "fn power(x: int, n: int = 2) -> int {\n"
     "  if n == 0 { return 1 }\n"
     "  return x * power(x, n - 1)\n"
     "}\n"
     "print(power(3), power(2, n: 10), map([1, 2, 3], x => power(x)))\n"
     "// expect: 9 1024 [1, 4, 9]\n"},
    {"Tensors",
     "A tensor is an immutable array: f32[2, 3] is a precision with extents. `as` makes one of a list, fill, iota, "
     "uniform, load and others make more. Operators work element by element and broadcast; @ is the matrix product. "
     "Precisions never mix by themselves. A reduction keeps its axis with extent 1, so x - x.mean(0) just works.",
     "let x = [[1.0, 2.0], [3.0, 4.0]] as f32[2, 2]\n"
     "print((x * 10.0).array, (x @ x).array)\n"
     "print((x - x.mean(0)).array, x.shape, x[1, ..].array)\n"
     "// expect: [[10, 20], [30, 40]] [[7, 10], [15, 22]]\n"
     "// expect: [[-1, -1], [1, 1]] [2, 2] [3, 4]\n"},
    {"Two programs in one text",
     "What computes with tensors belongs to the graph, everything else to the host. A tensor is a future: a name and a "
     "type. Printing it prints these; .array and .scalar receive its contents, and only then the host waits. Host "
     "control wants host values: if x.scalar > 0.0. `taskspec slices FILE` shows both programs and their messages.",
     "let x = [1.0, 2.0, 3.0] as f32[3]\n"
     "let s = x.sum(0)\n"
     "print(s.shape, s.scalar)\n"
     "if s.scalar > 5.0 { print(\"large\") }\n"
     "// expect: [1] 6\n"
     "// expect: large\n"},
    {"Tasks",
     "A `task` is a leaf of the graph: its body, however long, is one node. It sets its outputs as variables, and "
     "there "
     "is no return. A call gives an invocation, whose outputs are futures that go into other calls.",
     "task moments(in x: f32[N]) -> (mean: f32[1], dev: f32[N]) {\n"
     "  mean = x.mean(0)\n"
     "  dev = x - mean\n"
     "}\n"
     "task energy(in dev: f32[N]) -> (e: f32[1]) { e = (dev * dev).sum(0) }\n"
     "let m = moments([1.0, 2.0, 3.0] as f32[3])\n"
     "let e = energy(m.dev)\n"
     "print(e.e)\n"
     "print(m.mean.scalar, e.e.scalar)\n"
     "// expect: <energy#0.e : f32[1], 2 steps>\n"
     "// expect: 2 2\n"},
    {"Extents",
     "A capital name in a signature is a dimension that the arguments decide; one name for two extents says that they "
     "are equal. Extents may be computed, also divided where no rest is left. What does not fit is told before the "
     "program runs, where it can be known.",
     "task halved(in x: f32[C, H, W]) -> (y: f32[C, H / 2, W / 2]) { y = x.max_pool(2) }\n"
     "task joined(in a: f32[N], in b: f32[M]) -> (y: f32[N + M]) { y = concat([a, b], 0) }\n"
     "print(halved(fill(f32[3, 8, 4], 1.0)).y.shape, joined(fill(f32[2], 0.0), fill(f32[3], 1.0)).y.shape)\n"
     "// expect: [3, 4, 2] [5]\n"},
    {"Graphs and chains",
     "A `graph` is a function of nothing but tasks and ops. It is a value: chains(g) says how its tasks are put "
     "together. A chain is a path on which no task branches (sink rule) or joins (source rule); it is dispatched at "
     "once and runs as one pass over the data. why(g) tells what ended each. `taskspec graph FILE --format svg` draws "
     "it.",
     "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
     "task add2(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a + b }\n"
     "graph diamond(x: f32[N]) -> (y: f32[N]) {\n"
     "  let s = inc(x)\n"
     "  y = add2(inc(inc(s)), inc(s))\n"
     "}\n"
     "print(chains(diamond))\n"
     "print(diamond([1.0] as f32[1]).array)\n"
     "// expect: [[inc], [inc, inc], [inc], [add2]]\n"
     "// expect: [7]\n"},
    {"Agents and state",
     "An `agent` groups parameters, slots and tasks. A `state` keeps what a task leaves in it; a `weight` changes by "
     "training only, a `table` never. A task that writes what it is given takes it as `inout`: a place of the caller.",
     "agent Counter(step: float) {\n"
     "  state n: f32[1] = zero()\n"
     "  task next() -> (now: f32[1]) { n += step; now = n }\n"
     "}\n"
     "task bump(inout p: f32[1]) -> (old: f32[1]) { old = p; p *= 2.0 }\n"
     "let c = Counter(2.0)\n"
     "c.next()\n"
     "var a = c.next().now\n"
     "bump(a)\n"
     "print(a.array)\n"
     "// expect: [8]\n"},
    {"Composition",
     "a >> b is one task, b after a, by the names of outputs and inputs. `run .. on` runs a call in a session of its "
     "own "
     "and gives a report.",
     "task scale(in x: f32[N]) -> (y: f32[N]) { y = x * 2.0 }\n"
     "task shifted(in y: f32[N]) -> (z: f32[N]) { z = y + 1.0 }\n"
     "let both = scale >> shifted\n"
     "let r = run both([1.0] as f32[1]) on host(threads: 1)\n"
     "print(both.inputs, both.outputs, r.z.array, r.report.tasks)\n"
     "// expect: (x) (z) [3] 2\n"},
    {"Modules and layers",
     "`import` brings in a file; some come along: nn has layers, data.digits and others have data. A `layer` slot "
     "holds "
     "another agent. taskspec doc nn lists what is in a module.",
     "import nn\n"
     "agent Net() {\n"
     "  layer first = nn.Linear(4, 8, act: \"relu\")\n"
     "  layer last = nn.Linear(8, 2)\n"
     "  graph forward(x: f32[B, 4]) -> (y: f32[B, 2]) { y = last.forward(first.forward(x).y).y }\n"
     "}\n"
     "print(Net().forward(fill(f32[3, 4], 1.0)).y.shape)\n"
     "// expect: [3, 2]\n"},
    {"Training",
     "train(agent, ...) makes a net that learns. Its steps are tasks of one graph as all others; gradients are made of "
     "the ops' own.",
     "agent Line() {\n"
     "  weight w: f32[1, 1] = zero()\n"
     "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n"
     "}\n"
     "let m = train(Line(), loss: \"mse_avg\", optimizer: sgd(lr: 0.1))\n"
     "let x = [[1.0], [2.0]] as f32[2, 1]\n"
     "for k in 0..50 { m.step(x, x * 3.0) }\n"
     "print(m.eval().forward([[1.0]] as f32[1, 1]).y.scalar.round())\n"
     "// expect: 3\n"},
    {"When something is wrong",
     "A message shows the place, what stands on both sides, and what to write; taskspec explain E2001 tells more of a "
     "code. A failure in a task reaches the host at the next receive. assert, print and graph_print(label, x) look "
     "inside; taskspec run --profile and --report say what ran, and :why at the prompt says why it is in its chain.",
     "fn checked(x: float) -> float {\n"
     "  assert(x >= 0.0, format(\"{} is negative\", x))\n"
     "  return sqrt(x)\n"
     "}\n"
     "print(checked(9.0))\n"
     "// expect: 3\n"},
};

}  // namespace

std::span<const TourStop> tour() { return tour_stops; }

}  // namespace taskspec
