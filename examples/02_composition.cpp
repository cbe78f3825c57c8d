// 02_composition.task in C++: agents define tasks; a task call is a value; its outputs are futures
#include <taskspec/taskspec.hpp>

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

int main() {
  Task energy =
      task("energy").in("dev", f32["N"]).in("mean", f32[1]).out("e", f32[1]).body([](Tensor dev, Tensor mean) {
        return (dev * dev).sum(0) + mean * mean;
      });

  Graph pipeline = graph("pipeline").in("x", f32["N"]).out("e", f32[1]).body([&](Tensor x) {
    Tensor a = Scale(2.0).apply(x);           // a is an invocation, a["y"] is a future
    Tensor m = Moments().apply(a["y"]);       // two outputs, one consumer: still one chain
    return energy(m["dev"], m["mean"])["e"];  // two futures to ONE task: source rule is quiet
  });

  Tensor x = tensor({1, 2, 3, 4}, f32);
  Tensor r = pipeline(x);         // nothing has to run yet
  print(r["e"]);                  // a name, same on every schedule
  print(r["e"].scalar<float>());  // explicit receive: forces the chain
  print(chains(pipeline));
  Task both = Scale(2.0).apply >> Scale(0.5).apply;  // T2 after T1 as one task
  print(both.inputs(), both.outputs());
  to_json(pipeline, "pipeline.json");
}
