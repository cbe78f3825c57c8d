// Bodies of tasks over views, from their text: what they compute, in which form they run, what they say when they fail.
#include "interp/host/view/view_body.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "interp/host/root_tree.hpp"
#include "ir/records/scalar.hpp"
#include "tests/unit/view_task.hpp"

namespace taskspec::view_body_test {

using namespace view_task;

TEST_CASE("[strips] the stencil of a piece reads its neighbours through another view") {
  Task task(cell +
            "task t(inout own: Cell[_].{b}, in g: Cell[_].{a}) {\n"
            "  for i in own { own[i].b += 0.5 * (g[i - 1].a + g[i + 1].a) }\n}\n");
  CHECK(task.body().form() == "strip");
  CHECK(task.body().why_not_strip().empty());
  Column a = iota(2000), b(2000, 1.0);
  const Rect root = line(0, 2000);
  const auto fields = std::vector<std::byte*>{bytes(a), bytes(b), nullptr};
  CHECK(task.run({{root, line(5, 1995), fields}, {root, line(4, 1996), fields}}) == "");
  for (std::size_t i = 0; i < b.size(); ++i) CHECK(b[i] == 1.0 + (i >= 5 && i < 1995 ? static_cast<double>(i) : 0.0));
  CHECK(task.run({{root, line(5, 1996), fields}, {root, line(4, 1996), fields}}) ==
        "E5003 g[1996].a: the view has no such point, in task t[2]");
  CHECK(task.run({{root, line(0, 9), fields}, {root, line(0, 2000), fields}}) ==
        "E5003 g[-1].a: the view has no such point, in task t[2]");
}

TEST_CASE("[strips] a place stays where it was read, whatever is written there later") {
  Task task(cell +
            "task t(inout own: Cell[_].{b, n}, in g: Cell[_].{a}) {\n"
            "  for i in own {\n    let k = own[i].n\n    own[i].b = g[k].a\n    own[i].n = 0\n"
            "    own[i].b += g[k].a\n  }\n}\n");
  REQUIRE(task.error() == "");
  CHECK(task.body().form() == "strip");
  Column a = iota(1000), b(1000, 0.0);
  std::vector<std::int64_t> n(1000);
  for (std::size_t i = 0; i < n.size(); ++i) n[i] = static_cast<std::int64_t>(i * 7 % 1000);
  const std::vector<std::int64_t> before = n;
  const Rect root = line(0, 1000);
  const auto fields = std::vector<std::byte*>{bytes(a), bytes(b), bytes(n)};
  CHECK(task.run({{root, root, fields}, {root, root, fields}}) == "");
  for (std::size_t i = 0; i < b.size(); ++i) CHECK(b[i] == 2.0 * static_cast<double>(before[i]));
  CHECK(n == std::vector<std::int64_t>(1000, 0));
}

TEST_CASE("[strips] what a point reads of the one before it is scalar code, and says why") {
  Task task(cell + "task t(inout c: Cell[_].{a}) {\n  for i in c {\n    c[i].a = at(c, i - 1, 0.0).a + 1.0\n  }\n}\n");
  CHECK(task.body().form() == "scalar");
  CHECK(task.body().why_not_strip() == "line 4: c[..].a is written, and read at another point");
  Column a(700, 0.0);
  CHECK(task.run({{line(0, 700), line(0, 700), {bytes(a), nullptr, nullptr}}}) == "");
  CHECK(a[699] == 700.0);
}

TEST_CASE("[strips] control in a body is scalar code") {
  Task task(cell +
                "fn grown(x: f64, k: float) -> f64 { if k > 1.0 { return x * k }\n  return x }\n"
                "task t(inout c: Cell[_].{a, n}, in k: float) -> (s: f64) {\n"
                "  var sum = 0.0 as f64\n"
                "  for i in c {\n"
                "    if c[i].a > 3.0 && c[i].n == 0 { continue }\n"
                "    var x = grown(c[i].a, k)\n"
                "    for turn in 0..i { if turn > 2 { break }\n      x = x + turn }\n"
                "    c[i].a = x\n    sum = sum + x\n  }\n"
                "  s = sum\n}\n",
            {{Precision::f64, {}}});
  REQUIRE(task.error() == "");
  CHECK(task.body().form() == "scalar");
  Column a = iota(9);
  std::vector<std::int64_t> odd(9);
  for (std::size_t i = 0; i < odd.size(); ++i) odd[i] = static_cast<std::int64_t>(i % 2);
  double k = 2.0, s = 0;
  CHECK(task.run({{line(0, 9), line(0, 9), {bytes(a), nullptr, bytes(odd)}}}, {&k}, {&s}) == "");
  double sum = 0;
  for (std::int64_t i = 0; i < 9; ++i) {
    double x = static_cast<double>(i);
    if (x > 3 && i % 2 == 0) {
      CHECK(a[static_cast<std::size_t>(i)] == x);
      continue;
    }
    x *= 2;
    for (std::int64_t turn = 0; turn < std::min<std::int64_t>(i, 3); ++turn) x += static_cast<double>(turn);
    CHECK(a[static_cast<std::size_t>(i)] == x);
    sum += x;
  }
  CHECK(s == sum);
}

TEST_CASE("[strips] contributions come in the order of the loop") {
  Task task(cell +
                "fields Wire { from: int, to: int, w: f64 }\n"
                "task t(in w: Wire[_].{from, to, w}, reduce(+) c: Cell[_].{a}, in dt: float) {\n"
                "  for i in w {\n    c[w[i].from].a += -dt * w[i].w\n    c[w[i].to].a += dt * w[i].w\n  }\n}\n",
            {{Precision::f64, {}}});
  CHECK(task.body().form() == "strip");
  std::vector<std::int64_t> from(3000), to(3000);
  Column w(3000), a(10, 0.1), expected(10, 0.1);
  const double dt = 0.3;
  for (std::size_t i = 0; i < 3000; ++i) {
    from[i] = static_cast<std::int64_t>(i * 7 % 10);
    to[i] = static_cast<std::int64_t>(i * i % 10);
    w[i] = 1.0 / static_cast<double>(i + 1);
    expected[static_cast<std::size_t>(from[i])] += -dt * w[i];
    expected[static_cast<std::size_t>(to[i])] += dt * w[i];
  }
  const Piece wires{line(0, 3000), line(0, 3000), {bytes(from), bytes(to), bytes(w)}};
  CHECK(task.run({wires, {line(0, 10), line(0, 10), {bytes(a), nullptr, nullptr}}}, {&dt}) == "");
  CHECK(a == expected);
  to[77] = 10;
  CHECK(task.run({wires, {line(0, 10), line(0, 10), {bytes(a), nullptr, nullptr}}}, {&dt}) ==
        "E5003 c[10].a: the view has no such point, in task t[2]");
}

namespace {

const std::string wire = "fields Wire { from: int, to: int, w: f64 }\n";

// Wires between ten cells, with ends that come again in one strip.
struct Wires {
  std::vector<std::int64_t> from = std::vector<std::int64_t>(3000), to = from;
  Column w = Column(3000);
  Wires() {
    for (std::size_t i = 0; i < 3000; ++i) {
      from[i] = static_cast<std::int64_t>(i * 7 % 10);
      to[i] = static_cast<std::int64_t>(i * i % 10);
      w[i] = (i % 3 == 0 ? -1.0 : 1.0) / static_cast<double>(i + 1);
    }
  }
  Piece piece() { return {line(0, 3000), line(0, 3000), {bytes(from), bytes(to), bytes(w)}}; }
};

std::string changing(const std::string& statements) {
  return cell + wire + "task t(in w: Wire[_].{from, to, w}, inout c: Cell[_].{a, b, n}) {\n  for i in w {\n" +
         statements + "  }\n}\n";
}

}  // namespace

TEST_CASE("[strips] what is added to at named points and nowhere else looked at comes in the order of the loop") {
  Task task(
      changing("    c[w[i].from].a -= 0.3 * w[i].w\n    c[w[i].to].a += w[i].w\n"
               "    c[w[i].to].b = maximum(c[w[i].to].b, w[i].w)\n    c[w[i].from].n += w[i].to as i64\n"));
  REQUIRE(task.error() == "");
  CHECK(task.body().why_not_strip() == "");
  Wires wires;
  Column a(10, 0.1), b(10, -2.0), expected_a = a, expected_b = b;
  std::vector<std::int64_t> n(10, 5), expected_n = n;
  for (std::size_t i = 0; i < 3000; ++i) {
    const auto from = static_cast<std::size_t>(wires.from[i]), to = static_cast<std::size_t>(wires.to[i]);
    expected_a[from] -= 0.3 * wires.w[i];
    expected_a[to] += wires.w[i];
    expected_b[to] = std::max(expected_b[to], wires.w[i]);
    expected_n[from] += wires.to[i];
  }
  CHECK(task.run({wires.piece(), {line(0, 10), line(0, 10), {bytes(a), bytes(b), bytes(n)}}}) == "");
  CHECK(a == expected_a);
  CHECK(b == expected_b);
  CHECK(n == expected_n);
  wires.from[1234] = 10;
  CHECK(task.run({wires.piece(), {line(0, 10), line(0, 10), {bytes(a), bytes(b), bytes(n)}}}) ==
        "E5003 c[10].a: the view has no such point, in task t[2]");
}

TEST_CASE("[strips] points that a piece lacks are not written, whatever is checked") {
  const IndexSpace holes(line(0, 10), Intervals::of({{0, 4}, {5, 10}}));
  for (const std::string statement :
       {"    c[w[i].from].a += 1.0\n", "    c[w[i].from].a = 1.0\n", "    c[w[i].from].b = c[w[i].from].n as f64\n"}) {
    Task task(changing(statement));
    REQUIRE(task.error() == "");
    CHECK(task.body().form() == "strip");
    Wires wires;
    Column a(10, 0.0), b = a;
    std::vector<std::int64_t> n(10, 0);
    for (std::int64_t& place : wires.from) place = place == 4 ? 3 : place;
    CHECK(task.run({wires.piece(), {line(0, 10), holes, {bytes(a), bytes(b), bytes(n)}}}) == "");
    wires.from[2999] = 4;
    a[4] = 7.0;
    CHECK(task.run({wires.piece(), {line(0, 10), holes, {bytes(a), bytes(b), bytes(n)}}}).starts_with("E5003 c[4]."));
    CHECK(a[4] == 7.0);
    CHECK(b[4] == 0.0);
  }
}

namespace {

// Of any size, few of them equal, none an int of 0. Floats have zeros, infinities and, of all numbers that are none,
// the one that their arithmetic makes.
std::vector<std::byte> some_numbers(Precision precision, std::size_t count, std::mt19937_64& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double special[] = {0.0, -0.0, infinity, -infinity, 1e-310, -std::numeric_limits<double>::quiet_NaN()};
  std::vector<std::byte> made;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint64_t bits = random();
    const double real = k > 700 && bits % 64 < 6
                            ? special[bits % 64]
                            : std::ldexp(static_cast<double>(bits % 4001) - 2000.0, static_cast<int>(bits >> 60) - 9);
    const auto integer = static_cast<std::int64_t>(1 + bits % 100);
    const Array number = scalar_array(is_float(precision) ? Value(real) : Value(integer), precision);
    made.insert(made.end(), number.raw(), number.raw() + info(precision).bytes);
  }
  return made;
}

}  // namespace

TEST_CASE("[strips] of any precision and operator the bits are those of scalar code") {
  int strips = 0;
  for (Precision number : {Precision::f64, Precision::f32, Precision::f16, Precision::i64, Precision::i32,
                           Precision::i16, Precision::i8, Precision::u8})
    for (const std::string op : {"+", "-", "*", "/", "maximum", "minimum"}) {
      const std::string precision(info(number).name);
      CAPTURE(precision);
      CAPTURE(op);
      const std::string place = "c[w[i].from].s";
      const std::string value =
          op.size() == 1 ? place + " " + op + "= w[i].v" : place + " = " + op + "(" + place + ", w[i].v)";
      const std::string fields = "fields C { s: " + precision + " }\nfields W { from: int, v: " + precision + " }\n";
      const std::string head = "task t(in w: W[_].{from, v}, inout c: C[_].{s}, in all: bool) {\n  for i in w { ";
      Task strip(fields + head + value + " }\n}\n", {{Precision::boolean, {}}});
      Task scalar(fields + head + "if all { " + value + " } }\n}\n", {{Precision::boolean, {}}});
      REQUIRE(strip.error() == "");
      CHECK(strip.body().form() == "strip");
      CHECK(scalar.body().form() == "scalar");
      std::vector<std::int64_t> from(1500);
      std::mt19937_64 random(7);
      for (std::int64_t& x : from) x = static_cast<std::int64_t>(random() % 8);
      std::vector<std::byte> s = some_numbers(number, 8, random), v = some_numbers(number, 1500, random), other = s;
      const bool all = true;
      const Piece wires{line(0, 1500), line(0, 1500), {bytes(from), bytes(v)}};
      CHECK(strip.run({wires, {line(0, 8), line(0, 8), {bytes(s)}}}, {&all}) == "");
      CHECK(scalar.run({wires, {line(0, 8), line(0, 8), {bytes(other)}}}, {&all}) == "");
      CHECK(s == other);
      strips += strip.body().form() == "strip";
    }
  CHECK(strips == 48);
}

TEST_CASE("[strips] ints of the host that grow too large are an error where that was; elements wrap") {
  Task task(cell +
                "task t(inout c: Cell[_].{n}, in m: int) {\n"
                "  for i in c {\n"
                "    var k = 1\n"
                "    for turn in 0..i { k = (k - 1 + 1) * m }\n"
                "    c[i].n = c[i].n * (k as i64) + (k as i64) - 1\n  }\n}\n",
            {{Precision::i64, {}}});
  REQUIRE(task.error() == "");
  CHECK(task.body().form() == "scalar");
  std::vector<std::int64_t> n(5, INT64_MAX);
  std::int64_t m = 3'000'000'000;
  CHECK(task.run({{line(0, 5), line(0, 5), {nullptr, nullptr, bytes(n)}}}, {&m}) ==
        "E5001 9000000000000000000 * 3000000000 overflows int");
  std::vector<std::int64_t> wanted(5, INT64_MAX);
  for (std::uint64_t i = 0, k = 1; i < 3; ++i, k *= 3'000'000'000)
    wanted[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(INT64_MAX) * k + k - 1);
  CHECK(n == wanted);
}

TEST_CASE("[strips] a change that fails says where, and stops there") {
  Task task(changing("    c[w[i].to].n /= w[i].from as i64\n"));
  REQUIRE(task.error() == "");
  CHECK(task.body().form() == "strip");
  Wires wires;
  Column a(10), b(10);
  std::vector<std::int64_t> n(10, 1000);
  CHECK(task.run({wires.piece(), {line(0, 10), line(0, 10), {bytes(a), bytes(b), bytes(n)}}}) ==
        "E5002 division by zero");
}

TEST_CASE("[strips] what changes a field and looks at it in other ways is scalar code, and says why") {
  const std::string why = "line 5: c[..].a is written, and read at another point";
  for (const std::string statements :
       {"    c[w[i].to].a += c[w[i].from].a\n", "    c[w[i].to].a = w[i].w + c[w[i].to].a\n",
        "    let x = c[w[i].to].a\n    c[w[i].to].a = x + x\n",
        "    let x = c[w[i].to].a\n    c[w[i].to].a = x + w[i].w\n    c[w[i].from].b = x\n",
        "    let x = c[w[i].to].a + w[i].w\n    c[w[i].to].a = x\n    c[w[i].from].b = x\n",
        "    c[w[i].to].a = c[w[i].from].a + w[i].w\n"}) {
    CAPTURE(statements);
    Task task(changing(statements));
    REQUIRE(task.error() == "");
    CHECK(task.body().form() == "scalar");
    CHECK(task.body().why_not_strip() == why);
  }
  // The place itself is changed: there is no telling that it is the same one.
  Task moving(cell + "task t(inout c: Cell[_].{n}) {\n  for i in c { c[c[i].n].n = c[c[i].n].n + (1 as i64) }\n}\n");
  REQUIRE(moving.error() == "");
  CHECK(moving.body().form() == "scalar");
  Task named(cell + wire +
             "task t(inout w: Wire[_].{from, to}, inout c: Cell[_].{a}) {\n  for i in w {\n    let x = c[w[i].to].a\n"
             "    w[i].to = w[i].from\n    c[w[i].to].a = x + 1.0\n  }\n}\n");
  REQUIRE(named.error() == "");
  CHECK(named.body().form() == "scalar");
  // Another write of the field in between.
  Task between(changing("    let x = c[w[i].to].a\n    c[w[i].from].a += 1.0\n    c[w[i].to].a = x + w[i].w\n"));
  REQUIRE(between.error() == "");
  CHECK(between.body().form() == "scalar");
}

TEST_CASE("[strips] what is read at named points goes into expressions and into folds of products") {
  Task task(cell +
                "fields Wire { from: int, to: int, w: f64, said: f64 }\n"
                "task t(inout w: Wire[_].{said}, in v: Wire[_].{from, to, w}, in c: Cell[_].{a},\n"
                "       reduce(+) d: Cell[_].{b}) {\n"
                "  for i in w {\n    w[i].said = (c[v[i].from].a - c[v[i].to].a) / v[i].w\n"
                "    d[v[i].from].b += c[v[i].to].a * v[i].w\n    d[v[i].to].b += v[i].w * v[i].w\n  }\n}\n",
            {});
  CHECK(task.body().form() == "strip");
  for (const bool short_runs : {false, true}) {
    std::vector<std::int64_t> from(3000), to(3000);
    Column w(3000), said(3000), a(10), b(10, 0.1), expected_said(3000), expected = b;
    std::vector<Run> runs;
    for (std::int64_t lo = 0; lo < 3000; lo += 7) runs.push_back({lo, std::min<std::int64_t>(3000, lo + 1 + lo % 5)});
    const IndexSpace points =
        short_runs ? IndexSpace(line(0, 3000), Intervals::of_sorted(runs)) : IndexSpace(line(0, 3000));
    for (std::size_t j = 0; j < 10; ++j) a[j] = 1.0 / static_cast<double>(j + 3);
    for (std::size_t i = 0; i < 3000; ++i) {
      from[i] = static_cast<std::int64_t>(i * 7 % 10);
      to[i] = static_cast<std::int64_t>(i * i % 10);
      w[i] = 1.0 / static_cast<double>(i + 1);
      if (!points.contains(line(0, 3000), static_cast<std::int64_t>(i))) continue;
      const auto f = static_cast<std::size_t>(from[i]), t = static_cast<std::size_t>(to[i]);
      expected_said[i] = (a[f] - a[t]) / w[i];
      expected[f] += a[t] * w[i];
      expected[t] += w[i] * w[i];
    }
    const std::vector<std::byte*> fields = {bytes(from), bytes(to), bytes(w), bytes(said)};
    const Piece wires{line(0, 3000), points, fields};
    const Piece cells{line(0, 10), line(0, 10), {bytes(a), nullptr, nullptr}},
        sums{line(0, 10), line(0, 10), {nullptr, bytes(b), nullptr}};
    CHECK(task.run({wires, wires, cells, sums}) == "");
    CHECK(said == expected_said);
    CHECK(b == expected);
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{10}, INT64_MAX}) {
      to[700] = wrong;  // the first point of a run
      CHECK(task.run({wires, wires, cells, sums}) ==
            "E5003 c[" + std::to_string(wrong) + "].a: the view has no such point, in task t[2]");
    }
  }
}

TEST_CASE("[strips] whole fields: totals by the tree of the root, and by point") {
  Task task(cell +
                "task t(inout v: Cell[_].{a, b}, in k: f64[1]) -> (s: f64[1], most: i64[1]) {\n"
                "  v.b = v.a * k + 1.0\n  s = (v.a * v.b).sum(0)\n  most = (v.b as i64).max(0)\n}\n",
            {{Precision::f64, {1}}});
  REQUIRE(task.error() == "");
  CHECK(task.body().form() == "strip");
  Column a(1000), b(1000, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = 1.0 / static_cast<double>(i + 3);
  const double k = 0.5;
  double s = 0;
  std::int64_t most = 0;
  const IndexSpace points(line(0, 1000), Intervals::of({{7, 300}, {310, 311}, {500, 999}}));
  CHECK(task.run({{line(0, 1000), points, {bytes(a), bytes(b), nullptr}}}, {&k}, {&s, &most}) == "");
  RootTree tree(ReduceOp::sum, Precision::f64);
  double plain = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    if (!points.contains(line(0, 1000), i)) continue;
    const double term = a[static_cast<std::size_t>(i)] * (a[static_cast<std::size_t>(i)] * k + 1.0);
    tree.add(i, reinterpret_cast<const std::byte*>(&term), 1);
    plain += term;
  }
  double expected = 0;
  tree.finish(Precision::f64, reinterpret_cast<std::byte*>(&expected));
  CHECK(s == expected);
  CHECK(s == doctest::Approx(plain).epsilon(1e-13));
  CHECK(most == 1);
  CHECK(b[6] == 0.0);
  CHECK(task.run({{line(0, 1000), line(3, 3), {bytes(a), bytes(b), nullptr}}}, {&k}, {&s, &most}) ==
        "E5003 'max' of no points, in task t");
}

// By the words of the specification: blocks of 64, eight lanes, trees.
TEST_CASE("[strips] the tree of the root") {
  for (std::int64_t first : {0, 5, 64, 130})
    for (std::int64_t count : {1, 7, 64, 65, 200, 511, 777}) {
      CAPTURE(first);
      CAPTURE(count);
      Column x(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i)
        x[static_cast<std::size_t>(i)] = 1.0 / static_cast<double>(i + first + 1);
      std::function<double(const Column&)> tree = [&](const Column& leaves) {
        if (leaves.size() == 1) return leaves[0];
        std::size_t left = 1;
        while (left * 2 < leaves.size()) left *= 2;
        const auto middle = leaves.begin() + static_cast<std::ptrdiff_t>(left);
        return tree(Column(leaves.begin(), middle)) + tree(Column(middle, leaves.end()));
      };
      std::map<std::int64_t, Column> blocks;
      for (std::int64_t i = first; i < first + count; ++i) {
        Column& lanes = blocks.try_emplace(i / 64, 8, 0.0).first->second;
        lanes[static_cast<std::size_t>(i % 8)] += x[static_cast<std::size_t>(i - first)];
      }
      Column leaves;
      for (const auto& [block, lanes] : blocks) leaves.push_back(tree(lanes));
      RootTree made(ReduceOp::sum, Precision::f64);
      made.add(first, bytes(x), count / 2);
      made.add(first + count / 2, bytes(x) + count / 2 * 8, count - count / 2);
      double sum = 0;
      made.finish(Precision::f64, reinterpret_cast<std::byte*>(&sum));
      CHECK(sum == tree(leaves));
    }
}

TEST_CASE("[strips] rows of two axes, extents and points as numbers") {
  Task task(
      "fields G { a: f64, b: f64 }\n"
      "task t(inout o: G[N, M].{b}, in g: G[_, _].{a}) {\n"
      "  for (i, j) in o { o[i, j].b += g[i - 1, j].a + g[i, j + 1].a + (i * N + M) }\n}\n");
  REQUIRE(task.error() == "");
  CHECK(task.body().form() == "strip");
  Column a = iota(7 * 100), b(7 * 100, 0.5);
  const Rect root = Rect::of({7, 100});
  const auto fields = std::vector<std::byte*>{bytes(a), bytes(b)};
  CHECK(task.run({{root, Rect{{2, 3}, {6, 90}, 2}, fields}, {root, root, fields}}) == "");
  for (std::int64_t i = 0; i < 7; ++i)
    for (std::int64_t j = 0; j < 100; ++j) {
      const bool inside = i >= 2 && i < 6 && j >= 3 && j < 90;
      const double added = static_cast<double>((i - 1) * 100 + j + i * 100 + j + 1 + i * 4 + 87);
      CHECK(b[static_cast<std::size_t>(i * 100 + j)] == 0.5 + (inside ? added : 0.0));
    }
  CHECK(task.run({{root, Rect{{2, 3}, {6, 100}, 2}, fields}, {root, root, fields}}) ==
        "E5003 g[2, 100].a: the view has no such point, in task t[2]");
}

TEST_CASE("[strips] what such a body cannot have yet") {
  CHECK(Task(cell + "task t(inout c: Cell[_].{a}) {\n  for i in c { let l = [1.0, 2.0]\n    c[i].a = l[i] }\n}\n")
            .error() == "a part of a list in the body of a task over views is not built yet");
  CHECK(Task(cell + "task t(inout c: Cell[_].{a}) extern \"there\"\n").error() ==
        "a task over views whose body is written in C++ is not built yet");
  const std::vector<ArrayType> row{{Precision::f64, {4}}};
  CHECK(Task(cell + "task t(inout c: Cell[_].{n}, in w: f64[N]) {\n  for i in c { c[i].n = w.argmax(0)[0] }\n}\n", row)
            .error() ==
        "'argmax' of a tensor of several elements, inside of a loop over points, in the body of a task "
        "over views is not built yet");
  CHECK(Task(cell + "task t(in c: Cell[4].{a}) -> (m: f64[2]) { let best = topk(c.a, 2)\n  m = best.values }\n")
            .error() == "'topk', which gives several tensors, in the body of a task over views is not built yet");
}

TEST_CASE("[strips] how many points there are, and the mean of a field by the tree of its sum") {
  Task task(cell +
                "task t(in c: Cell[_].{a}, in k: int) -> (m: f64[1], s: f64, n: i64) {\n"
                "  m = (c.a * c.a).mean(0)\n  s = (c.a * c.a).sum()\n  n = (len(c) * k) as i64\n}\n",
            {{Precision::i64, {}}});
  REQUIRE(task.error() == "");
  Column a = iota(1000);
  for (double& x : a) x = 0.1 * x + 0.3;
  const Rect root = Rect::of({1000});
  const std::vector<std::byte*> fields(3, bytes(a));
  const std::int64_t ten = 10;
  const IndexSpace parts[] = {root, IndexSpace(Rect{{30}, {777}, 1}),
                              IndexSpace(root, Intervals::of({{1, 3}, {60, 200}, {999, 1000}})),
                              IndexSpace(Rect{{5}, {6}, 1})};
  for (const IndexSpace& part : parts) {
    double mean = 0, sum = 0;
    std::int64_t count = 0;
    CHECK(task.run({{root, part, fields}}, {&ten}, {&mean, &sum, &count}) == "");
    CHECK(count == 10 * part.size());
    CHECK(sum > 0);
    CHECK(mean == sum / static_cast<double>(part.size()));
  }
}

}  // namespace taskspec::view_body_test
