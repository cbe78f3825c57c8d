// Regions in C++: what the host program does with them, bodies that are real C++, and mistakes with their lines.
#include <doctest/doctest.h>

#include <numeric>

#include "taskspec/taskspec.hpp"
#include "taskspec/workspace.hpp"
#include "tests/dsl/mistakes.hpp"

namespace taskspec::regions_test {

namespace {

const Fields Cell = fields("Cell", {{"state", f64}, {"n", i32}});

Task set_to() {
  return task("set_to").inout("c", Cell, {"state"}).in("k", real).body([](View c, Tensor k) {
    for (Tensor i : c) c[i]["state"] = k;
  });
}

struct Checked {  // until the end of the block
  explicit Checked(bool on) { check_native_tasks(on); }
  ~Checked() { check_native_tasks(false); }
};

}  // namespace

TEST_CASE("the host program has regions, pieces and launches of its own [dsl]") {
  Region cells = region("cells", Cell, 12);
  Partition p = blocks(cells, 3);
  CHECK(cells.text() == "<region Cell[12]>");
  CHECK(p.text() == "<partition Cell[12], 3 pieces, disjoint, complete>");
  CHECK(p[1].text() == "<region Cell[4..8]>");
  CHECK(len(p).scalar<int>() == 3);
  launch(set_to(), p, 2.5).over(0, 2);
  launch([&](Tensor i) { return set_to()(p[2 - i], 1.0); }).over(0, 1).by(cyclic);
  CHECK(cells["state"].array<double>() == std::vector<double>{2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 1, 1, 1, 1});
  Tensor before = cells["state"];
  fill(p[0]["state"], 7);
  CHECK(before.sum(0).scalar<double>() == 24);
  CHECK(cells["state"].sum(0).scalar<double>() == 42);
  set_to()(p[1], 0.0);
  CHECK(p[1]["state"].array<double>() == std::vector<double>(4, 0.0));

  Partition near = halo(p, 1) - p;
  CHECK(near[1].text() == "<region Cell, 2 points>");
  Partition wide = cover(cells, 2, [](Tensor c) { return range(c * 4, c * 4 + 6); });
  CHECK(wide.text() == "<partition Cell[12], 2 pieces, aliased, incomplete>");
  CHECK(by_weight(cells, {3, 1})[0].text() == "<region Cell[0..9]>");
  CHECK(cross(p, wide).at(1, 0).text() == "<region Cell[4..6]>");
}

TEST_CASE("what the points of a launch give is a map, which goes on without a receive [dsl]") {
  Region cells = region("cells", Cell, 6);
  fill(cells["n"], iota(6).as(i32));
  Partition p = blocks(cells, 3);
  Task total =
      task("total").in("c", Cell, {"n"}).out("s", f64[1]).body([](View c) { return c["n"].sum(0).as(f64[1]); });
  Launched m = launch(total, p).over(0, 3);
  CHECK(m["s"].sum().scalar<double>() == 15);
  CHECK(m["s"].max().scalar<double>() == 9);
  CHECK(m["s"].min().scalar<double>() == 1);
  CHECK(m["s"].prod().scalar<double>() == 45);
  CHECK(m["s"].gather().array<double>() == std::vector<double>{1, 5, 9});
  CHECK(m["s"][1].scalar<double>() == 5);
  Task scaled = task("scaled").inout("c", Cell, {"state"}).in("by", f64[1]).body([](View c, Tensor by) {
    for (Tensor i : c) c[i]["state"] = by;
  });
  launch(scaled, p, m["s"]).over(0, 3);
  CHECK(cells["state"].array<double>() == std::vector<double>{1, 1, 5, 5, 9, 9});
}

TEST_CASE("a body over views may be real C++ over the memory of the region [dsl]") {
  for (const bool checks : {false, true}) {
    CAPTURE(checks);
    Checked checked(checks);
    Region cells = region("cells", Cell, 10);
    fill(cells["n"], iota(10).as(i32));
    Partition p = blocks(cells, 2), near = halo(p, 1);
    Task smooth =
        task("smooth")
            .inout("own", Cell, {"state"})
            .in("near", Cell, {"n"})
            .in("k", real)
            .out("s", f64[1])
            .native([](FieldView<double> state, FieldView<const std::int32_t> n, double k, std::span<double> s) {
              for (std::int64_t i : state) {
                const double left = n.contains(i - 1) ? n[i - 1] : 0, right = n.contains(i + 1) ? n[i + 1] : 0;
                state[i] = k * (left + right);
              }
              s[0] = static_cast<double>(state.size());
            });
    Launched m = launch(smooth, p, near, 0.5).over(0, 2);
    CHECK(m["s"].gather().array<double>() == std::vector<double>{5, 5});
    CHECK(cells["state"].array<double>() == std::vector<double>{0.5, 1, 2, 3, 4, 5, 6, 7, 8, 4});

    const Fields Plane = fields("Plane", {{"a", f32}});
    Region g = region("g", Plane, 4, 6);
    Partition tiles = blocks(g, 2, 2);
    Task where = task("where_").out("o", Plane("_", "_"), {"a"}).native([](FieldView<float, 2> a) {
      a.rows([&](std::array<std::int64_t, 2> first, std::span<float> row) {
        for (std::size_t k = 0; k < row.size(); ++k) row[k] = static_cast<float>(first[0] * 10 + first[1]) + k;
      });
      a(a.low(0), a.low(1)) += 100;
    });
    launch(where, tiles).over(grid(2, 2));
    CHECK(g["a"].array<float>() == std::vector<float>{100, 1,  2,  103, 4,  5,  10, 11, 12, 13, 14, 15,
                                                      120, 21, 22, 123, 24, 25, 30, 31, 32, 33, 34, 35});
  }
}

TEST_CASE("contributions of C++ are folded by launch and point [dsl]") {
  Region cells = region("cells", Cell, 8);
  fill(cells["n"], (iota(8) * 3 % 8).as(i32));
  fill(cells["state"], 100.0);
  Partition p = blocks(cells, 4), all = cover(cells, 4, [](Tensor) { return range(0, 8); });
  Task add = task("add_to")
                 .reduce("+", "to", Cell, {"state"})
                 .in("c", Cell, {"n"})
                 .native([](FieldView<double> state, FieldView<const std::int32_t> n) {
                   for (std::int64_t i : n) state[n[i]] += static_cast<double>(i);
                 });
  launch(add, all, p).over(0, 4);
  CHECK(cells["state"].array<double>() == std::vector<double>{100, 103, 106, 101, 104, 107, 102, 105});
  // Points that are no box.
  Partition odd = by_field(cells["n"], 8);
  Task set = task("set_odd").inout("c", Cell, {"state"}).native([](FieldView<double> state) {
    for (std::int64_t i : state) state[i] = -static_cast<double>(i);
  });
  launch(set, odd).over(1, 3);
  CHECK(cells["state"].array<double>() == std::vector<double>{100, 103, 106, -3, 104, 107, -6, 105});
}

TEST_CASE("a text calls a C++ body over views by its symbol [dsl]") {
  define_extern("tests.double_all", [](FieldView<double> state) {
    state.rows([](auto, std::span<double> row) {
      for (double& one : row) one *= 2;
    });
  });
  Workspace work;
  CHECK(work.enter("fields Cell { state: f64 }\n"
                   "task double_all(inout c: Cell[_].{state}) extern \"tests.double_all\"\n"
                   "let cells = region Cell[4]; fill(cells.state, 1.5)\nlet p = blocks(cells, 2)")
            .diagnostics == "");
  CHECK(work.enter("launch double_all(p[i]) for i in 0..2").diagnostics == "");
  CHECK(work.enter("cells.state.array").value == "[3, 3, 3, 3]");
  CHECK(work.enter("task nobody(inout c: Cell[_].{state}) extern \"tests.nobody\"\n"
                   "launch nobody(p[i]) for i in 0..2\ncells.state.array")
            .diagnostics.find("E7001") != std::string::npos);
}

TEST_CASE("mistakes over regions are told with the line of C++ [dsl]") {
  const unsigned here = std::source_location::current().line();
  Task heat = set_to();
  Region cells = region("cells", Cell, 8);
  Partition p = blocks(cells, 4), wide = halo(p, 1);
  Mistake m = mistake_of([&] { launch(heat, wide, 1.0).over(0, 4); });
  CHECK(m.code == "E3101");
  CHECK(m.line == here + 4);
  m = mistake_of([&] { launch(heat, p, 1.0).over(0, 5); });
  CHECK(m.code == "E5003");
  m = mistake_of([&] { launch([&](Tensor i, Tensor j) { return heat(p[i + j], 1.0); }).over(0, 4); });
  CHECK(m.code == "E1003");
  m = mistake_of([&] { launch([&](Tensor i) { return p[i]["state"].sum(0); }).over(0, 4); });
  CHECK(m.code == "E1004");
  m = mistake_of([&] { launch(heat, p[0]["state"], 1.0).over(0, 4); });
  CHECK(m.code == "E1004");
  m = mistake_of([&] { cells["state"] = 1.0; });
  CHECK(m.code == "E1402");
  m = mistake_of([&] {
    task("bad").in("c", Cell, {"state"}).body([](View c) {
      for (Tensor i : c) c[i]["state"] = 1.0;
    });
  });
  CHECK(m.code == "E1401");
  m = mistake_of([&] { task("bad").in("c", Cell, {"missing"}).body([](View) {}); });
  CHECK(m.code == "E1002");
  m = mistake_of([&] { task("bad").in("c", Cell, {"state"}).native([](FieldView<double>) {}); });
  CHECK(m.code == "E1004");
  m = mistake_of([&] { task("bad").inout("c", Cell, {"state"}).native([](FieldView<double, 2>) {}); });
  CHECK(m.code == "E1004");
  m = mistake_of([&] { graph("bad").in("c", Cell, {"state"}).out("y", f64[1]); });
  CHECK(m.code == "E1004");

  Checked checked(true);
  Task beyond = task("beyond").inout("c", Cell, {"state"}).native([](FieldView<double> c) { c[c.high()] = 1; });
  m = mistake_of([&] {
    launch(beyond, p).over(0, 4);
    (void)cells["state"].array<double>();
  });
  CHECK(m.code == "E5003");
  CHECK_MESSAGE(m.message.find("task 'beyond', point 0: c.state[2] is outside of the view") != std::string::npos,
                m.message);
}

}  // namespace taskspec::regions_test
