// 16_learning.task in C++: training step by step
#include <taskspec/taskspec.hpp>

using namespace taskspec;

struct Dense : Agent {
  using Agent::Agent;
  Tensor i = param("i", integer), o = param("o", integer), seed = param("seed", integer);
  Var w = weight("w", f32("o", "i"), library("glorot_uniform", {arg("seed", seed)}));
  Var b = weight("b", f32("o"), zero());
  Task forward = task("forward").in("x", f32("B", "i")).out("y", f32("B", "o")).body([this](Tensor x) {
    return matmul(x, w.permute(1, 0)) + b;
  });
};

struct Net : Agent {
  Dense hidden = layer("hidden", Dense(1, 16, 1));
  Dense last = layer("last", Dense(16, 1, 2));
  Graph forward = graph("forward").in("x", f32("B", 1)).out("y", f32("B", 1)).body([this](Tensor x) {
    return last.forward(tanh(hidden.forward(x)["y"]))["y"];
  });
};

int main() {
  Tensor x = iota(32).as(f32[32]).reshape(32, 1) / 16.0 - 1.0;
  Tensor y = x * x;
  Net net;
  ModelTrainingInstance m = train(net, "mse_avg", sgd(0.1, arg("momentum", 0.9)), {.metrics = {"mae"}});
  for (int epoch = 0; epoch < 3; ++epoch) {
    m.reset_metrics();
    for (int k = 0; k < 50; ++k) {
      forward(m, x);
      backward(m, y);
      update(m);
    }
    print(epoch, m.loss().scalar<double>() < 0.1, m.metric("mae").scalar<double>() < 0.4);
  }

  m.forward(x);
  m.backward(y);
  print(m.grad("last.w").shape(), net.forward(tensor({{0.5}}, f32))["y"].round().scalar<double>());

  m.update();
  m.save("learning.npz");
  Net other;
  ModelTrainingInstance more = train(other, "mse_avg", sgd(0.1, arg("momentum", 0.9)), {.metrics = {"mae"}});
  more.load("learning.npz");
  m.step(x, y);
  more.step(x, y);
  print(more.loss().scalar<double>() == m.loss().scalar<double>());
}
