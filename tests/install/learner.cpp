// A program that trains, which takes a module of the installation.
#include <taskspec/taskspec.hpp>
using namespace taskspec;

struct Line : Agent {
  Var w = weight("w", f32(1, 1), zero());
  Task forward =
      task("forward").in("x", f32("B", 1)).out("y", f32("B", 1)).body([this](Tensor x) { return matmul(x, w); });
};

int main() {
  Line net;
  ModelTrainingInstance m = train(net, "mse_avg", sgd(0.1));
  Tensor x = tensor({{1}, {2}}, f32);
  for (int k = 0; k < 40; ++k) m.step(x, x * 3.0);
  print(net.forward(x)["y"].round().array<float>());
}
