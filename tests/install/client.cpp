// The whole of a program that uses an installed taskspec.
#include <taskspec/taskspec.hpp>
using namespace taskspec;

int main() {
  Task inc = task("inc").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x + 1.0; });
  Graph twice =
      graph("twice").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) { return inc(inc(x)["y"])["y"]; });
  print(chains(twice), twice(tensor({1, 2, 3}, f32))["y"].array<float>());
}
