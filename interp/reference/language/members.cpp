// What stands behind a dot.
#include "interp/reference/language/chapters.hpp"

namespace taskspec {

namespace {

constexpr LanguageRecord member_records[] = {
    {".scalar", "x.scalar",
     "Receives the one element of a tensor as an int, float or bool of the host: the program waits until it is there. "
     "A float of f32 is exact, so 0.1 shows as 0.10000000149011612. The receives .scalar .array .iter .handle are the "
     "only ways from the graph to the host.",
     "let x = [1.0, 2.0] as f32[2]\n"
     "if x.max(0).scalar > 1.5 { print(x.sum(0).scalar) }\n"
     "// expect: 3\n"},
    {".array", "x.array", "Receives all of a tensor as nested lists, one per axis; of rank 0 the number.",
     "print(iota(4).reshape(2, 2).array)\n"
     "// expect: [[0, 1], [2, 3]]\n"},
    {"at", "at(v, i, d).f     at(v, i, j, d).f",
     "In a task body: the element i of a view, and d where the view has no such point.",
     "fields Cell { a: f64, b: f64 }\n"
     "task left(inout c: Cell[_].{a, b}) { for i in c { c[i].b = at(c, i - 1, -1.0).a } }\n"
     "let cells = region Cell[3]\n"
     "left(cells)\n"
     "print(cells.b.array)\n"
     "// expect: [-1, 0, 0]\n"},
    {".iter", "for row in x.iter { ... }", "Receives a tensor as a stream along axis 0, each part when it is there.",
     "for row in iota(4).reshape(2, 2).iter { print(row) }\n"
     "// expect: [0, 1]\n"
     "// expect: [2, 3]\n"},
    {".handle", "x.handle", "The name of a tensor and its type, without its contents; nothing has to run.",
     "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
     "print(inc(fill(f32[2], 1.0)).y.handle)\n"
     "// expect: <inc#0.y : f32[2], 1 step>\n"},
    {".shape", "x.shape", "The extents of a tensor as a list of ints, known without a receive: x.shape[0].",
     "let x = fill(f32[2, 3], 0.0)\n"
     "print(x.shape, x.shape[1])\n"
     "// expect: [2, 3] 3\n"},
    {".rank", "x.rank", "How many axes a tensor has.",
     "print(fill(f32[2, 3], 0.0).rank, fill(f32, 0.0).rank)\n"
     "// expect: 2 0\n"},
    {".precision", "x.precision", "The precision of a tensor, as a text.",
     "print(([1] as i8[1]).precision)\n"
     "// expect: i8\n"},
    {".inputs", "t.inputs", "Names of the inputs of a task, graph or composite.",
     "task add2(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a + b }\n"
     "print(add2.inputs)\n"
     "// expect: (a, b)\n"},
    {".outputs", "t.outputs", "Names of the outputs of a task, graph or composite.",
     "task two(in x: f32[N]) -> (y: f32[N], z: f32[N]) { y = x; z = -x }\n"
     "print(two.outputs)\n"
     "// expect: (y, z)\n"},
    {".value", "t.value     (run f(x) on host).value",
     "The output of a task or graph with one unnamed result, and the result of a fn that `run` called.",
     "task twice(in x: f32[N]) -> f32[N] { value = x * 2.0 }\n"
     "print(twice([1.0] as f32[1]).value.array)\n"
     "// expect: [2]\n"},
    {".steps", "r.steps.y",
     "Of a run with time_steps: output y of all steps, on a new first axis; r.y is the last one.",
     "agent Sum() {\n"
     "  state s: f32[1] = zero()\n"
     "  task add(in x: f32[1]) -> (y: f32[1]) { s += x; y = s }\n"
     "}\n"
     "let r = run Sum().add([[1.0], [2.0]] as f32[2, 1]) on host(time_steps: 2)\n"
     "print(r.y.array, r.steps.y.array)\n"
     "// expect: [3] [[1], [3]]\n"},
    {".report", "let r = run g(x) on host; r.report.tasks",
     "What a session did: tasks, chains, dispatches, peak (bytes alive at once), seconds, received (bytes that left "
     "it); backends add fields of their own. All of it is printed by --report.",
     "graph g(x: f32[2]) -> (y: f32[2]) { y = x + 1.0 }\n"
     "let r = run g([1.0, 2.0] as f32[2]) on host\n"
     "print(r.y.array, r.report.tasks, r.report.chains)\n"
     "// expect: [2, 3] 1 1\n"},
    {".forward", "m.forward(x).y", "Of a net in training: the prediction, kept for m.backward.",
     "agent Line() {\n"
     "  weight w: f32[1, 1] = constant(2.0)\n"
     "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n"
     "}\n"
     "let m = train(Line(), loss: \"mse_avg\", optimizer: sgd(lr: 0.1))\n"
     "print(m.forward([[2.0]] as f32[1, 1]).y.array)\n"
     "// expect: [[4]]\n"},
    {".step", "m.step(x, t)", "Of a net in training: forward, backward against t, and one change of the weights.",
     "agent Line() {\n"
     "  weight w: f32[1, 1] = constant(1.0)\n"
     "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n"
     "}\n"
     "let m = train(Line(), loss: \"mse_avg\", optimizer: sgd(lr: 0.25))\n"
     "m.step([[1.0]] as f32[1, 1], [[3.0]] as f32[1, 1])\n"
     "print(m.eval().forward([[1.0]] as f32[1, 1]).y.array, m.steps.scalar)\n"
     "// expect: [[2]] 1\n"},
    {".metrics", "m.metrics.NAME", "Of a net in training: the metrics that train(..., metrics: [...]) names.",
     "agent Line() {\n"
     "  weight w: f32[1, 1] = constant(1.0)\n"
     "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n"
     "}\n"
     "let m = train(Line(), loss: \"mse_avg\", optimizer: sgd(lr: 0.1), metrics: [\"mae\"])\n"
     "m.forward([[2.0]] as f32[1, 1])\n"
     "m.backward([[3.0]] as f32[1, 1])\n"
     "print(m.metrics.mae.scalar)\n"
     "// expect: 1\n"},
};

}  // namespace

LanguageChapter members_chapter() {
  return {"Members", "Behind the dot of a tensor, a call, a task or a training. Every op is a member too: x.sum(0).",
          member_records};
}

}  // namespace taskspec
