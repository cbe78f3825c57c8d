// examples/02_composition.task, and sample 1 of the language.
#include <taskspec/taskspec.hpp>

#include "tests/dsl/twins.hpp"

namespace {

using namespace taskspec;

struct Scale : Agent {
  using Agent::Agent;
  Tensor k = param("k", real);
  Task apply = task("apply").in("x", f32["N"]).out("y", f32["N"]).body([this](Tensor x) { return k * x; });
};

struct Moments : Agent {
  Task apply = task("apply").in("x", f32["N"]).out("mean", f32[1]).out("dev", f32["N"]).body([](Tensor x) {
    Tensor mean = x.mean(0);
    return results("mean", mean, "dev", x - mean);
  });
};

}  // namespace

std::string composition_json() {
  Task energy =
      task("energy").in("dev", f32["N"]).in("mean", f32[1]).out("e", f32[1]).body([](Tensor dev, Tensor mean) {
        return (dev * dev).sum(0) + mean * mean;
      });
  Graph pipeline = graph("pipeline").in("x", f32["N"]).out("e", f32[1]).body([&](Tensor x) {
    Tensor a = Scale(2.0).apply(x);
    Tensor m = Moments().apply(a["y"]);
    return results("e", energy(m["dev"], m["mean"]));
  });
  return to_json(pipeline);
}
