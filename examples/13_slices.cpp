// 13_slices.task in C++: each game is a call of a fn, cut into two programs; the game itself is C++ that one of them
// calls
#include <taskspec/taskspec.hpp>
#include <utility>
#include <vector>

using namespace taskspec;

using State = std::vector<double>;  // place, speed, wind, time

State reset(std::int64_t seed) {
  const double place = static_cast<double>(seed * 37 % 11) / 10.0 - 0.5;
  return {place, 0.0, static_cast<double>(seed * 53 % 7) / 100.0 - 0.03, 0.0};
}
bool is_over(const State& s) { return s[3] >= 8.0 || s[0] * s[0] > 4.0; }
std::pair<State, double> step(const State& s, int move) {
  const double speed = s[1] + (move == 1 ? 0.1 : -0.1) + s[2], place = s[0] + speed;
  return {State{place, speed, s[2], s[3] + 1.0}, 1.0 - place * place};
}

int main() {
  Fn start = host_fn("reset", reset), over = host_fn("over", is_over), next = host_fn("step", step);

  Graph act = graph("act").in("p", f32(4, 2)).in("obs", f32[4]).out("a", f32[2]).body([](Tensor p, Tensor obs) {
    return softmax(matmul(obs, p));
  });
  Graph init = graph("init").in("n", integer).in("m", integer).returns(f32("n", "m")).body([](Tensor, Tensor) {
    return normal(f32("n", "m"), arg("seed", 7), arg("std", 0.1));
  });
  Graph improve =
      graph("improve").in("p", f32("N", "M")).in("step", real).returns(f32("N", "M")).body([](Tensor p, Tensor step) {
        Tensor noise = normal(f32("N", "M"), arg("seed", 11)) - p * 0.01;
        return p + noise * step;
      });
  // A recording cannot call itself before it is there: what is a recursion in the text is a loop here.
  Fn power = fn("power").in("x", f32("N", "M")).in("n", integer).returns(f32("N", "M")).body([](Tensor x, Tensor n) {
    Var y = var("y", fill(f32("N", "M"), 1.0)), square = var("square", x), left = var("left", n);
    while_([&] { return left > 0; },
           [&] {
             if_(left % 2 == 1, [&] { y = y * square; });
             square = square * square;
             left = left / 2;
           });
    return y;
  });
  Fn episode = fn("episode").in("p", f32(4, 2)).in("seed", integer).returns(real).body([&](Tensor p, Tensor seed) {
    Var s = var("s", start(seed));  // host state: numbers of C++
    Var total = var("total", 0.0);
    while_([&] { return !over(s); },  // decided by C++: a stream of booleans is sent
           [&] {
             Tensor a = act(p, tensor(s))["a"];             // host value into the graph: one send
             Tensor after = next(s, a.argmax(0).scalar());  // explicit receive, the only way back
             total += after[1];
             s = after[0];
           });
    return total;
  });

  Var p = var("p", init(4, 2));
  for (int i = 0; i < 10; ++i) {
    const double reward = run(episode(p, i)).scalar<double>();  // both programs run beside each other
    p = improve(p, reward * 0.01);
  }
  print(power(p, 10));  // a name, not the contents
}
