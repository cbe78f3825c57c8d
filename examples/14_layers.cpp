// 14_layers.task in C++: an agent that holds others
#include <taskspec/taskspec.hpp>

using namespace taskspec;

struct Dense : Agent {
  using Agent::Agent;
  Tensor i = param("i", integer), o = param("o", integer), start = param("start", real);
  Var w = weight("w", f32("o", "i"), constant(start));
  Task forward = task("forward").in("x", f32("B", "i")).out("y", f32("B", "o")).body([this](Tensor x) {
    return matmul(x, w.permute(1, 0));
  });
};

struct Block : Agent {
  using Agent::Agent;
  Tensor n = param("n", integer);
  Dense inner = layer("inner", Dense(n, n, 0.5));
  Var calls = state("calls", i64[1], zero());
  Task add = task("add")
                 .in("x", f32("B", "n"))
                 .in("more", f32("B", "n"))
                 .out("y", f32("B", "n"))
                 .body([this](Tensor x, Tensor more) {
                   calls += 1;
                   return x + more;
                 });
  Task count = task("count").out("n", i64[1]).body([this] { return calls; });
  Graph forward = graph("forward").in("x", f32("B", "n")).out("y", f32("B", "n")).body([this](Tensor x) {
    return add(x, inner.forward(x)["y"])["y"];
  });
};

struct Net : Agent {
  using Agent::Agent;
  Tensor n = param("n", integer);
  Dense first = layer("first", Dense(2, n, 1.0));
  std::vector<Block> blocks = layers("blocks", std::vector{Block(n), Block(n)});
  Graph forward = graph("forward").in("x", f32("B", 2)).out("y", f32("B", "n")).body([this](Tensor x) {
    return blocks[1].forward(blocks[0].forward(first.forward(x)["y"])["y"])["y"];
  });
  Graph counts =
      graph("counts").out("n", i64[1]).body([this] { return blocks[0].count()["n"] + blocks[1].count()["n"]; });
};

int main() {
  Net net(3);
  Tensor x = tensor({{1, 2}}, f32);
  print(net.forward(x)["y"][0].array<float>());
  print(net.forward(x)["y"][0].array<float>());
  print(net.counts()["n"].array<std::int64_t>());
  for (const std::vector<std::string>& chain : chains(net.forward)) print(chain);
}
