// Shards from C++: calls of graphs and fns on them, what comes back, and mistakes with their lines.
#include <doctest/doctest.h>

#include <atomic>

#include "taskspec/taskspec.hpp"
#include "tests/dsl/mistakes.hpp"

namespace taskspec::shards_test {

namespace {

const Fields Cell = fields("Cell", {{"state", f64}, {"flux", f64}});

Task add_one() {
  return task("add_one").inout("c", Cell, {"state"}).body([](View c) {
    for (Tensor i : c) c[i]["state"] += 1.0;
  });
}
Task gather() {
  return task("gather").inout("own", Cell, {"flux"}).in("ghost", Cell, {"state"}).body([](View own, View ghost) {
    for (Tensor i : own) own[i]["flux"] += 0.5 * (ghost[i - 1]["state"] + ghost[i + 1]["state"]);
  });
}

// Ten steps with ghost cells: 30 of 32 cells take the mean of their neighbours, 2 .. 11.
Fn heat() {
  return fn("heat").in("start", real).returns(real).body([](Tensor start) {
    Region cells = region("cells", Cell, 32);
    Partition owned = blocks(cells, 4);
    Partition interior = owned & shrink(cells, 1), ghost = halo(owned, 1);
    fill(cells["state"], start);
    for_(range(0, 10), [&](Tensor) {
      launch(add_one(), owned).over(0, 4).by(cyclic);
      launch(gather(), interior, ghost).over(0, 4).by(cyclic);
    });
    return cells["flux"].sum(0).scalar();
  });
}
constexpr double warm = 30 * (2 + 11) * 10 / 2.0;

}  // namespace

TEST_CASE("a fn runs on shards from C++, with the same value and the report of shards [dsl][doors]") {
  const double on_host = run(heat()(1.0)).scalar<double>();
  CHECK(on_host == warm);
  for (const int shards : {1, 2, 3, 5}) {
    Tensor r = run(heat()(1.0), mpi(shards));
    CHECK(r.scalar<double>() == on_host);
    const auto counts = report(r).of_backend;
    CHECK(counts.at("fences") > 0);
    CHECK((counts.at("messages") > 0) == (shards > 1));
    CHECK(report(r).tasks > 0);
  }
  CHECK(run(heat()(1.0), mpi(3)).scalar<double>() ==
        run(heat()(1.0), mpi(3, {arg("level", "every")})).scalar<double>());
}

TEST_CASE("a graph runs on shards from C++, with values of the host program [dsl][doors]") {
  Graph twice = graph("twice").in("x", f64(4)).out("y", f64(4)).body([](Tensor x) { return x * 2.0; });
  Tensor x = tensor({1, 2, 3, 4}, f64);
  Tensor moved = x + 1.0;  // of the session of this thread
  Tensor r = twice(moved).run(mpi(3));
  CHECK(r["y"].array<double>() == std::vector<double>{4, 6, 8, 10});
  CHECK(report(r).of_backend.at("other_fences") >= 0);
  CHECK(twice(r["y"]).run(mpi(2))["y"].array<double>() == std::vector<double>{8, 12, 16, 20});
}

TEST_CASE("bodies in C++ find elements whose shard has memory of no others [dsl]") {
  define_extern("tests.around", [](FieldView<double> own, FieldView<const double> around) {
    for (std::int64_t i : own)
      own[i] += (around.contains(i - 1) ? around[i - 1] : -1) + (around.contains(i + 1) ? around[i + 1] : -2);
  });
  define_extern("tests.tile", [](FieldView<double, 2> own) {
    own.rows([](std::array<std::int64_t, 2> first, std::span<double> row) {
      for (double& one : row) one += static_cast<double>(first[0] * 10 + first[1]);
    });
    own(own.low(0), own.high(1) - 1) *= 3;
  });
  Workspace work;
  CHECK(work.enter("fields Cell { a: f64, b: f64 }\nfields Plane { c: f64 }\n"
                   "task begin(out own: Cell[_].{b}) { for i in own { own[i].b = 1.0 + (i % 7) as f64 } }\n"
                   "task around(inout own: Cell[_].{a}, in more: Cell[_].{b}) extern \"tests.around\"\n"
                   "task tile(inout own: Plane[_, _].{c}) extern \"tests.tile\"\n"
                   "fn all() -> [float] {\n"
                   "  let cells = region Cell[60]; let own = blocks(cells, 5)\n"
                   "  let more = cover(cells, 5, c => [12 * c + 3..12 * c + 9, (12 * c + 20) % 60..(12 * c + 20) % 60 "
                   "+ 4])\n"
                   "  launch begin(own[i]) for i in 0..5\n"
                   "  launch around(own[i], more[i]) for i in 0..5 by cyclic\n"
                   "  let plane = region Plane[8, 6]; let tiles = blocks(plane, 2, 2)\n"
                   "  launch tile(tiles[c]) for c in grid(2, 2)\n"
                   "  return [cells.a.sum(0).scalar, cells.a.max(0).scalar, plane.c.sum().scalar]\n}\n")
            .diagnostics == "");
  const std::string on_host = work.enter("all()").value;
  CHECK(on_host.size() > 10);
  for (const std::string shards : {"2", "3", "5"})
    CHECK(work.enter("(run all() on mpi(shards: " + shards + ", instances: \"packed\")).value").value == on_host);
}

TEST_CASE("C++ on the host acts once, however many shards there are [dsl][doors]") {
  static std::atomic<int> calls;
  calls = 0;
  Fn next = host_fn("next", [](double x) { return x + ++calls; });
  Fn twice = fn("twice_warm").in("start", real).returns(real).body([=](Tensor start) {
    Tensor first = next(start);
    return heat()(agree(first)) + next(first) * 0.0;
  });
  CHECK(run(twice(0.0), mpi(4)).scalar<double>() == warm);
  CHECK(calls == 2);
}

TEST_CASE("what is wrong with shards from C++ names its line [dsl][doors]") {
  CHECK(mistake_of([] { (void)run(heat()(1.0), mpi(-1)).scalar<double>(); }).code == "E1003");
  CHECK(mistake_of([] { (void)run(heat()(1.0), mpi(2, {arg("level", "often")})).scalar<double>(); }).code == "E1003");
  CHECK(mistake_of([] { (void)run(heat()(1.0), mpi(2, {arg("workers", 2)})).scalar<double>(); }).code == "E1003");
  CHECK(mistake_of([] { (void)run(heat()(1.0), mpi(3, {arg("inject", "1:9:domain")})).scalar<double>(); }).code ==
        "E6001");
}

}  // namespace taskspec::shards_test
