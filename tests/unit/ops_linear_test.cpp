// matmul and linear against the definition in every precision, the oneDNN kernels against their twin, softmax.
#include <doctest/doctest.h>

#include <cmath>

#include "stdlib/kernels/dense.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/op_call.hpp"

namespace taskspec::ops_linear_test {

namespace {

Array tensor(Precision p, Extents extents, std::uint64_t seed) { return random_array({p, std::move(extents)}, seed); }

// The integer that stays of a sum in a narrower precision.
std::int64_t wrapped(std::uint64_t sum, Precision p) {
  int spare = 64 - 8 * info(p).bytes;
  auto top = static_cast<std::int64_t>(sum << spare);
  return info(p).minimum < 0 ? top >> spare : static_cast<std::int64_t>(static_cast<std::uint64_t>(top) >> spare);
}

// Checks c == a b for [m, k] and [k, n], exactly for integers.
void check_product(const Array& a, const Array& b, const Array& c, double tolerance) {
  std::int64_t m = a.extents()[0], k = a.extents()[1], n = b.extents()[1];
  REQUIRE(c.extents() == Extents{m, n});
  double worst = 0;
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      std::uint64_t exact = 0;
      for (std::int64_t d = 0; d < k; ++d) {
        if (is_float(a.precision()))
          sum += a.number(i * k + d) * b.number(d * n + j);
        else
          exact += static_cast<std::uint64_t>(a.integer(i * k + d)) * static_cast<std::uint64_t>(b.integer(d * n + j));
      }
      if (is_float(a.precision()))
        worst = std::max(worst, std::abs(sum - c.number(i * n + j)));
      else
        wrong += c.integer(i * n + j) != wrapped(exact, c.precision());
    }
  CHECK(wrong == 0);
  CHECK(worst <= tolerance * static_cast<double>(k + 1));
}

double tolerance_of(Precision p) { return p == Precision::f16 ? 1e-3 : p == Precision::f32 ? 2e-7 : 1e-15; }

std::string error(std::string_view op, std::vector<Value> operands) {
  return error_of([&] { call_op(op, operands); });
}

Value i(std::int64_t value) { return value; }

}  // namespace

TEST_CASE("matmul in every precision equals the definition [ops]") {
  for (const PrecisionInfo& row : all_precisions()) {
    Precision p = *precision_of(row.name);
    if (p == Precision::boolean) continue;
    CAPTURE(row.name);
    for (auto [m, k, n] : {std::array<std::int64_t, 3>{1, 1, 1}, {3, 5, 7}, {5, 300, 33}, {1, 600, 40}, {100, 7, 1}}) {
      Array a = tensor(p, {m, k}, 1), b = tensor(p, {k, n}, 2);
      check_product(a, b, call_op("matmul", {a, b}), tolerance_of(p));
    }
  }
}

TEST_CASE("matmul of large matrices: blocks, lanes and threads change nothing [ops]") {
  for (Precision p : {Precision::i8, Precision::i64, Precision::f32, Precision::f64}) {
    CAPTURE(info(p).name);
    Array a = tensor(p, {203, 310}, 1), b = tensor(p, {310, 290}, 2), c = call_op("matmul", {a, b});
    check_product(a, b, c, tolerance_of(p));
    Shuffled shuffled;
    Array again = call_op("matmul", {a, b}, shuffled);
    CHECK(std::equal(c.raw(), c.raw() + c.bytes(), again.raw()));
  }
}

TEST_CASE("matmul of integers is exact and wraps [ops]") {
  Array a = Array::make({Precision::i28, {1, 40}}), b = Array::make({Precision::i28, {40, 1}});
  for (int d = 0; d < 40; ++d) a.set_integer(d, info(Precision::i28).minimum), b.set_integer(d, 134217727 - d);
  check_product(a, b, call_op("matmul", {a, b}), 0);
  Array s = tensor(Precision::tern, {3, 4}, 1), u = tensor(Precision::u8, {4, 5}, 2), c = call_op("matmul", {s, u});
  CHECK(c.precision() == Precision::i32);
  check_product(s, u, c, 0);
  CHECK(call_op("matmul", {tensor(Precision::i16, {2, 2}, 1), tensor(Precision::i16, {2, 2}, 1)}).precision() ==
        Precision::i16);
}

TEST_CASE("matmul: rows, columns and batches [ops]") {
  Array m = tensor(Precision::f64, {3, 4}, 1), x = tensor(Precision::f64, {4}, 2), y = tensor(Precision::f64, {3}, 3);
  auto reshaped = [](const Array& a, Extents extents) {
    std::vector<Value> operands{a};
    for (std::int64_t e : extents) operands.push_back(e);
    return call_op("reshape", operands);
  };
  CHECK(call_op("matmul", {m, x}).extents() == Extents{3});
  check_product(m, reshaped(x, {4, 1}), reshaped(call_op("matmul", {m, x}), {3, 1}), 1e-15);
  CHECK(call_op("matmul", {y, m}).extents() == Extents{4});
  check_product(reshaped(y, {1, 3}), m, reshaped(call_op("matmul", {y, m}), {1, 4}), 1e-15);
  CHECK(call_op("matmul", {x, x}).extents().empty());

  Array a = tensor(Precision::f32, {5, 1, 2, 3}, 4), b = tensor(Precision::f32, {4, 3, 6}, 5);
  Array c = call_op("matmul", {a, b});
  REQUIRE(c.extents() == Extents{5, 4, 2, 6});
  for (std::int64_t p = 0; p < 5; ++p)
    for (std::int64_t q = 0; q < 4; ++q)
      check_product(call_op("slice", {a, "ii", i(p), i(p + 1), i(0), i(1)}), call_op("slice", {b, "i", i(q), i(q + 1)}),
                    call_op("slice", {c, "ii", i(p), i(p + 1), i(q), i(q + 1)}), 2e-7);
  Array many = tensor(Precision::f32, {2, 3, 4, 5}, 6), w = tensor(Precision::f32, {5, 7}, 7);
  check_product(reshaped(many, {24, 5}), w, reshaped(call_op("matmul", {many, w}), {24, 7}), 2e-7);
  CHECK(call_op("matmul", {tensor(Precision::f32, {2, 0}, 1), tensor(Precision::f32, {0, 3}, 1)}).number(5) == 0);
  CHECK(call_op("matmul", {tensor(Precision::i32, {0, 2}, 1), tensor(Precision::i32, {2, 3}, 1)}).elements() == 0);
}

TEST_CASE("matmul: what it refuses [ops]") {
  auto t = [](Precision p, Extents e) { return tensor(p, std::move(e), 1); };
  CHECK(error("matmul", {t(Precision::f32, {2, 3}), t(Precision::f32, {4, 5})}) ==
        "E2001 shapes differ: f32[2, 3] @ f32[4, 5]; inner dimension is 3 against 4");
  CHECK(error("matmul", {t(Precision::f32, {2, 2, 3}), t(Precision::f32, {3, 3, 5})}) ==
        "E2001 shapes differ: f32[2, 2, 3] @ f32[3, 3, 5]; batch dimension 0 is 2 against 3");
  CHECK(error("matmul", {t(Precision::i8, {2, 2}), t(Precision::f32, {2, 2})}) ==
        "E2002 precision differs: i8 @ f32; convert one side with 'as'");
  CHECK(error("matmul", {t(Precision::i16, {2, 2}), t(Precision::i8, {2, 2})}).starts_with("E2002"));
  CHECK(error("matmul", {t(Precision::boolean, {2, 2}), t(Precision::boolean, {2, 2})}).starts_with("E2002"));
  CHECK(error("matmul", {t(Precision::f32, {}), t(Precision::f32, {2, 2})}).starts_with("E2001"));
}

TEST_CASE("linear is x @ w.permute(1, 0) + b [ops]") {
  for (Precision p : {Precision::f32, Precision::f64, Precision::i8, Precision::f16}) {
    CAPTURE(info(p).name);
    Array x = tensor(p, {6, 9}, 1), w = tensor(p, {5, 9}, 2);
    Array plain = call_op("matmul", {x, call_op("permute", {w, i(1), i(0)})});
    Array b = tensor(plain.precision(), {5}, 3), y = call_op("linear", {x, w, b}), bare = call_op("linear", {x, w});
    REQUIRE(y.extents() == Extents{6, 5});
    double worst = 0, worst_bare = 0;
    for (std::int64_t e = 0; e < 30; ++e) {
      worst = std::max(worst, std::abs(y.number(e) - plain.number(e) - b.number(e % 5)));
      worst_bare = std::max(worst_bare, std::abs(bare.number(e) - plain.number(e)));
    }
    CHECK(worst <= 20 * tolerance_of(p));
    CHECK(worst_bare <= 20 * tolerance_of(p));
  }
  Array x = tensor(Precision::f32, {2, 3, 9}, 1), w = tensor(Precision::f32, {5, 9}, 2);
  CHECK(call_op("linear", {x, w}).extents() == Extents{2, 3, 5});
  CHECK(call_op("linear", {tensor(Precision::f32, {9}, 1), w}).extents() == Extents{5});
  CHECK(error("linear", {x, tensor(Precision::f32, {5, 8}, 1)}).starts_with("E2001 shapes differ"));
  CHECK(error("linear", {x, w, tensor(Precision::f32, {4}, 1)}).starts_with("E2001"));
  CHECK(error("linear", {x, w, tensor(Precision::f64, {5}, 1)}).starts_with("E2002"));
  CHECK(error("linear", {x, tensor(Precision::f32, {9}, 1)}).starts_with("E2001 linear takes w as [O, I]"));
}

TEST_CASE("oneDNN's product equals its twin within the tolerance of the op [ops]") {
  Serial serial;
  Shuffled shuffled;
  for (auto [m, k, n] : {std::array<std::int64_t, 3>{1, 784, 512}, {64, 500, 300}, {700, 64, 33}, {3, 3, 3}}) {
    CAPTURE(m);
    for (Bias bias : {Bias::none, Bias::per_row, Bias::per_column})
      for (bool turned : {false, true}) {
        ProductPlan plan{.rows = m,
                         .columns = n,
                         .depth = k,
                         .left = MatrixLines{.line_step = k},
                         .right = turned ? MatrixLines{.line_step = k} : MatrixLines{.line_step = 1, .step = n},
                         .left_precision = Precision::f32,
                         .right_precision = Precision::f32,
                         .out_precision = Precision::f32,
                         .bias = bias};
        std::unique_ptr<Kernel> dense = dense_product_kernel(plan);
        if (!dense) return;  // a build without oneDNN
        OpCall call;
        call.tensors = {tensor(Precision::f32, {m, k}, 1), tensor(Precision::f32, {k, n}, 2),
                        tensor(Precision::f32, {std::max(m, n)}, 3)};
        call.instance.out = {{Precision::f32, {m, n}}};
        Array a = run(*dense, call, serial)[0], b = run(*product_kernel(plan), call, serial)[0];
        double worst = 0;
        for (std::int64_t e = 0; e < a.elements(); ++e) worst = std::max(worst, std::abs(a.number(e) - b.number(e)));
        CHECK(worst <= 1e-5 * std::sqrt(static_cast<double>(k)));
        Array again = run(*dense, call, shuffled)[0];
        CHECK(std::equal(a.raw(), a.raw() + a.bytes(), again.raw()));
      }
  }
}

TEST_CASE("softmax and log_softmax equal the definition along every axis [ops]") {
  for (Precision p : {Precision::f16, Precision::f32, Precision::f64}) {
    double tolerance = p == Precision::f16 ? 1e-3 : p == Precision::f32 ? 2e-7 : 1e-14;
    for (Extents extents : {Extents{4, 5, 3}, Extents{2, 33, 70}, Extents{1, 1, 100}})
      for (std::int64_t axis : {0, 1, 2}) {
        CAPTURE(info(p).name);
        CAPTURE(axis);
        Array x = tensor(p, extents, 1);
        Array y = call_op("softmax", {x, i(axis)}), l = call_op("log_softmax", {x, i(axis)});
        Shuffled shuffled;
        Array again = call_op("softmax", {x, i(axis)}, shuffled);
        CHECK(std::equal(y.raw(), y.raw() + y.bytes(), again.raw()));
        std::int64_t step = axis == 2 ? 1 : axis == 1 ? extents[2] : extents[1] * extents[2];
        std::int64_t extent = extents[static_cast<std::size_t>(axis)];
        double worst = 0;
        for (std::int64_t e = 0; e < x.elements(); ++e) {
          std::int64_t first = e - e / step % extent * step;
          double sum = 0;
          for (std::int64_t d = 0; d < extent; ++d) sum += std::exp(x.number(first + d * step));
          worst = std::max(worst, std::abs(y.number(e) - std::exp(x.number(e)) / sum));
          worst = std::max(worst, std::abs(l.number(e) - x.number(e) + std::log(sum)) / 10);
        }
        CHECK(worst <= tolerance);
      }
  }
}

TEST_CASE("softmax of extreme numbers [ops]") {
  auto floats = [](List values, Precision p) { return array_of(values, p); };
  double inf = INFINITY, nan = NAN;
  for (Precision p : {Precision::f32, Precision::f64}) {
    CAPTURE(info(p).name);
    CHECK(print(call_op("softmax", {floats({1e30, 0.0, -inf}, p)})) == "[1, 0, 0]");
    CHECK(print(call_op("log_softmax", {floats({1e4, 0.0}, p)})) == "[0, -10000]");
    CHECK(print(call_op("softmax", {floats({nan, 0.0}, p)})) == "[nan, nan]");
    CHECK(print(call_op("softmax", {floats({-inf, -inf}, p)})) == "[nan, nan]");
    CHECK(print(call_op("softmax", {floats({inf, 0.0}, p)})) == "[nan, nan]");
  }
  CHECK(error("softmax", {tensor(Precision::i32, {3}, 1)}).starts_with("E2002"));
  CHECK(error("softmax", {tensor(Precision::f32, {3}, 1), i(1)}).starts_with("E2004"));
  CHECK(error("softmax", {tensor(Precision::f32, {}, 1)}).starts_with("E2004"));
}

}  // namespace taskspec::ops_linear_test
