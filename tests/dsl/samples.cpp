// tests/dsl/samples.task
#include <taskspec/taskspec.hpp>

#include "tests/dsl/twins.hpp"

using namespace taskspec;

std::string act_json() {
  return to_json(graph("act").in("p", f32(4, 2)).in("obs", f32[4]).out("a", f32[2]).body([](Tensor p, Tensor obs) {
    return softmax(matmul(obs, p));
  }));
}

std::string many_ops_json() {
  Graph many_ops = graph("many_ops")
                       .in("x", f32("N", 4))
                       .in("w", i8[4])
                       .in("k", real)
                       .in("flag", boolean["N"])
                       .out("y", f32("N", 4))
                       .out("z", i8[2])
                       .out("n", i64["N"])
                       .body([](Tensor x, Tensor w, Tensor k, Tensor flag) {
                         Tensor a = x.at(all, range(1, 3)) * k - x.mean({0, 1});
                         Tensor b = concat({a, -a}, 1).shift(1, 1, arg("wrap", true));
                         return results("y", where(flag.reshape(dim("N"), 1), maximum(b, 0.0), b / 2.0) % 3.0,  //
                                        "z", (w[range(1, 3)] | 4) & !w[range(0, 2)],                            //
                                        "n", x.argmax(1).drop(1));
                       });
  return to_json(many_ops);
}
