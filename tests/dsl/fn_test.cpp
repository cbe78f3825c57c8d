// Recorded fns: host control, receives, host functions in C++; run as two programs beside each other.
#include <doctest/doctest.h>

#include <chrono>
#include <future>

#include "taskspec/taskspec.hpp"
#include "tests/dsl/mistakes.hpp"

namespace taskspec::fn_test {

namespace {

Graph twofold() {
  return graph("twofold").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x * 2.0; });
}

// Something that one side says and the other one waits for; false where nothing came in time.
class Signal {
 public:
  void give() { said_.set_value(); }
  bool comes() { return heard_.wait_for(std::chrono::seconds(20)) == std::future_status::ready; }

 private:
  std::promise<void> said_;
  std::future<void> heard_ = said_.get_future();
};

}  // namespace

TEST_CASE("a fn gives host values, tensors, both or nothing [dsl]") {
  Tensor x = tensor({1, 2, 3}, f32);
  Fn count = fn("count").in("x", f32["N"]).in("limit", real).returns(integer).body([](Tensor x, Tensor limit) {
    Var y = var("y", x), n = var("n", 0);
    while_([&] { return y.sum(0).scalar() < limit; },
           [&] {
             y = twofold()(y)["y"];
             n += 1;
           });
    return n;
  });
  CHECK(run(count(x, 40.0)).scalar<int>() == 3);  // 6 12 24 48
  CHECK(count(x, 40.0).run(host(2, "pull")).scalar<int>() == 3);
  CHECK(count(x, 100).scalar<int>() == 5);  // at once, by the interpreter of the host program
  CHECK(run(count(twofold()(x), 40.0)).scalar<int>() == 2);

  Fn twice = fn("twice").in("x", f32["N"]).returns(f32["N"]).body([](Tensor x) { return twofold()(x)["y"]; });
  Tensor y = run(twice(x));
  CHECK(y.array<float>() == std::vector<float>{2, 4, 6});
  CHECK((y + 1.0).array<float>() == std::vector<float>{3, 5, 7});
  CHECK(report(y).tasks > 0);
  CHECK(run(twice(y)).shape() == std::vector<std::int64_t>{3});

  Fn both = fn("both")
                .in("x", f32["N"])
                .in("list", list_of(real))
                .returns(tuple_of(f32["N"], list_of(real)))
                .body([](Tensor x, Tensor list) { return tupled(x + 1.0, list); });
  Tensor pair = run(both(x, std::vector<double>{0.5, 1.5}));
  CHECK(pair[0].array<float>() == std::vector<float>{2, 3, 4});
  CHECK(pair[1].array<double>() == std::vector<double>{0.5, 1.5});
}

TEST_CASE("host functions take and give numbers, texts, lists and tuples, and are called in order [dsl]") {
  std::string calls;
  Fn note = host_fn("note", [&](const std::string& word, bool loud) { calls += word + (loud ? "! " : " "); });
  Fn mean = host_fn("mean", [](const std::vector<std::vector<double>>& rows, std::tuple<float, int> more) {
    double sum = std::get<0>(more) + static_cast<float>(std::get<1>(more));
    for (const auto& row : rows)
      for (double value : row) sum += value;
    return std::pair(sum, rows.size());
  });
  Fn shout = fn("shout").in("times", integer).body([&](Tensor times) {
    for_(range(0, times), [&](Tensor i) { note("again", i == 1); });
  });
  Fn all = fn("all").in("x", f32(2, 2)).returns(real).body([&](Tensor x) {
    note("begin", false);
    shout(2);
    Var r = var("r", mean(x.array(), tupled(0.5, 2)));
    note("end", true);
    return r[0] + r[1];
  });
  CHECK(run(all(tensor({{1, 2}, {3, 4}}, f32))).scalar<double>() == 14.5);
  CHECK(calls == "begin again again! end! ");
  calls.clear();
  run(shout(1), host(1));
  CHECK(calls == "again ");
  shout(2);  // with the next thing that the host program does
  CHECK(tensor({1}, f32).scalar<float>() == 1);
  CHECK(calls == "again again again! ");
  CHECK(mistake_of([&] { run(shout(1), Backend{"cloud"}); }).code != "");
  CHECK(mistake_of([&] { run(shout(1), Backend{"print"}); }).code != "");
  CHECK(mistake_of([&] { run(all(tensor({{1, 2}, {3, 4}}, f32)), Backend{"cloud"}); }).code != "");
  CHECK(mistake_of([&] { run(shout("x")); }).code == "E1004");
}

namespace {

// A task and a host function that wait for each other: both come back, and have heard it, only if they run at once.
struct Meeting {
  Signal task_runs, host_runs;
  bool task_heard = false, host_heard = false;
  Task wait =
      task("wait").in("x", f32["N"]).out("y", f32["N"]).native([this](std::span<const float> x, std::span<float> y) {
        task_runs.give();
        task_heard = host_runs.comes();
        std::copy(x.begin(), x.end(), y.begin());
      });
  Fn meet = host_fn("meet", [this] {
    host_heard = task_runs.comes();
    host_runs.give();
    return 2.0;
  });
};

}  // namespace

TEST_CASE("host code and tasks run at the same time, in whichever order they wait for each other [dsl]") {
  Meeting at;
  Fn f = fn("f").in("x", f32["N"]).returns(real).body([&](Tensor x) {
    Tensor y = at.wait(x)["y"];
    Var k = var("k", at.meet());
    return (y * k).sum(0).scalar();
  });
  CHECK(run(f(tensor({1, 2}, f32))).scalar<double>() == 6);
  CHECK(at.task_heard);
  CHECK(at.host_heard);
}

TEST_CASE("a fn that changes a place is cut, and the place is what it made of it [dsl]") {
  Meeting at;
  Fn both = fn("both").inout("r", f32["N"]).returns(real).body([&](Var r) {
    Tensor y = at.wait(r)["y"];
    Var k = var("k", at.meet());
    r = y * k;
    return r.sum(0).scalar();
  });
  Var r = var("r", tensor({1, 2}, f32));
  Tensor before = r;
  CHECK(run(both(r)).scalar<double>() == 6);
  CHECK(at.task_heard);
  CHECK(at.host_heard);
  CHECK(Tensor(r).array<float>() == std::vector<float>{2, 4});
  CHECK(before.array<float>() == std::vector<float>{1, 2});

  // Two places, one of them given by name, beside an operand that only reads; and no result.
  Fn swap = fn("swap").inout("a", f32["N"]).in("k", f32["N"]).inout("b", f32["N"]).body([](Var a, Tensor k, Var b) {
    Tensor old = a;
    a = b + k;
    b = old;
  });
  Var s = var("s", tensor({10, 20}, f32));
  run(swap(r, s + 1.0, arg("b", s)), host(2));
  CHECK(Tensor(r).array<float>() == std::vector<float>{21, 41});
  CHECK(Tensor(s).array<float>() == std::vector<float>{2, 4});
  CHECK(slices_json(swap(r, s + 0.0, s)).find("\"channels\"") != std::string::npos);
  CHECK(Tensor(r).array<float>() == std::vector<float>{21, 41});  // looked at, not run
  CHECK(mistake_of([&] { run(swap(r, r + 0.0, r)); }).code == "E1403");
  CHECK(mistake_of([&] { run(swap(r, s, s)); }).code == "E1403");
  CHECK(mistake_of([&] { run(swap(r, s + 0.0, tensor({1, 2}, f32))); }).code != "");

  // What fails leaves it as it was.
  Fn no = host_fn("no", [](double) { throw std::runtime_error("not today"); });
  Fn fails = fn("fails").inout("a", f32["N"]).body([&](Var a) {
    a = a * 0.0;
    no(a.sum(0).scalar());
  });
  CHECK(mistake_of([&] { run(fails(r)); }).code == "E5011");
  CHECK(Tensor(r).array<float>() == std::vector<float>{21, 41});
  // Without `run` it is part of the session, as before.
  swap(r, s + 0.0, s);
  CHECK(Tensor(s).array<float>() == std::vector<float>{21, 41});
}

TEST_CASE("what a local function of C++ gives decides nothing of the graph, unless it is agreed on [dsl]") {
  Fn now = local_host_fn("now", [] { return 2.5; });
  Fn note = host_fn("note", [](double) {});
  Graph twice = twofold();
  unsigned line = 0;
  auto late = [&](const std::function<Tensor()>& time) {
    return fn("late").in("x", f32["N"]).returns(f32["N"]).body([&](Tensor x) {
      Var y = var("y", x);
      if_(now() > 1.0, [&] { note(now()); });
      if_(time() > 1.0, [&] { y = twice(y)["y"]; });
      return y;
    });
  };
  CHECK(run(late([&] { return agree(now()); })(tensor({1, 2}, f32))).array<float>() == std::vector<float>{2, 4});
  const Mistake wrong = mistake_of([&] {
    line = __LINE__ + 1;
    late([&] { return now(); });
  });
  CHECK(wrong.code == "E1303");
  CHECK(wrong.message == "'now()' is local to a shard and decides a graph operation; use agree(now())");
  CHECK(wrong.line == line);
}

TEST_CASE("what is told of a program with functions of C++ [dsl]") {
  Fn half = host_fn("half", [](double x) { return x / 2; });
  Fn note = host_fn("note", [](const std::string&) {});
  Graph twice = twofold();
  Fn f = fn("f").in("x", f32["N"]).returns(f32["N"]).body([&](Tensor x) {
    note("begin");
    Var k = var("k", half(x.sum(0).scalar()));
    return twice(x)["y"] * k;
  });
  const std::string json = slices_json(f(tensor({1, 2}, f32)));
  auto tells = [&](const std::string& part) { CHECK_MESSAGE(json.find(part) != std::string::npos, part, "\n", json); };
  // C++ belongs to the host alone, and has no lines; what calls it has.
  tells("\"name\":\"half\",\"kind\":\"fn\",\"extern\":\"half\",\"cut\":true,\"host\":true,\"graph\":false");
  tells("\"name\":\"note\",\"kind\":\"fn\",\"extern\":\"note\",\"cut\":true,\"host\":true,\"graph\":false");
  tells("\"name\":\"f\",\"kind\":\"fn\",\"cut\":true,\"host\":true,\"graph\":true");
  tells("\"text\":\"note(\\\"begin\\\")\"");
  tells("\"text\":\"k = half(dequeue f:0)\"");
  tells("\"name\":\"f:0\",\"function\":4,\"to\":\"host\",\"loops\":0,\"waits\":true,\"round_trip\":true");
  tells("\"round_trips\":{\"all\":1,\"each_turn\":0}");
  CHECK(json.find("\"extern\":\"f\"") == std::string::npos);
  // A graph that such a fn calls is what it is without it.
  CHECK(to_json(twice) == to_json(twofold()));
  CHECK(to_json(twice).find("half") == std::string::npos);
}

TEST_CASE("mistakes in fns are told with their line of C++ [dsl]") {
  Fn half = host_fn("half", [](double x) {
    if (x < 0) throw std::runtime_error("no roots here");
    return x / 2;
  });
  unsigned line = 0;
  Mistake type = mistake_of([&] {
    fn("f").in("x", f32["N"]).returns(real).body([&](Tensor x) {
      line = __LINE__ + 1;
      return half(x);
    });
  });
  CHECK(type.code == "E1004");
  CHECK(type.line == line);

  Fn thrown = fn("g").in("x", f32["N"]).returns(real).body([&](Tensor x) {
    Tensor sum = x.sum(0).scalar();
    line = __LINE__ + 1;
    return half(sum);
  });
  CHECK(run(thrown(tensor({2, 3}, f32))).scalar<double>() == 2.5);
  Mistake threw = mistake_of([&] { run(thrown(tensor({-2, 1}, f32))); });
  CHECK(threw.code == "E5011");
  CHECK(threw.message == "the C++ function 'half' threw: no roots here");
  CHECK(threw.line == line);

  Mistake tensor_decides = mistake_of([&] {
    fn("h").in("x", f32["N"]).returns(real).body([&](Tensor x) {
      Var y = var("y", 0.0);
      line = __LINE__ + 1;
      if_(x.sum(0) > 0.0, [&] { y = 1.0; });
      return y;
    });
  });
  CHECK(tensor_decides.code == "E1301");
  CHECK(tensor_decides.line == line);

  Mistake in_graph = mistake_of([&] {
    graph("g").in("x", f32["N"]).in("k", real).out("y", f32["N"]).body([&](Tensor x, Tensor k) { return x * half(k); });
  });
  CHECK(in_graph.code == "E1302");
  CHECK(mistake_of([&] { (void)tensor({1}, f32).scalar(); }).code == "E1008");
  CHECK(mistake_of([] { print_("here"); }).code == "E1008");
  CHECK(mistake_of([&] { run(thrown(1.0)); }).code == "E1004");
  CHECK(mistake_of([&] { (void)slices_json(twofold()(tensor({1}, f32))); }).code == "E1004");
  Mistake big = mistake_of([] {
    Fn small = host_fn("small", [](std::int8_t x) { return x; });
    run(fn("s").in("n", integer).returns(integer).body([&](Tensor n) { return small(n); })(1000));
  });
  CHECK(big.code == "E5011");
}

}  // namespace taskspec::fn_test
