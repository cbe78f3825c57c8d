// examples/08_schedules.task and tests/golden/control.task: schedules, recorded control flow, slots
#include <taskspec/taskspec.hpp>

#include "tests/dsl/twins.hpp"

using namespace taskspec;

namespace {

Task plus_one() {
  return task("inc").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x + 1.0; });
}

struct Memory : Agent {
  using Agent::Agent;
  Tensor step = param("step", real);
  Var total = state("total", f32[1], zero());
  Task add = task("add").in("x", f32["N"]).out("sum", f32[1]).body([this](Tensor x) {
    total += x.sum(0) * step;
    return total;
  });
};

}  // namespace

std::string ladder_json() {
  Task mix = task("mix").in("a", f32["N"]).in("b", f32["N"]).out("y", f32["N"]).body([](Tensor a, Tensor b) {
    return a * 0.5 + b;
  });
  Graph ladder = graph("ladder").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
    Tensor left = plus_one()(plus_one()(x)["y"]);
    Tensor right = plus_one()(x);
    return plus_one()(mix(left["y"], right["y"])["y"])["y"];
  });
  return to_json(ladder);
}

std::string walk_json() {
  Fn scaled =
      fn("scaled").in("x", f32["N"]).in("k", real).returns(f32["N"]).body([](Tensor x, Tensor k) { return x * k; });
  Graph walk = graph("walk")
                   .in("x", f32[4])
                   .in("limit", f32[1])
                   .out("y", f32[4])
                   .out("sum", f32[1])
                   .body([&](Tensor x, Tensor limit) {
                     Var v = var("v", scaled(x, 2.0));
                     for_(range(0, 3), [&](Tensor i) { v = v + i; });
                     while_([&] { return v.max(0) < limit; }, [&] { v = v * 2.0; });
                     if_(
                         limit > 10.0, [&] { v = plus_one()(v)["y"]; }, [&] { v = -v; });
                     Memory memory(0.5);
                     memory.add(v);
                     return results("sum", memory.add(v)["sum"], "y", v);
                   });
  return to_json(walk);
}
