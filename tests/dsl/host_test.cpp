// The host program in C++: values, runs, receives.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "taskspec/taskspec.hpp"

namespace taskspec::host_test {

namespace {

std::string error_code(const std::function<void()>& wrong) {
  try {
    wrong();
  } catch (const Error& error) {
    return error.diagnostics()[0].code;
  }
  return "";
}

Graph doubled() {
  Task dbl = task("dbl").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x * 2.0; });
  return graph("doubled").in("x", f32["N"]).out("y", f32["N"]).body([dbl](Tensor x) { return dbl(dbl(x)["y"])["y"]; });
}

std::ptrdiff_t threads_here() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("a thread that computes little has one more thread for it, however often it asks [dsl]") {
  const std::ptrdiff_t before = threads_here();
  std::ptrdiff_t during = 0;
  std::thread([&] {
    for (int i = 0; i < 20; ++i) {
      CHECK((tensor({1, 2}, f32) + i).sum().scalar<double>() == 3 + 2 * i);
      during = std::max(during, threads_here());
    }
  }).join();
  CHECK(during <= before + 2);  // itself, and the deep stack of its host program
}

TEST_CASE("values go in and come out [dsl]") {
  Tensor x = tensor({{1, 2}, {3, 4}}, f32);
  CHECK(x.shape() == std::vector<std::int64_t>{2, 2});
  CHECK(x.array<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK((x + 1.0).sum().scalar<double>() == 14);
  CHECK(x[1].array<float>() == std::vector<float>{3, 4});
  CHECK(x.at(all, 1).array<float>() == std::vector<float>{2, 4});
  CHECK(x.at(range(0, 1), range(0, 2)).shape() == std::vector<std::int64_t>{1, 2});
  CHECK(matmul(x, x).array<float>() == std::vector<float>{7, 10, 15, 22});
  CHECK(tensor(std::vector<std::int32_t>{1, 2, 3}).sum().scalar<int>() == 6);
  CHECK(tensor(std::vector<double>{1, 2, 3, 4}, {2, 2}).sum({0, 1}).scalar<float>() == 10);
  CHECK((x > 2.0).array<bool>() == std::vector<bool>{false, false, true, true});
  CHECK(x.as(i8).array<std::int8_t>() == std::vector<std::int8_t>{1, 2, 3, 4});
  CHECK(concat({x, x}, 0).shape() == std::vector<std::int64_t>{4, 2});
  CHECK(maximum(x, 2.5).sum().scalar<float>() == 12);
  CHECK((softmax(x).shape() == x.shape()));

  CHECK(error_code([&] { (void)x.scalar<float>(); }) == "E2001");
  CHECK(error_code([&] { (void)x.array<int>(); }) == "E1004");
  CHECK(error_code([&] { (void)tensor(std::vector<int>{1000}).scalar<std::int8_t>(); }) == "E5001");
  CHECK(error_code([&] { (void)tensor(std::vector<int>{1, 2, 3}, {2, 2}); }) == "E2001");
  CHECK(error_code([&] { (void)(tensor({1, 2, 3}, i32) / tensor({1, 0, 1}, i32)).array<int>(); }) == "E5002");
}

TEST_CASE("calls of graphs are futures, and run in sessions of their own when that is asked for [dsl]") {
  Graph g = doubled();
  Tensor r = g(tensor({1, 2, 3}, f32));
  CHECK(r["y"].text() == "<doubled#0.y : f32[3], 2 steps>");
  CHECK(r["y"].array<float>() == std::vector<float>{4, 8, 12});
  CHECK(r.array<float>() == std::vector<float>{4, 8, 12});  // its only output
  Tensor own = g(tensor({5}, f32)).run(host(2, "pull"));
  CHECK(own.scalar<float>() == 20);
  CHECK(report(own).tasks == 2);
  CHECK(report(own).chains == 1);
  CHECK(error_code([&] { (void)report(r); }) == "E1002");
  CHECK(error_code([&] { (void)r.run(); }) == "E1004");
  CHECK(error_code([&] { (void)g(tensor({1, 2}, i32)); }) == "E2002");
  CHECK(error_code([&] { (void)g(tensor({5}, f32)).run(Backend{"cloud"}); }) != "");
  // After an error everything goes on.
  CHECK(g(tensor({1}, f32)).scalar<float>() == 4);
}

TEST_CASE("a call runs in time steps, its agents keep their states meanwhile [dsl]") {
  struct Stepper : Agent {
    using Agent::Agent;
    Var total = state("total", i64[1], zero());
    Task add = task("add").in("x", i64[1]).out("sum", i64[1]).body([this](Tensor x) {
      total += x;
      return total;
    });
  };
  Graph g = graph("counted").in("x", i64[1]).out("y", i64[1]).body([](Tensor x) { return Stepper().add(x); });
  Tensor r = g(tensor({3}, i64)).run(host().time_steps(4));
  CHECK(r.array<int>() == std::vector<int>{12});
  CHECK(r["y"].array<int>() == std::vector<int>{12});
  CHECK(r["steps"]["y"].array<int>() == std::vector<int>{3, 6, 9, 12});
  CHECK(g(tensor({3}, i64)).run(host().time_steps(2))["steps"]["y"].array<int>() == std::vector<int>{3, 6});
  CHECK(error_code([&] { (void)g(tensor({3}, i64)).run(host().time_steps(-1)); }) == "E1003");
  // An input with an extent more gives one slice per step.
  Tensor xs = tensor(std::vector<std::int64_t>{1, 10, 100}, {3, 1});
  Tensor sliced = g(xs).run(host().time_steps(3));
  CHECK(sliced["y"].array<int>() == std::vector<int>{111});
  CHECK(sliced["steps"]["y"].array<int>() == std::vector<int>{1, 11, 111});
  CHECK(error_code([&] { (void)g(xs).run(host().time_steps(2)); }) == "E2001");
  CHECK(error_code([&] { (void)g(xs).run(host()); }) == "E2001");
  CHECK(error_code([&] { (void)g(xs)["y"].array<int>(); }) == "E2001");
  CHECK(error_code([&] { (void)g(tensor(std::vector<std::int64_t>{1, 2}, {1, 1, 2})); }) == "E2001");
}

TEST_CASE("a graph without a signature gets its types by the first call [dsl]") {
  struct Scale : Agent {
    using Agent::Agent;
    Tensor k = param("k", real);
    Task apply = task("apply").in("x", f32["N"]).out("y", f32["N"]).body([this](Tensor x) { return k * x; });
  };
  Graph g = graph("scaled", [](Tensor x) {
    Tensor a = Scale(2.0).apply(x);
    return results("e", a["y"].sum(0), "f", a["y"] + 1.0);
  });
  CHECK(error_code([&] { (void)chains(g); }) == "E1004");
  Tensor r = g(tensor({1, 2, 3, 4}, f32)).run(host());
  CHECK(r["e"].scalar<float>() == 20);
  CHECK(r["f"].array<float>() == std::vector<float>{3, 5, 7, 9});
  CHECK(to_json(g).find("\"inputs\":[\n{\"name\":\"x\",\"type\":\"f32[4]\"") != std::string::npos);
  CHECK(error_code([&] { (void)g(tensor({1, 2}, f32)); }) == "E2001");
  Graph power = graph("power", [](Tensor x, Tensor k) { return x * k; });
  CHECK(power(tensor({1, 2}, f64), 3.0).array<double>() == std::vector<double>{3, 6});
  CHECK(error_code([&] { (void)graph("two", [](Tensor x) { return x; })(1.0, 2.0); }) == "E1003");
}

TEST_CASE("agents of the host program remember, places too [dsl]") {
  struct Counter : Agent {
    using Agent::Agent;
    Tensor step = param("step", integer);
    Var total = state("total", i64[1], zero());
    Task add = task("add").in("x", i64["N"]).out("sum", i64[1]).body([this](Tensor x) {
      total += x.sum(0) * step;
      return total;
    });
  };
  Counter twice(2), once(1);
  twice.add(iota(3));  // nobody asks for its output, and yet it counts
  once.add(iota(3));
  CHECK(twice.add(iota(4))["sum"].scalar<int>() == 18);
  CHECK(once.add(iota(1))["sum"].scalar<int>() == 3);
  CHECK(twice.text() == "Counter(step: 2)");

  Task bump = task("bump").inout("r", f64["N"]).in("d", f64[1]).out("t", f64[1]).body([](Var r, Tensor d) {
    r += d;
    return r.sum(0);
  });
  Var r = var("r", fill(f64[3], 1.0));
  Tensor before = r;
  CHECK(bump(r, tensor({2}, f64))["t"].scalar<double>() == 9);
  r *= 10.0;
  CHECK(Tensor(r).array<double>() == std::vector<double>{30, 30, 30});
  CHECK(before.array<double>() == std::vector<double>{1, 1, 1});
}

TEST_CASE("task bodies in C++ run, alone and in graphs [dsl]") {
  Task scaled = task("scaled")
                    .in("x", f32["N"])
                    .in("k", real)
                    .in("n", integer)
                    .out("y", f32["N"])
                    .native([](std::span<const float> x, double k, std::int64_t n, std::span<float> y) {
                      for (std::size_t i = 0; i < x.size(); ++i)
                        y[i] = static_cast<float>(x[i] * k + static_cast<double>(n));
                    });
  CHECK(scaled(tensor({1, 2}, f32), 10.0, 1).array<float>() == std::vector<float>{11, 21});
  Graph g = graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) {
    return scaled(x + 1.0, 2.0, 0)["y"] * 3.0;
  });
  CHECK(g(tensor({1, 2}, f32)).array<float>() == std::vector<float>{12, 18});
  CHECK(to_json(g).find("\"extern\":\"scaled\"") != std::string::npos);

  Task fails = task("fails").in("x", f32["N"]).out("y", f32["N"]).native([](std::span<const float>, std::span<float>) {
    throw std::runtime_error("no paper");
  });
  try {
    (void)fails(tensor({1}, f32)).scalar<float>();
    FAIL("it threw");
  } catch (const Error& error) {
    CHECK(error.diagnostics()[0].code == "E5011");
    CHECK(error.diagnostics()[0].message.find("no paper") != std::string::npos);
    CHECK(error.diagnostics()[0].file.ends_with("host_test.cpp"));
  }
}

TEST_CASE("tasks of one name live side by side in the host program [dsl]") {
  auto plus = [](double k) {
    return task("plus").in("x", f32["N"]).out("y", f32["N"]).body([k](Tensor x) { return x + k; });
  };
  Task one = plus(1), two = plus(2), one_again = plus(1);
  Tensor x = tensor({1}, f32);
  CHECK(one(x).scalar<float>() == 2);
  CHECK(two(x).scalar<float>() == 3);
  CHECK(one(x).scalar<float>() == 2);
  CHECK(one_again(x).scalar<float>() == 2);
}

TEST_CASE("recorded control flow [dsl]") {
  Graph g = graph("collatz").in("x", f32[1]).in("n", integer).out("y", f32[1]).body([](Tensor x, Tensor n) {
    Var y = var("y2", x);
    for_(range(0, n), [&](Tensor i) { y += i.as(f32); });
    if_(
        y.sum(0) > 5.0, [&] { y = y * 0.5; }, [&] { y = y * 2.0; });
    while_([&] { return y.sum(0) < 20.0; }, [&] { y = y * 2.0; });
    return Tensor(y);
  });
  CHECK(g(tensor({0}, f32), 4).scalar<float>() == 24);  // 0 + 6 -> 3 -> 6 -> 12 -> 24
  CHECK(g(tensor({0}, f32), 2).scalar<float>() == 32);  // 1 -> 2 -> 4 ... 32
}

TEST_CASE("operands in the order of a text, whatever C++ does [dsl]") {
  Task inc = task("inc").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x + 1.0; });
  Task dbl = task("dbl").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x * 2.0; });
  Graph g = graph("g").in("x", f32["N"]).out("y", f32["N"]).body([&](Tensor x) { return inc(x)["y"] + dbl(x)["y"]; });
  CHECK(chains(g) == std::vector<std::vector<std::string>>{{"inc"}, {"dbl"}, {"add"}});
}

TEST_CASE("a long loop that keeps nothing does not get slower and slower; what is kept stays [dsl]") {
  Graph g = doubled();
  const std::vector<float> data(8, 1.0f);
  auto turns = [&](int count) {
    float sum = 0;
    for (int i = 0; i < count; ++i) sum += g(tensor(data))["y"].sum().scalar<float>();
    return sum;
  };
  CHECK(turns(200) == 200 * 32);
  {
    Tensor kept = g(tensor({3}, f32));
    CHECK(turns(100) == 100 * 32);
    CHECK(kept.scalar<float>() == 12);
  }
  CHECK(turns(200) == 200 * 32);
}

TEST_CASE("many values at one time, and names of those that went are used again [dsl]") {
  Task inc = task("inc").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x + 1.0; });
  std::vector<Tensor> held{tensor({0}, f32)};
  for (int i = 1; i <= 400; ++i) held.push_back(inc(held.back()));
  CHECK(held[400].scalar<float>() == 400);
  for (std::size_t i = 1; i < 400; i += 2) held[i] = Tensor(inc(held[i + 1]));  // the old one goes
  for (std::size_t i = 1; i < 400; i += 2) CHECK(held[i].scalar<float>() == static_cast<float>(i + 2));
  for (std::size_t i = 2; i < 400; i += 2) CHECK(held[i].scalar<float>() == static_cast<float>(i));
  std::vector<Var> places;
  for (int i = 0; i < 50; ++i) places.push_back(var("place", i));  // of one name
  for (int i = 0; i < 50; ++i) CHECK(Tensor(places[static_cast<std::size_t>(i)] + 1).scalar<float>() == i + 1);
}

TEST_CASE("two threads record and run at one time [dsl]") {
  std::vector<float> results(2);
  auto work = [&](std::size_t k) {
    for (int turn = 0; turn < 5; ++turn) {
      Graph g = doubled();
      results[k] = g(tensor({static_cast<double>(k) + 1}, f32)).run(host(1)).scalar<float>();
    }
  };
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
  CHECK(results == std::vector<float>{4, 8});

  Tensor here = tensor({1}, f32) + 1.0;
  std::string code;
  std::thread([&] { code = error_code([&] { (void)here.scalar<float>(); }); }).join();
  CHECK(code == "E1001");
}

}  // namespace taskspec::host_test
