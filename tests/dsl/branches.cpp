// examples/03_branches.task, and sample 2 of the language.
#include <taskspec/taskspec.hpp>

#include "tests/dsl/twins.hpp"

namespace {

using namespace taskspec;

Task inc() {
  return task("inc").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x + 1.0; });
}

}  // namespace

std::string diamond_json() {
  Task src = task("src").in("n", integer).out("y", f32["n"]).body([](Tensor n) { return iota(n).as(f32["n"]); });
  Task dbl = task("dbl").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x * 2.0; });
  Task add =
      task("add").in("a", f32["N"]).in("b", f32["N"]).out("y", f32["N"]).body([](Tensor a, Tensor b) { return a + b; });
  Graph diamond = graph("diamond").in("n", integer).out("y", f32["n"]).body([&](Tensor n) {
    Tensor s = src(n);
    Tensor l = inc()(inc()(s["y"])["y"]);
    Tensor r = dbl(s["y"]);
    return inc()(add(l["y"], r["y"])["y"])["y"];
  });
  return to_json(diamond);
}

std::string hazard_json() {
  Task bump = task("bump").inout("r", f64["N"]).in("d", f64[1]).out("t", f64[1]).body([](Var r, Tensor d) {
    r += d;
    return r.sum(0);
  });
  Task peek = task("peek").in("r", f64["N"]).out("m", f64[1]).body([](Tensor r) { return r.max(0); });
  Graph hazard = graph("hazard").inout("r", f64["N"]).in("d", f64[1]).out("t", f64[1]).body([&](Var r, Tensor d) {
    Tensor a = bump(r, d);
    Tensor p = peek(r);
    Tensor b = bump(r, a["t"]);
    return b["t"] + p["m"];
  });
  return to_json(hazard);
}
