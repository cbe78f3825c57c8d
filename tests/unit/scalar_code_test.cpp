// Bodies that are no strips as machine code. view_task.hpp runs each of them as byte code and bound, which is machine
// code where there is such a thing, and compares; here stands what both should do.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "interp/host/task_code.hpp"
#include "tests/unit/machine_code.hpp"
#include "tests/unit/view_task.hpp"

namespace taskspec::scalar_code_test {

using namespace view_task;
using Integers = std::vector<std::int64_t>;

namespace {

const ArrayType integer{Precision::i64, {}};

// One that has machine code, if any has.
class Scalar : public Task {
 public:
  Scalar(const std::string& text, const std::vector<ArrayType>& inputs = {}) : Task(text, inputs) {
    CAPTURE(text);
    REQUIRE(error() == "");
    CHECK(body().form() == "scalar");
    CHECK(testing::has_machine_code(text, inputs) == testing::machine_code_exists());
  }
};

// Each pair of them.
template <class T>
void pairs(const std::vector<T>& of, std::vector<T>& a, std::vector<T>& b) {
  for (T x : of)
    for (T y : of) a.push_back(x), b.push_back(y);
}

// How the operators of C++ compare, and what they make, all pairs of these numbers.
template <class T>
void compare_and_compute(const std::string& precision, const std::vector<T>& numbers) {
  CAPTURE(precision);
  const bool divides = precision != "i64";
  Scalar task(
      "fields C { a: " + precision + ", b: " + precision + ", s: " + precision + ", d: " + precision +
      ", p: " + precision + ", q: " + precision + ", n: int, k: bool, m: int }\n" +
      "task t(inout c: C[_].{a, b, s, d, p, q, n, k, m}) {\n"
      "  for i in c {\n"
      "    let x = c[i].a\n    let y = c[i].b\n"
      "    if x < y { c[i].n += 1 }\n    if x <= y { c[i].n += 2 }\n    if x > y { c[i].n += 4 }\n"
      "    if x >= y { c[i].n += 8 }\n    if x == y { c[i].n += 16 }\n    if x != y { c[i].n += 32 }\n"
      "    c[i].s = x + y\n    c[i].d = x - y\n    c[i].p = x * y\n" +
      (divides ? "    c[i].q = x / y\n" : "") +
      "    c[i].k = x < y\n    if c[i].k { c[i].m += 1 }\n    c[i].k = x <= y\n    if c[i].k { c[i].m += 2 }\n"
      "    c[i].k = x > y\n    if c[i].k { c[i].m += 4 }\n    c[i].k = x >= y\n    if c[i].k { c[i].m += 8 }\n"
      "    c[i].k = x == y\n    if c[i].k { c[i].m += 16 }\n    c[i].k = x != y\n    if c[i].k { c[i].m += 32 }\n"
      "  }\n}\n");
  std::vector<T> a, b;
  pairs(numbers, a, b);
  std::vector<T> s(a.size()), d(a.size()), p(a.size()), q(a.size());
  Integers n(a.size()), m(a.size());
  std::vector<std::uint8_t> k(a.size());
  const Rect all = line(0, static_cast<std::int64_t>(a.size()));
  CHECK(task.run(
            {{all, all, {bytes(a), bytes(b), bytes(s), bytes(d), bytes(p), bytes(q), bytes(n), bytes(k), bytes(m)}}}) ==
        "");
  const auto same = [](T x, T y) { return std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y); };
  for (std::size_t i = 0; i < a.size(); ++i) {
    const T x = a[i], y = b[i];
    CAPTURE(x);
    CAPTURE(y);
    const std::int64_t found = (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (x != y);
    CHECK(n[i] == found);
    CHECK(m[i] == found);
    if constexpr (std::is_floating_point_v<T>) {
      CHECK(same(s[i], x + y));
      CHECK(same(d[i], x - y));
      CHECK(same(p[i], x * y));
      CHECK(same(q[i], x / y));
    } else {
      const auto u = static_cast<std::uint64_t>(x), v = static_cast<std::uint64_t>(y);
      CHECK(s[i] == static_cast<T>(u + v));
      CHECK(d[i] == static_cast<T>(u - v));
      CHECK(p[i] == static_cast<T>(u * v));
    }
  }
}

template <class T>
std::vector<T> odd_numbers() {
  using Limits = std::numeric_limits<T>;
  return {T(0),
          T(-0.0),
          T(1),
          T(-1.5),
          Limits::max(),
          Limits::lowest(),
          Limits::min(),
          Limits::infinity(),
          -Limits::infinity(),
          Limits::quiet_NaN(),
          Limits::denorm_min()};
}

}  // namespace

TEST_CASE("[strips] scalar code compares and computes as C++ does, numbers that are none among them") {
  compare_and_compute<double>("f64", odd_numbers<double>());
  compare_and_compute<float>("f32", odd_numbers<float>());
  compare_and_compute<std::int64_t>("i64", {0, 1, -1, 7, INT64_MAX, INT64_MIN, INT64_MIN + 1, std::int64_t{1} << 32});
}

TEST_CASE("[strips] host ints of scalar code that grow too large are told, in the midst of loops") {
  for (const std::string op : {"+", "-", "*"}) {
    CAPTURE(op);
    Scalar task(cell +
                    "task t(inout c: Cell[_].{n}, in m: int, in u: int) {\n  for i in c {\n    for k in 0..2 {\n"
                    "      let h = m " +
                    op + " u\n      c[i].n += 1\n      if h == i { c[i].n += 10 }\n    }\n  }\n}\n",
                {integer, integer});
    Integers n(3);
    const Piece piece{line(0, 3), line(0, 3), {nullptr, nullptr, bytes(n)}};
    const Integers fine = {0, 1, -1, 5, INT64_MAX, INT64_MIN};
    for (std::int64_t m : fine)
      for (std::int64_t u : fine) {
        std::int64_t made = 0;
        const bool too_large = op == "+"   ? __builtin_add_overflow(m, u, &made)
                               : op == "-" ? __builtin_sub_overflow(m, u, &made)
                                           : __builtin_mul_overflow(m, u, &made);
        n = {0, 0, 0};
        const std::string said = task.run({piece}, {&m, &u});
        CHECK(said.starts_with("E5001") == too_large);
        for (std::int64_t i = 0; i < 3; ++i)
          CHECK(n[static_cast<std::size_t>(i)] == (too_large ? 0 : made == i ? 22 : 2));
      }
  }
}

TEST_CASE("[strips] loops of scalar code, left in all ways") {
  Scalar task(cell +
                  "task t(inout c: Cell[_].{a, b, n}, in d: Cell[_].{a, n}, in m: int) -> (turns: i64) {\n"
                  "  var all = 0 as i64\n"
                  "  for i in c {\n"
                  "    if c[i].n == 3 { continue }\n"
                  "    if c[i].n == 7 { break }\n"
                  "    for j in d {\n"
                  "      if j == i { continue }\n"
                  "      if d[j].n == 5 { break }\n"
                  "      var k = 0\n"
                  "      while k < m {\n"
                  "        k += 1\n"
                  "        if k == 2 { continue }\n"
                  "        if k == 5 { break }\n"
                  "        c[i].b += d[j].a * 0.5\n        all += 1 as i64\n"
                  "      }\n"
                  "      for l in j..i { if l == 4 { break }\n        c[i].a += 1.0 }\n"
                  "    }\n  }\n  turns = all\n}\n",
              {integer});
  const std::int64_t size = 9;
  Column a(size), b(size), other = iota(size);
  Integers n = {0, 1, 2, 3, 4, 5, 6, 7, 8}, named = {0, 1, 2, 3, 4, 4, 5, 6, 7};
  std::int64_t m = 9, turns = 0, expected = 0;
  CHECK(task.run({{line(0, size), line(0, size), {bytes(a), bytes(b), bytes(n)}},
                  {line(0, size), line(0, size), {bytes(other), nullptr, bytes(named)}}},
                 {&m}, {&turns}) == "");
  for (std::size_t i = 0; i < 9; ++i) {
    double wanted_a = 0, wanted_b = 0;
    for (std::size_t j = 0; i != 3 && i < 7 && j < 9; ++j) {
      if (j == i) continue;
      if (named[j] == 5) break;
      for (int turn = 0; turn < 3; ++turn) wanted_b += other[j] * 0.5;
      expected += 3;
      for (std::size_t l = j; l < i && l != 4; ++l) wanted_a += 1.0;
    }
    CHECK(a[i] == wanted_a);
    CHECK(b[i] == wanted_b);
  }
  CHECK(turns == expected);
}

TEST_CASE("[strips] places of scalar code, in pieces of all kinds and outside of them") {
  Scalar task(cell +
                  "task t(inout c: Cell[_].{a, n}, in d: Cell[_].{b}, in m: int) {\n"
                  "  for i in c {\n"
                  "    var x = d[i + m].b\n"
                  "    if i > 1 { x = x + c[c[i].n].a }\n"
                  "    c[i].a = x\n  }\n}\n",
              {integer});
  const Rect root = line(0, 8), narrow = line(2, 6);
  const IndexSpace sparse(root, Intervals::of({{0, 3}, {4, 6}, {7, 8}})), none(line(3, 3));
  for (const IndexSpace& own : {IndexSpace(root), IndexSpace(narrow), sparse, none})
    for (const IndexSpace& other : {IndexSpace(root), IndexSpace(narrow), sparse, none})
      for (std::int64_t m : {-2, 0, 1})
        for (std::int64_t far : {0, 3, 8, -1}) {
          Column a = iota(8), b(8, 0.25), wanted = a;
          Integers n(8, 4);
          n[5] = far;
          bool fails = false;
          for (std::int64_t i = 0; i < 8 && !fails; ++i) {
            if (!own.contains(root, i)) continue;
            const std::int64_t k = n[static_cast<std::size_t>(i)];
            const auto has = [&](const IndexSpace& points, std::int64_t p) {
              return p >= 0 && p < 8 && points.contains(root, p);
            };
            fails = !has(other, i + m) || (i > 1 && !has(own, k));
            if (!fails) wanted[static_cast<std::size_t>(i)] = 0.25 + (i > 1 ? wanted[static_cast<std::size_t>(k)] : 0);
          }
          const std::string said =
              task.run({{root, own, {bytes(a), nullptr, bytes(n)}}, {root, other, {nullptr, bytes(b), nullptr}}}, {&m});
          CHECK(said.starts_with("E5003") == fails);
          if (!fails) CHECK(a == wanted);
        }
}

TEST_CASE("[strips] scalar code over two axes has loops of one axis in it") {
  Scalar task("fields G { a: f64 }\n" + cell +
              "task t(inout g: G[_, _].{a}, in d: Cell[_].{b}) {\n"
              "  for (i, j) in g {\n    var x = 0.0 as f64\n"
              "    for k in d { if k != j { x += d[k].b * (i as f64) } }\n    g[i, j].a = x\n  }\n}\n");
  Column a(12), b = iota(4);
  const Rect grid = Rect::of({3, 4});
  CHECK(task.run({{grid, grid, {bytes(a)}}, {line(0, 4), line(0, 4), {nullptr, bytes(b), nullptr}}}) == "");
  for (std::size_t i = 0; i < 12; ++i) CHECK(a[i] == static_cast<double>(i / 4) * (6.0 - static_cast<double>(i % 4)));
}

TEST_CASE("[strips] scalar code with more values than there are registers") {
  std::string lets, sum;
  constexpr int count = 40;
  for (int k = 0; k < count; ++k) {
    const std::string name = std::to_string(k);
    lets += "    let x" + name + " = c[i].a * " + name + ".0\n    let n" + name + " = c[i].n * (" + name + " as i64)\n";
    sum += "    c[i].b += x" + name + "\n    c[i].m += n" + name + "\n";
  }
  Scalar task("fields C { a: f64, b: f64, n: i64, m: i64 }\ntask t(inout c: C[_].{a, b, n, m}) {\n  for i in c {\n" +
              lets + "    if c[i].a > 1.0 { c[i].n = 0 }\n" + sum + "  }\n}\n");
  Column a = iota(5), b(5);
  Integers n = {1, 2, 3, 4, 5}, m(5);
  CHECK(task.run({{line(0, 5), line(0, 5), {bytes(a), bytes(b), bytes(n), bytes(m)}}}) == "");
  constexpr int total = count * (count - 1) / 2;
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(b[i] == static_cast<double>(i) * total);
    CHECK(m[i] == static_cast<std::int64_t>(i + 1) * total);
  }
}

TEST_CASE("[strips] an op that fails in the midst of scalar code ends it there") {
  Scalar task(cell +
                  "task t(inout c: Cell[_].{a, n}, in m: int) {\n"
                  "  for i in c {\n    for j in c {\n      c[i].a += 1.0\n"
                  "      if j == i { c[j].n = c[j].n / (c[i].n - (m as i64)) }\n    }\n  }\n}\n",
              {integer});
  Column a(4);
  Integers n = {10, 20, 30, 40};
  std::int64_t m = 30;
  CHECK(task.run({{line(0, 4), line(0, 4), {bytes(a), nullptr, bytes(n)}}}, {&m}) == "E5002 division by zero");
  CHECK(a == Column{4, 4, 3, 0});
  m = 7;
  CHECK(task.run({{line(0, 4), line(0, 4), {bytes(a), nullptr, bytes(n)}}}, {&m}) == "");
}

TEST_CASE("[strips] scalar code that is bound takes new numbers, and looks for an interrupt") {
  Scalar task(cell +
                  "task t(inout c: Cell[_].{a, n}, in m: int, in turns: int) {\n"
                  "  for i in c {\n    for k in 0..turns { c[i].a += 1.0 }\n    if m > 0 { c[i].n = m + i }\n  }\n}\n",
              {integer, integer});
  Column a(3);
  Integers n(3);
  const std::vector<ViewField> fields = {{bytes(a)}, {nullptr}, {bytes(n)}};
  const Rect root = line(0, 3);
  const IndexSpace points(root);
  const ViewMemory view{&points, &root, fields};
  std::int64_t m = 0, turns = 2;
  const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(&m), reinterpret_cast<const std::byte*>(&turns)};
  RunFlags flags;
  TaskContext context;
  context.flags = &flags;
  const ViewRun run{.views = {&view, 1}, .inputs = inputs};
  const std::unique_ptr<BoundCode> bound = task.body().bind(run, context);
  REQUIRE(bound);
  for (m = 0; m < 4; ++m) {
    CHECK(bound->run(context));
    CHECK(n == (m == 0 ? Integers(3, 0) : Integers{m, m + 1, m + 2}));
  }
  CHECK(a == Column(3, 8.0));
  turns = 5000;
  flags.raise(RunFlags::interrupted);
  CHECK(!bound->run(context));
  REQUIRE(context.faults.size() == 1);
  CHECK(context.faults[0].fault.code == Code("E5009"));
  CHECK(a[0] < 2000);
  flags.clear();
  CHECK(bound->run(context));
}

}  // namespace taskspec::scalar_code_test
