// Mistakes in C++ are told with their line of C++, by the one exception.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "taskspec/taskspec.hpp"
#include "tests/dsl/mistakes.hpp"

namespace taskspec::misuse_test {

namespace {

Task inc() {
  return task("inc").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x + 1.0; });
}

}  // namespace

TEST_CASE("a value that was moved away, or has none yet, cannot be used [dsl]") {
  unsigned line = 0;
  Mistake moved = mistake_of([&] {
    graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
      Tensor a = inc()(x);
      Tensor b = inc()(std::move(a));
      line = __LINE__ + 1;
      return inc()(a)["y"] + b["y"];
    });
  });
  CHECK(moved.code == "E1006");
  CHECK(moved.message == "this value is not set, or it was moved away");
  CHECK(moved.line == line);

  Tensor later;
  Mistake unset = mistake_of([&] { line = __LINE__, inc()(later); });
  CHECK(unset.code == "E1006");
  CHECK(unset.line == line);
}

TEST_CASE("a value that a call took in is gone for its other handles [dsl]") {
  struct Keeps : Agent {
    Task apply = task("apply").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x * 2.0; });
  };
  unsigned line = 0;
  Mistake gone = mistake_of([&] {
    graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
      Keeps keeps;
      Tensor a = std::move(keeps).apply(x);
      line = __LINE__ + 1;
      return keeps.apply(a["y"])["y"];
    });
  });
  CHECK(gone.code == "E1006");
  CHECK(gone.line == line);
}

TEST_CASE("names of outputs and parameters are those of the signature [dsl]") {
  unsigned line = 0;
  Mistake output = mistake_of([&] {
    graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
      line = __LINE__ + 1;
      return inc()(x)["z"];
    });
  });
  CHECK(output.code == "E1002");
  CHECK(output.message == "task 'inc' has no output 'z'; outputs: y");
  CHECK(output.line == line);

  Mistake result = mistake_of(
      [&] { task("t").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) { return results("z", x); }); });
  CHECK(result.code == "E1002");
  CHECK(result.message == "task 't' has no output 'z'; outputs: y");

  Mistake named = mistake_of([&] {
    graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
      line = __LINE__ + 1;
      return inc()(arg("w", x))["y"];
    });
  });
  CHECK(named.code == "E1003");
  CHECK(named.line == line);
}

TEST_CASE("types and shapes are checked when a body is written [dsl]") {
  unsigned line = 0;
  Mistake shapes = mistake_of([&] {
    task("t").in("a", f32[4]).in("b", f32[5]).out("y", f32[4]).body([&](Tensor a, Tensor b) {
      line = __LINE__ + 1;
      return a + b;
    });
  });
  CHECK(shapes.code == "E2001");
  CHECK(shapes.message == "shapes differ: f32[4] + f32[5]; dimension 0 is 4 against 5");
  CHECK(shapes.line == line);

  Mistake precision = mistake_of([&] {
    task("t").in("a", f32[4]).in("b", i8[4]).out("y", f32[4]).body([&](Tensor a, Tensor b) {
      line = __LINE__ + 1;
      Tensor product = a * b;
      return product;
    });
  });
  CHECK(precision.code == "E2002");
  CHECK(precision.line == line);

  Mistake type = mistake_of([&] {
    line = __LINE__ + 1;
    task("t").in("a", Precision("f33")["N"]).out("y", f32[4]).body([&](Tensor a) { return a; });
  });
  CHECK(type.line == line);

  Mistake unset = mistake_of([&] { task("t").in("a", f32["N"]).out("y", f32["N"]).body([](Tensor) {}); });
  CHECK(unset.code == "E1006");
}

TEST_CASE("counts of parameters and results are those of the signature [dsl]") {
  unsigned line = 0;
  Mistake body = mistake_of([&] {
    line = __LINE__ + 1;
    task("t").in("a", f32["N"]).in("b", f32["N"]).out("y", f32["N"]).body([](Tensor a) { return a; });
  });
  CHECK(body.code == "E1003");
  CHECK(body.message == "this body takes 1 value, and task 't' has 2 parameters");
  CHECK(body.line == line);

  Mistake results = mistake_of(
      [&] { task("t").in("a", f32["N"]).out("y", f32["N"]).out("z", f32["N"]).body([](Tensor a) { return a; }); });
  CHECK(results.code == "E1003");

  Mistake call = mistake_of([&] {
    graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
      line = __LINE__ + 1;
      return inc()(x, x)["y"];
    });
  });
  CHECK(call.code == "E1003");
  CHECK(call.line == line);

  Mistake native =
      mistake_of([&] { task("t").in("a", f32["N"]).out("y", f32["N"]).native([](std::span<const float>) {}); });
  CHECK(native.code == "E1003");
  Mistake element = mistake_of(
      [&] { task("t").in("a", f32["N"]).out("y", f32["N"]).native([](std::span<const double>, std::span<float>) {}); });
  CHECK(element.code == "E1004");
  CHECK(element.message ==
        "'a' of task 't' is a span of const f32; parameter 1 of its C++ body is a span of const f64");
}

TEST_CASE("a body uses its own values only [dsl]") {
  unsigned line = 0;
  Mistake foreign = mistake_of([&] {
    graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
      Task t = task("t").in("a", f32["N"]).out("y", f32["N"]).body([&](Tensor a) {
        line = __LINE__ + 1;
        return a + x;
      });
      return t(x)["y"];
    });
  });
  CHECK(foreign.code == "E1001");
  CHECK(foreign.line == line);

  Tensor kept;
  graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
    kept = x * 2.0;
    return x;
  });
  CHECK(mistake_of([&] { kept.array<float>(); }).code == "E1001");
  CHECK(mistake_of([&] {
          graph("h").in("x", f32[4]).out("y", f32[4]).body([&](Tensor x) {
            if_(x.sum() > 0.0, [&] { kept = x * 3.0; });
            return kept;
          });
        }).code == "E1001");
}

TEST_CASE("what would be a cycle has no value yet; calls of oneself, two of one name [dsl]") {
  Graph again;
  Mistake cycle = mistake_of([&] {
    again = graph("again").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) { return again(x)["y"]; });
  });
  CHECK(cycle.code == "E1006");

  Task other = task("inc").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x + 2.0; });
  Mistake twice = mistake_of([&] {
    graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) { return other(inc()(x)["y"])["y"]; });
  });
  CHECK(twice.code == "E1005");
  CHECK(twice.message == "'inc' is declared twice, and not alike");
  // Declared twice and alike it is one task.
  Graph fine =
      graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) { return inc()(inc()(x)["y"])["y"]; });
  CHECK(chains(fine) == std::vector<std::vector<std::string>>{{"inc", "inc"}});
}

TEST_CASE("bodies neither receive nor run [dsl]") {
  auto in_body = [](const std::function<void(Tensor)>& f) {
    return mistake_of([&] {
             graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
               f(x);
               return x;
             });
           })
        .code;
  };
  CHECK(in_body([](Tensor x) { (void)x.sum().scalar<float>(); }) == "E1301");
  Graph inner = graph("inner").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x + 1.0; });
  CHECK(in_body([&](Tensor x) { (void)inner(x).run(); }) == "E1302");
  CHECK(mistake_of([] { if_(true, [] {}); }).code == "E1008");
  CHECK(mistake_of([] { (void)output("y"); }).code == "E1008");
}

TEST_CASE("a layer is made where it is declared [dsl]") {
  struct Count : Agent {
    Var n = state("n", i64[1], zero());
    Task step = task("step").in("x", i64[1]).out("y", i64[1]).body([this](Tensor x) {
      n += x;
      return n;
    });
  };
  struct Holds : Agent {
    explicit Holds(const Count& given) : inner(layer("inner", given)) {}
    Count inner;
    Graph twice = graph("twice").in("x", i64[1]).out("y", i64[1]).body([this](Tensor x) {
      return inner.step(inner.step(x)["y"])["y"];
    });
  };
  Count used, fresh;
  CHECK(used.step(tensor({3}, i64))["y"].scalar<int>() == 3);
  unsigned line = __LINE__ - 8;
  Mistake elsewhere = mistake_of([&] { Holds holds(used); });
  CHECK(elsewhere.code == "E1004");
  CHECK(elsewhere.message == "this agent is in use elsewhere");
  CHECK(elsewhere.line == line);

  Holds first(fresh);
  CHECK(first.twice(tensor({1}, i64))["y"].scalar<int>() == 2);
  CHECK(first.twice(tensor({1}, i64))["y"].scalar<int>() == 6);     // it remembers
  CHECK(mistake_of([&] { Holds second(fresh); }).code == "E1004");  // it is that of the first one

  struct Nested : Agent {
    Count inner = layer("inner", Count());
    Task twice = task("twice").in("x", i64[1]).out("y", i64[1]).body([this](Tensor x) { return inner.step(x)["y"]; });
  };
  Mistake in_a_task = mistake_of([&] { (void)Nested().twice(tensor({1}, i64))["y"].scalar<int>(); });
  CHECK(in_a_task.code == "E1009");
}

}  // namespace taskspec::misuse_test
