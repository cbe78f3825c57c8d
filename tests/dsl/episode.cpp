// tests/dsl/episode.task: a fn with host control, host functions in C++, sends and receives
#include <taskspec/taskspec.hpp>

#include "tests/dsl/twins.hpp"

using namespace taskspec;

namespace {

using State = std::vector<double>;

Fn episode() {
  Graph act = graph("act").in("p", f32(4, 2)).in("obs", f32[4]).out("a", f32[2]).body([](Tensor p, Tensor obs) {
    return softmax(matmul(obs, p));
  });
  Fn reset = host_fn("reset", [](std::int64_t seed) {
    return State{static_cast<double>(seed) / 10.0 - 0.5, 0.0, 0.02, 0.0};
  });
  Fn over = host_fn("over", [](const State& s) { return s[3] >= 8.0 || s[0] * s[0] > 4.0; });
  Fn step = host_fn("step", [](const State& s, int move) {
    const double speed = s[1] + (move == 1 ? 0.1 : -0.1) + s[2], place = s[0] + speed;
    return std::pair(State{place, speed, s[2], s[3] + 1.0}, 1.0 - place * place);
  });
  return fn("episode").in("p", f32(4, 2)).in("seed", integer).returns(real).body([=](Tensor p, Tensor seed) {
    Var s = var("s", reset(seed));
    Var total = var("total", 0.0);
    while_([&] { return !over(s); },
           [&] {
             Var a = var("a", act(p, tensor(s))["a"]);
             Var after = var("after", step(s, a.argmax(0).scalar()));
             total += after[1];
             s = after[0];
             if_(total > 5.0, [&] { print_("good", total); });
           });
    return total;
  });
}

Tensor call() { return episode()(tensor({{0.5, 0.1}, {0.2, 0.4}, {0.0, 0.3}, {0.1, 0.1}}, f32), 3); }

}  // namespace

std::string episode_json() { return slices_json(call()); }
double episode_at_once() { return call().scalar<double>(); }
double episode_apart() { return run(call()).scalar<double>(); }
