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
)"}};

}  // namespace library_samples
