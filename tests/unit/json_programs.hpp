// Programs for tests of exported graphs: between them they hold every form that a body can have.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace json_programs {

inline const std::string pipeline = R"(
agent Scale(k: float) {
  task apply(in x: f32[N]) -> (y: f32[N]) { y = k * x }
}
agent Moments {
  task apply(in x: f32[N]) -> (mean: f32[1], dev: f32[N]) {
    mean = x.mean(0)
    dev  = x - mean
  }
}
task energy(in dev: f32[N], in mean: f32[1]) -> (e: f32[1]) {
  e = (dev * dev).sum(0) + mean * mean
}
graph pipeline(x: f32[N]) -> (e: f32[1]) {
  let a = Scale(2.0).apply(x)
  let m = Moments().apply(a.y)
  e = energy(m.dev, m.mean)
}
)";

inline const std::string diamond = R"(
task src(in n: int) -> (y: f32[n])                     { y = iota(n) as f32[n] }
task inc(in x: f32[N]) -> (y: f32[N])                  { y = x + 1.0 }
task dbl(in x: f32[N]) -> (y: f32[N])                  { y = x * 2.0 }
task add(in a: f32[N], in b: f32[N]) -> (y: f32[N])    { y = a + b }
graph diamond(n: int) -> (y: f32[n]) {
  let s = src(n)
  let l = inc(inc(s.y).y)
  let r = dbl(s.y)
  y = inc(add(l.y, r.y).y).y
}
)";

inline const std::string hazard = R"(
task bump(inout r: f64[N], in d: f64[1]) -> (t: f64[1]) { r += d; t = r.sum(0) }
task peek(in r: f64[N]) -> (m: f64[1])                 { m = r.max(0) }
graph hazard(inout r: f64[N], d: f64[1]) -> (t: f64[1]) {
  let a = bump(r, d)
  let p = peek(r)
  let b = bump(r, a.t)
  t = b.t + p.m
}
)";

// Host control in a task body: ranges, lists, tuples, strings, closures, early stops.
inline const std::string control = R"(
fn halved(n: int) -> int {
  if n <= 1 { return 0 }
  return 1 + halved(n / 2)
}
fn pair(k: float) -> (int, float) { return (2, k * 2.0) }
task busy(in x: f32[4], in k: float = 0.5, in steps: int = 3) -> (y: f32[4]) {
  var acc = x
  let (n, f) = pair(k)
  var list = [1.0, 2.0, f]
  list[1] = 4.0
  list += [0.25]
  for i in 0..steps * n {
    if i == 4 && n > 1 { break }
    if i % 2 == 1 || list[0] < 0.0 { continue }
    acc = acc * list[i / 2] + (halved(8) as f32)
  }
  var turns = 0
  while turns < 2 && list[1..3] != [0.5] {
    turns += 1
    acc = acc + [1, 2, 3][turns] * turns
  }
  for (i, v) in [(1, 2.0), (2, 4.0)] { if v > 3.0 { acc = acc - i } }
  if acc.rank == 1 && acc.precision == "f32" { y = where(acc > 3.0, acc, -acc) } else { y = x }
}
graph busy_graph(x: f32[4]) -> (y: f32[4]) { y = busy(busy(x).y, steps: 2, k: 1.0).y }
)";

// Builtins and closures in a task body.
inline const std::string library = R"(
task books(in x: f32[4]) -> (y: f32[4]) {
  let k = 3
  let list = map([1, 2, 3], i => i * k)
  var acc = x
  for (i, v) in enumerate(list) { if v > len(list) { acc = acc - i } }
  y = acc
}
graph books_graph(x: f32[4]) -> (y: f32[4]) { y = books(x).y }
)";

// Control that depends on data: structured nodes.
inline const std::string structured = R"(
fn twice(x: f32[N]) -> f32[N] { return x * 2.0 }
graph settle(x: f32[N], limit: f32[1]) -> (y: f32[N], n: f32[1]) {
  var acc = x
  var count = limit * 0.0
  while acc.sum(0) < limit {
    acc = twice(acc) + 1.0
    count = count + 1.0
  }
  if count.max(0) > 2.0 { y = acc } else { y = -acc }
  n = count
}
)";

// Agents with slots, graphs in graphs, composition.
inline const std::string slots = R"(
agent Counter(start: int, step: float) {
  state total: f32[2] = constant(0.5)
  weight w: f32[2, 3] = fill(2.0)
  task add(in x: f32[2]) -> (sum: f32[2]) { total += x * step; sum = total + w.sum(1).drop(1) }
  task peek() -> (now: f32[2]) { now = total }
}
task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }
graph inner(x: f32[2], c: float = 2.0) -> (y: f32[2]) { y = inc(inc(x).y * c).y }
graph counted(x: f32[2]) -> (now: f32[2], s: f32[2]) {
  let c = Counter(3, step: 0.5)
  let d = Counter(4, step: 2.0)
  let f = inc >> inc
  s = c.add(inner(x).y).sum + d.add(f(x).y).sum
  now = c.peek().now
}
)";

// What a graph reads of the top level: constants, tensors, agents, functions.
inline const std::string globals = R"(
task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }
agent Scale(k: float) { task apply(in x: f32[N]) -> (y: f32[N]) { y = k * x } }
let size = 1 + 2
var sum = 0.0
for i in 0..size { sum += 0.5 }
let half = sum / 3.0
let word = "word"
print("not when the graph is looked at", word)
let w = fill(f32[size], 2.0) * 1.5
let list = [half, 1.0]
let by_two = Scale(2.0).apply
let unused = clock()
graph reads(x: f32[3]) -> (y: f32[3]) { y = by_two(inc(x * w + list[0]).y).y * (size as f32) }
)";

// Extents of every kind: polynomials, ints, fresh ones, guards.
inline const std::string extents = R"(
task join(in a: f32[N], in b: f32[2 * N + 1]) -> (y: f32[3 * N + 1]) { y = concat([a, b], 0) }
task rows(in x: f32[N, M], in k: int) -> (y: f32[N - k, M]) { y = x[k..] }
task square(in x: f32[N, M]) -> (y: f32[M, N]) { y = x.permute(1, 0).reshape(M, N) }
graph shapes(a: f32[N], b: f32[2 * N + 1], x: f32[H, W], k: int) -> (y: f32[3 * N + 1], z: f32[W, H], s: f32[1, 1]) {
  y = join(a, b).y
  z = square(x).y
  s = rows(x, k).y.sum((0, 1)).reshape(1, 1)
}
)";

// Ops with several outputs, with a list of them, and with places: as nodes, in a task and in a loop.
inline const std::string outputs = R"(
task largest(in x: f32[N]) -> (y: f32[1], at: i64[1]) { let t = x.topk(1); y = t.values; at = t.indices }
graph several(x: f32[4]) -> (y: f32[2], s: i8[4], at: i64[1]) {
  var v = [0, 5, 10, -9] as i32[4]
  let halves = x.split(2, 0)
  at = largest(halves[1]).at
  var sum = halves[0] + x.topk(2).values
  s = lif(fill(i32[4], 6), v, threshold: 10)
  for k in 0..2 {
    let spike = lif(fill(i32[4], 6), v, threshold: 10, reset: "subtract")
    sum = sum + (spike as f32).split(2, 0)[k]
  }
  y = sum
}
)";

inline const std::vector<std::pair<std::string, std::string>> all = {
    {"pipeline", pipeline}, {"diamond", diamond}, {"hazard", hazard}, {"busy_graph", control}, {"books_graph", library},
    {"settle", structured}, {"counted", slots},   {"reads", globals}, {"shapes", extents},     {"several", outputs},
};

struct Case {
  std::string name, text;
  std::vector<std::vector<double>> inputs;
  std::string expected;  // the first result
};

inline const std::vector<Case> runs = {
    {"pipeline", pipeline, {{1, 2, 3, 4}}, "[45]"},
    {"settle", structured, {{1, 1}, {20}}, "[15, 15]"},
    {"reads", globals, {{0, 1, 2}}, "[9, 27, 45]"},
    {"busy_graph", control, {{1, 2, 3, 4}}, ""},
    {"counted", slots, {{1, 2}}, ""},
    {"several", outputs, {{1, 2, 3, 4}}, "[7, 5]"},
};

}  // namespace json_programs
