// Words that declare something, and what stands in declarations.
#include "interp/reference/language/chapters.hpp"

namespace taskspec {

namespace {

constexpr LanguageRecord declaration_records[] = {
    {"task", "task NAME(in x: TYPE, inout p: TYPE, k: int = 1) -> (y: TYPE, z: TYPE) { ... }",
     "A leaf of the graph: called, it is one node, and what its body computes is no node of its own. Parameters are "
     "tensors and host scalars; `in` may be left out, `inout` takes a place. The outputs are variables that the body "
     "sets on every path (E1006) and may read again, under other names than the inputs; with one type behind `->` the "
     "output is called `value`. No "
     "`return`, no print, no call of another task. The call gives an invocation, and `call.y` is the future of y.",
     "task scaled(in x: f32[N], k: float = 2.0) -> (y: f32[N], most: f32[1]) {\n"
     "  y = x * k\n"
     "  most = y.max(0)\n"
     "}\n"
     "let r = scaled([1.0, 3.0] as f32[2])\n"
     "print(r.y.array, r.most.scalar)\n"
     "// expect: [2, 6] 6\n"},
    {"graph", "graph NAME(x: TYPE, n: int) -> (y: TYPE) { ... }",
     "A function without host part: its tasks and ops are the nodes of a graph, which can be run, composed (>>), "
     "shown (taskspec graph, chains, why) and exported. Outputs as in a task. `if` and `while` also take a tensor of "
     "one bool here; what touches the host (print, .scalar) is E1302.",
     "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
     "graph twice(x: f32[N]) -> (y: f32[N]) { y = inc(inc(x)) }\n"
     "print(twice([1.0] as f32[1]).array, chains(twice))\n"
     "// expect: [3] [[inc, inc]]\n"},
    {"fn", "fn NAME(x: TYPE, k: int = 1) -> TYPE { ... return x }",
     "A function of the host program: it may do everything, work on tensors among it, and ends by `return` (a tuple "
     "for several results; none without `->`). As a type: fn(int) -> int. Nothing calls fn main by itself: write "
     "main() "
     "below it; -D sets its defaults.",
     "fn sums(l: [int]) -> (int, float) {\n"
     "  var s = 0\n"
     "  for x in l { s += x }\n"
     "  return (s, s as float / len(l))\n"
     "}\n"
     "print(sums([1, 2, 4]))\n"
     "// expect: (7, 2.3333333333333335)\n"},
    {"agent", "agent NAME(k: float = 1.0) { slots; tasks; fns; graphs }",
     "Parameters, slots and tasks under one name. NAME(2.0) makes one, with slots of its own; its members are called "
     "as a.apply(x). What its tasks write stays in it. Equal agents without slots are interchangeable.",
     "agent Scale(k: float) {\n"
     "  task apply(in x: f32[N]) -> (y: f32[N]) { y = k * x }\n"
     "}\n"
     "let half = Scale(0.5)\n"
     "print(half.apply([2.0, 4.0] as f32[2]).y.array)\n"
     "// expect: [1, 2]\n"},
    {"weight", "weight NAME: TYPE = INITIALISER", "A slot of an agent that training changes, and nothing else does.",
     "agent Line() {\n"
     "  weight w: f32[2] = constant(0.5)\n"
     "  task forward(in x: f32[2]) -> (y: f32[1]) { y = (x * w).sum(0) }\n"
     "}\n"
     "print(Line().forward([2.0, 4.0] as f32[2]).y.array)\n"
     "// expect: [3]\n"},
    {"state", "state NAME: TYPE = INITIALISER",
     "A slot of an agent that its tasks read and set: it keeps its value from call to call, also over time steps. An "
     "agent that a graph makes lives for one call of it.",
     "agent Sum() {\n"
     "  state s: f32[1] = zero()\n"
     "  task add(in x: f32[1]) -> (now: f32[1]) { s += x; now = s }\n"
     "}\n"
     "let a = Sum()\n"
     "a.add([2.0] as f32[1])\n"
     "print(a.add([3.0] as f32[1]).now.array)\n"
     "// expect: [5]\n"},
    {"table", "table NAME: TYPE = INITIALISER",
     "A slot of an agent that never changes: lut(f) fills one with a function of one number, and t.lookup(x) reads it.",
     "agent Half() {\n"
     "  table t: i8[256] = lut(x => x / 2)\n"
     "  task apply(in x: u8[N]) -> (y: i8[N]) { y = t.lookup(x) }\n"
     "}\n"
     "print(Half().apply([4, 9] as u8[2]).y.array)\n"
     "// expect: [2, 4]\n"},
    {"layer", "layer NAME = AGENT(...)",
     "A slot of an agent that holds another agent, or a list of agents. Its slots are slots of the outer one, by path: "
     "Net.first.w. `graph` members call c.forward(x).y.",
     "agent Double() { task forward(in x: f32[N]) -> (y: f32[N]) { y = x * 2.0 } }\n"
     "agent Net() {\n"
     "  layer first = Double()\n"
     "  graph forward(x: f32[N]) -> (y: f32[N]) { y = first.forward(first.forward(x).y).y }\n"
     "}\n"
     "print(Net().forward([1.0] as f32[1]).y.array)\n"
     "// expect: [4]\n"},
    {"initialisers", "weight w: f32[8, 4] = glorot_uniform(seed: 1)",
     "What a slot begins with: zero(), constant(c), uniform, normal, truncated_normal, glorot_uniform, glorot_normal, "
     "kaiming_normal(seed:, mode: \"fan_in\" or \"fan_out\"), file(path), lut(f), or any tensor. Shape and precision "
     "come from the slot. They stand behind slots only; elsewhere fill(f32[4], 0.0) makes a tensor of zeros.",
     "agent Net() {\n"
     "  weight b: f32[3] = zero()\n"
     "  task forward(in x: f32[3]) -> (y: f32[3]) { y = x + b }\n"
     "}\n"
     "print(Net().forward(fill(f32[3], 1.0)).y.array)\n"
     "// expect: [1, 1, 1]\n"},
    {"let", "let NAME = VALUE     let (a, b) = PAIR     let x: TYPE = VALUE",
     "Names a value for good (E1007 when it is set again). A tuple can be taken apart. Top-level lets are seen by all "
     "functions of the file, and -D NAME=VALUE replaces one.",
     "let (a, b) = (1, \"x\")\n"
     "print(a, b)\n"
     "// expect: 1 x\n"},
    {"var", "var NAME = VALUE     var l: [int] = []",
     "A variable. Values are copied: a change of one variable is seen by no other. A tensor in a var is a place that "
     "`inout` can write. Functions do not see top-level vars (E1010): hand them over.",
     "var l = [1, 2]\n"
     "let before = l\n"
     "l += [3]\n"
     "l[0] = 7\n"
     "print(before, l)\n"
     "// expect: [1, 2] [7, 2, 3]\n"},
    {"in", "task t(in x: f32[N])     for x in VALUES { ... }",
     "In a signature: the parameter is read only, which is what holds without a word. In a loop: what it runs over.",
     "task size(in x: f32[N]) -> (n: i64[1]) { n = fill(i64[1], N) }\n"
     "for x in [\"a\", \"b\"] { print(x, size(fill(f32[3], 0.0)).n.scalar) }\n"
     "// expect: a 3\n"
     "// expect: b 3\n"},
    {"inout", "task t(inout p: f32[N], in d: f32[N])",
     "The parameter is a place that the call reads and writes: a `var`, an inout parameter of one's own, or a slot. "
     "The call leaves a new version there, and what reads it later means that one. Order edges (RAW, WAR, WAW) keep "
     "readers and writers apart.",
     "task bump(inout r: f32[1]) -> (old: f32[1]) { old = r; r += 1.0 }\n"
     "var a = [1.0] as f32[1]\n"
     "let before = bump(a).old\n"
     "print(before.array, a.array)\n"
     "// expect: [1] [2]\n"},
    {"extern", "task NAME(in x: TYPE) -> (y: TYPE) extern \"symbol\"",
     "The body is a C++ function, registered under that name by the program that embeds taskspec: "
     "include/taskspec/README.md. Without it a run ends with E7001.",
     "task twice(in x: f32[N]) -> (y: f32[N]) extern \"twice\"\n"
     "print(twice)\n"
     "// expect: <task twice>\n"},
    {"import", "import a.b     import a.b as c     import \"net.onnx\" as net",
     "Loads a/b.task: beside this file, then in each folder of TASKSPEC_PATH, then among the modules that come along "
     "(nn, nir, data.digits, ...). The name is the last part; members are b.name, and names that begin with _ stay "
     "private. An imported file holds declarations and pure top-level lets only (E7005). A text names a model file.",
     "import nn\n"
     "print(nn.Linear(2, 3).forward(fill(f32[1, 2], 0.0)).y.array)\n"
     "// expect: [[0, 0, 0]]\n"},
    {"ir", "ir NAME { name : BLOCK precision [axis: extent, ...] (attribute: value) = data; a -> b.cluster | moves }",
     "A graph of Task IR blocks, what a many-core chip computes with; called like a task, by its SI (or INPUT) blocks "
     "without an edge in order, with its SO (or OUTPUT) blocks as outputs. Blocks and rearrangements have records of "
     "their own: taskspec doc CVM.",
     "ir layer {\n"
     "  x   : SIFC i8  [r: 3]\n"
     "  w   : SWFC i8  [f: 2, r: 3] = [[1, 2, 3], [-1, 0, 1]] as i8[2, 3]\n"
     "  sum : CVM  i32 [f: 2, r: 3]\n"
     "  y   : SO   i32 [f: 2]\n"
     "  x -> sum.input; w -> sum.weight; sum -> y\n"
     "}\n"
     "print(layer([1, 2, 3] as i8[3]).y.array)\n"
     "// expect: [14, 2]\n"},
    {"fields", "fields NAME { f: f64, g: int }",
     "What each point of a region holds: one number in each field, of any precision; int is i64 and float f64.",
     "fields Node { charge: f64, part: int }\n"
     "let nodes = region Node[3]\n"
     "print(nodes.part.array, nodes.charge.precision)\n"
     "// expect: [0, 0, 0] f64\n"},
    {"region", "region NAME[n]     region NAME[n, m]",
     "Mutable data: points with fields, all of them 0 at first. Tasks change it through views, r.f is what a field "
     "holds now as a tensor, and fill(r.f, v) writes it. It is cut into partitions (blocks, halo, image, ...) and goes "
     "with its last name. A fn or graph takes it as r: NAME[_], or r: NAME[N] where N is to be known inside, and works "
     "on the same points; one that a graph makes is another one in each call. It belongs to the session that made it: "
     "what `run` runs makes its own, and is given tensors.",
     "fields Cell { state: f64 }\n"
     "let cells = region Cell[2, 2]\n"
     "fill(cells.state, 0.5)\n"
     "graph total(c: Cell[_, _]) -> (s: f64) { s = c.state.sum() }\n"
     "print(cells, total(cells).s.scalar)\n"
     "// expect: <region Cell[2, 2]> 2\n"},
    {"partitions", "p: partition[NAME[_]]     p: partition[NAME[_, _], 2]",
     "A region taken apart: p[i] is one of its pieces, which is a region, and len(p) how many there are. blocks, "
     "by_field, by_weight and cover make one of a region, halo, image, preimage and cross one of others, and p & q, "
     "p | q, p - q go piece by piece; with a region on the right side every piece meets it. Printed it says whether "
     "two "
     "pieces share a point (disjoint or aliased) and whether each point is in one (complete). A fn or graph takes it "
     "as "
     "partition[NAME[_]], and with a 2 where its pieces are p[i, j].",
     "fields Cell { state: f64 }\n"
     "task up(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }\n"
     "fn twice(own: partition[Cell[_]]) { for t in 0..2 { launch up(own[i]) for i in 0..len(own) } }\n"
     "let cells = region Cell[8]\n"
     "let own = blocks(cells, 4)\n"
     "let inner = own & shrink(cells, 1)\n"
     "twice(inner)\n"
     "print(own, inner[0], cells.state.array)\n"
     "// expect: <partition Cell[8], 4 pieces, disjoint, complete> <region Cell[1..2]> [0, 2, 2, 2, 2, 2, 2, 0]\n"},
    {"privileges", "in     out     inout     reduce(+)",
     "What a task may do with a parameter, said once, in its signature: read it (in, which is what holds without a "
     "word), write all of it and read none (out, of views), both (inout), or fold into it (reduce, of views). Order "
     "edges between tasks follow from it: two that read, or that fold by the same operator, need none.",
     "fields Cell { a: f64, b: f64 }\n"
     "task copy_of(out c: Cell[_].{b}, in d: Cell[_].{a}) { for i in c { c[i].b = d[i].a } }\n"
     "let cells = region Cell[2]\n"
     "fill(cells.a, 3.0)\n"
     "copy_of(cells, cells)\n"
     "print(cells.b.array)\n"
     "// expect: [3, 3]\n"},
    {"views", "task t(inout v: NAME[_].{f, g}, in w: NAME[_, _].{h})",
     "What a task sees of a region: the points that the call gives it, and the fields that the signature lists (all, "
     "where none are). v[i].f is an element, at(v, i, d).f one that is d where the view has no point i, v.f the tensor "
     "of all points. i counts as in the whole region; for i in v goes through the points, and an element of an integer "
     "field may be an index, one of i64 the bound of a range: for k in v[i].first..v[i].last. Two views of the same "
     "points say so by one name: v: NAME[N].{f}, w: NAME[N].{g}. A view NAME[_] is of points of any rank: the task is "
     "checked "
     "with one axis, and again for each rank that it is called with; with `(i, j)` in it, it is NAME[_, _]. A task of "
     "an "
     "agent reads its parameters and slots.",
     "fields Cell { state: f64, flux: f64 }\n"
     "task flow(inout own: Cell[_].{flux}, in near: Cell[_].{state}) {\n"
     "  for i in own { own[i].flux = at(near, i - 1, 0.0).state - near[i].state }\n"
     "}\n"
     "let cells = region Cell[4]\n"
     "fill(cells.state, [1.0, 2.0, 4.0, 8.0] as f64[4])\n"
     "flow(cells, cells)\n"
     "print(cells.flux.array)\n"
     "// expect: [-1, -1, -2, -4]\n"},
    {"out", "task t(out v: NAME[_].{f})",
     "The task writes the listed fields at all points of the view, and reads none of them: what they held before is of "
     "no use to it.",
     "fields Cell { state: f64 }\n"
     "task count(out c: Cell[_].{state}) { for i in c { c[i].state = i * 2 } }\n"
     "let cells = region Cell[3]\n"
     "count(cells)\n"
     "print(cells.state.array)\n"
     "// expect: [0, 2, 4]\n"},
    {"reduce", "task t(reduce(+) v: NAME[_].{f})",
     "The task folds into points of the view: + with +=, * with *=, min and max with v[i].f = minimum(v[i].f, e). "
     "Points of a launch may fold into the same ones; what comes of it does not depend on who is first.",
     "fields Cell { state: f64 }\n"
     "task ones(reduce(+) c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }\n"
     "let cells = region Cell[4]\n"
     "let near = halo(blocks(cells, 2), 1)\n"
     "launch ones(near[i]) for i in 0..2\n"
     "print(cells.state.array)\n"
     "// expect: [1, 2, 2, 1]\n"},
};

}  // namespace

LanguageChapter declarations_chapter() {
  return {"Declarations", "What a file declares is known in all of it, in any order; its statements run top to bottom.",
          declaration_records};
}

}  // namespace taskspec
