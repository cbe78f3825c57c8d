// Ops on whole tensors in bodies over views.
#include "ir/lowering/evaluate.hpp"
#include "tests/unit/view_task.hpp"

namespace taskspec::view_tensors_test {

using namespace view_task;

TEST_CASE("[strips] ops on whole tensors give what they give outside of a body") {
  Task task(cell +
                "task t(inout c: Cell[4].{a, b}, in g: Cell[N].{a}, in m: f64[4, 4], in k: int, in w: f64[2]) -> "
                "(most: i64[1], s: f64[1], joined: f64[6], late: f64[4]) {\n"
                "  most = g.a.argmax(0)\n"
                "  s = c.a[1..k].sum(0)\n"
                "  joined = concat([c.a * 2.0, w], 0)\n"
                "  var t = c.a\n"
                "  c.b = m @ c.a\n"
                "  for turn in 0..k { t = m @ t }\n"
                "  if k > 2 { late = t * ([1.0, 2.0, 3.0, 4.0] as f64[4]) } else { late = c.a + c.b }\n}\n",
            {{Precision::f64, {4, 4}}, {Precision::i64, {}}, {Precision::f64, {2}}});
  REQUIRE(task.error() == "");
  CHECK(task.body().form() == "tensors");
  CHECK(task.body().why_not_strip() == "");
  const Rect root = line(0, 2000);
  Column a(2000), b(2000, 0.0), m(16), w{0.25, 0.5};
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = 1.0 / static_cast<double>((i * 37) % 1999 + 3);
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = 1.0 / static_cast<double>(i + 7);
  auto times = [&](const Column& x) {  // as the op of the library
    const Array given[] = {tensor({4, 4}, m), tensor({4}, x)};
    const Array made = evaluate(
        {standard_ops().find("matmul"), {given[0].type(), given[1].type()}, {{}, {}}, {given[1].type()}}, given)[0];
    return Column(made.data<double>().begin(), made.data<double>().end());
  };
  // A piece of four points that are not next to one another, and another of many runs.
  const IndexSpace four(root, Intervals::of({{10, 12}, {500, 501}, {1999, 2000}}));
  const IndexSpace many(root, Intervals::of({{3, 90}, {100, 101}, {700, 1990}}));
  const Column x{a[10], a[11], a[500], a[1999]};
  for (const std::int64_t k : {3, 2}) {
    std::int64_t most = -1;
    double s = 0;
    Column joined(6), late(4);
    const auto fields = std::vector<std::byte*>{bytes(a), bytes(b), nullptr};
    CHECK(task.run({{root, four, fields}, {root, many, fields}}, {m.data(), &k, w.data()},
                   {&most, &s, joined.data(), late.data()}) == "");
    std::vector<std::size_t> points;
    many.runs(root, [&](Run run) {
      for (std::int64_t at = run.lo; at < run.hi; ++at) points.push_back(static_cast<std::size_t>(at));
    });
    const auto best = std::ranges::max_element(points, {}, [&](std::size_t at) { return a[at]; });
    CHECK(most == best - points.begin());
    CHECK(s == (k == 3 ? x[1] + x[2] : x[1]));
    CHECK(joined == Column{x[0] * 2, x[1] * 2, x[2] * 2, x[3] * 2, 0.25, 0.5});
    const Column y = times(x);
    CHECK(Column{b[10], b[11], b[500], b[1999]} == y);
    const Column thrice = times(times(y));
    for (std::size_t e = 0; e < 4; ++e)
      CHECK(late[e] == (k == 3 ? thrice[e] * static_cast<double>(e + 1) : x[e] + y[e]));
  }
  CHECK(std::ranges::count_if(b, [](double value) { return value != 0; }) == 4);
}

TEST_CASE("[strips] tensors of rows, along some axes; what does not fit is told") {
  Task fits(cell +
            "task t(inout o: Cell[N, M].{b}, in g: Cell[M, N].{a}) -> (rows: f64[M, 1]) {\n"
            "  rows = g.a.max(1)\n  o.b = g.a.permute(1, 0) * 2.0\n}\n");
  REQUIRE(fits.error() == "");
  CHECK(fits.body().form() == "tensors");
  const Rect root = Rect::of({5, 7}), wide{{1, 2}, {3, 6}, 2}, high{{0, 1}, {4, 3}, 2};
  Column a = iota(35), b(35, 0.0), rows(2);
  const auto fields = std::vector<std::byte*>{bytes(a), bytes(b), nullptr};
  CHECK(fits.run({{root, high, fields}, {root, wide, fields}}, {}, {rows.data()}) == "");
  CHECK(rows == Column{1 * 7 + 5, 2 * 7 + 5});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 2; ++j) CHECK(b[i * 7 + j + 1] == 2.0 * static_cast<double>((j + 1) * 7 + i + 2));
  CHECK(fits.run({{root, wide, fields}, {root, wide, fields}}, {}, {rows.data()}) ==
        "E5004 o has 2 points along axis 0, and a tensor has 4");
  const IndexSpace holes(root, Intervals::of({{8, 9}, {17, 18}}));
  CHECK(fits.run({{root, high, fields}, {root, holes, fields}}, {}, {rows.data()}) ==
        "E5004 g has scattered points, which are no rows of a tensor, in task t");
  Task cut(cell + "task t(in c: Cell[_].{a}, in k: int) -> (s: f64[1]) { s = c.a[0..k].sum(0) }\n",
           {{Precision::i64, {}}});
  REQUIRE(cut.error() == "");
  const std::int64_t k = 36;
  double s = 0;
  CHECK(cut.run({{line(0, 35), line(0, 35), fields}}, {&k}, {&s}).starts_with("E2004 0..36 is outside dimension 0"));
}

}  // namespace taskspec::view_tensors_test
