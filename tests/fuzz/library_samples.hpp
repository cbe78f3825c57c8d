// Small modules that become libraries, and programs that use all of them.
#pragma once
#include <string>
#include <vector>

namespace library_samples {

struct Sample {
  std::string name, text, user;
};

inline const std::vector<Sample> all = {
    {"small", R"(let width = 4
fn _helper(x: f32[N]) -> f32[N] { return x * 3.0 }
fn helped(x: f32[N], times: int = 2) -> f32[N] {
  var y = x
  for i in 0..times { y = _helper(y) }
  return y
}
fn filled(n: int, value: float = 1.5) -> f32[n, width] { return fill(f32[n, width], value) }
task add(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a + b }
)",
     R"(import small
let v = small.helped([1.0, 2.0] as f32[2], times: small.width)
print(small.filled(2).array, small.add(v, v).y.array)
)"},
    {"agents", R"(agent Counter(start: int, step: int = 1 + 1, name: string = "a = b") {
  state n: i64[1] = constant(start)
  weight w: f32[start, 2] = glorot_uniform(seed: 7)
  task tick(in d: i64[1]) -> (now: i64[1]) { n += d * step; now = n }
  fn doubled(x: int) -> int { return 2 * x * step }
  graph two(d: i64[1]) -> (now: i64[1]) { tick(d); now = tick(d).now }
}
task bump(inout r: f32[N]) -> (t: f32[1]) { r += 1.0; t = r.sum(0) }
)",
     R"(import agents
let c = agents.Counter(3)
var r = [1.0] as f32[1]
print(c.tick([1] as i64[1]).now.array, c.two([2] as i64[1]).now.array, c.doubled(4), agents.bump(r).t.scalar)
)"},
    {"values", R"(let pair = (2, 0.5)
let twice_of: fn(int) -> int = x => x * 2
agent Scale(k: float) { task apply(in x: f32[N]) -> (y: f32[N]) { y = k * x } }
let both = Scale(2.0).apply >> Scale(0.5).apply
fn even(n: int) -> bool { if n == 0 { return true }; return odd(n - 1) }
fn odd(n: int) -> bool { if n == 0 { return false }; return even(n - 1) }
fn mapped(l: [int], more: int) -> [int] { return l.map(i => twice_of(i) + more) }
fn loud(x: f32[N]) -> float { print("loud", x.sum(0).scalar); return x.max(0).scalar }
)",
     R"(import values
let v = [1.0, 2.0] as f32[2]
print(values.pair, values.both(v).array, values.even(10), values.mapped([1, 2], 3), values.loud(v))
)"},
    {"cells", R"(fields Cell { state: f64, flux: f64, n: int }
fields Other { v: i32 }
task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }
task stencil(inout own: Cell[N].{flux}, in ghost: Cell[_].{state}, in k: float = 0.5) {
  for i in own { own[i].flux += k * (at(ghost, i - 1, 0.0).state + ghost[i + 1].state) }
}
task spread(reduce(max) c: Cell[_].{flux}, in w: Cell[_].{n}) {
  for i in w { c[w[i].n].flux = maximum(c[w[i].n].flux, 1.0) }
}
task total(in c: Cell[_].{flux, state}) -> (s: f64[1]) { s = (c.flux * c.state).sum(0) }
task mark(out o: Other[_, _].{v}) { for (i, j) in o { o[i, j].v = (10 * i + j) as i32 } }
fn heat(n: int, tiles: int, steps: int) -> float {
  let cells = region Cell[n]
  let owned = blocks(cells, tiles)
  let interior = owned & shrink(cells, 1)
  let ghost = halo(owned, 1)
  fill(cells.state, 1.0)
  fill(cells.n, iota(n) * 3 % n)
  for t in 0..steps {
    launch add_one(owned[i]) for i in 0..tiles
    launch stencil(interior[i], ghost[i], 0.25) for i in 0..tiles
  }
  launch spread(image(cells, owned, cells.n)[tiles - 1 - i], owned[tiles - 1 - i]) for i in 0..tiles
  let s = (launch total(owned[i]) for i in 0..tiles).s
  let piece = owned[1]
  return s.sum().scalar + s[1].scalar + total(piece).s.scalar + half(cells).scalar
}
fn half(r: Cell[_]) -> f64[1] { return r.state.sum(0) / 2.0 }
fn plane(n: int) -> [[int]] {
  let g = region Other[n, n]
  let tiles = blocks(g, 2, 2)
  launch mark(tiles[j, i]) for (i, j) in grid(2, 2)
  return g.v.array
}
)",
     R"(import cells
print(cells.heat(16, 4, 3), cells.plane(4))
)"}};

}  // namespace library_samples
