// tests/dsl/layers.task
#include <taskspec/taskspec.hpp>

#include "tests/dsl/twins.hpp"

using namespace taskspec;

namespace {

struct Dense : Agent {
  Var w = weight("w", f32(3, 3), constant(0.5));
  Task forward = task("forward").in("x", f32("B", 3)).out("y", f32("B", 3)).body([this](Tensor x) {
    return matmul(x, w.permute(1, 0));
  });
};

struct Block : Agent {
  Dense inner = layer("inner", Dense());
  Var calls = state("calls", i64[1], zero());
  Task add = task("add")
                 .in("x", f32("B", 3))
                 .in("more", f32("B", 3))
                 .out("y", f32("B", 3))
                 .body([this](Tensor x, Tensor more) {
                   calls = calls + 1;
                   return x + more;
                 });
  Graph forward = graph("forward").in("x", f32("B", 3)).out("y", f32("B", 3)).body([this](Tensor x) {
    return add(x, inner.forward(x)["y"])["y"];
  });
};

struct Net : Agent {
  Dense first = layer("first", Dense());
  std::vector<Block> blocks = layers("blocks", std::vector{Block(), Block()});
  Graph forward = graph("forward").in("x", f32("B", 3)).out("y", f32("B", 3)).body([this](Tensor x) {
    return blocks[1].forward(blocks[0].forward(first.forward(x)["y"])["y"])["y"];
  });
};

}  // namespace

std::string net_forward_json() { return to_json(Net().forward); }

std::string held_json() {
  return to_json(
      graph("held").in("x", f32(1, 3)).out("y", f32(1, 3)).body([](Tensor x) { return Net().forward(x)["y"]; }));
}
