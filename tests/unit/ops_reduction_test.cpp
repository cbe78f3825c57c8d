// Reductions against a plain walk over the elements: any axes, precisions and sizes, any order of the parts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "ir/records/scalar.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/op_call.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::ops_reduction_test {

namespace {

Value i(std::int64_t value) { return value; }

Value axes_value(const std::vector<std::int64_t>& axes) {
  Tuple tuple;
  for (std::int64_t axis : axes) tuple.items.push_back(axis);
  return tuple;
}

Array tensor(Precision precision, std::initializer_list<double> values) {
  Array array = Array::make({precision, {static_cast<std::int64_t>(values.size())}});
  std::int64_t position = 0;
  for (double value : values) array.set_number(position++, value);
  return array;
}

std::string shown(std::string_view op, std::vector<Value> operands) {
  std::string text;
  std::string error = error_of([&] { text = print(call_op(op, std::move(operands))); });
  return text.empty() ? error : text;
}

// The positions in x that go into each result, in order.
std::vector<std::vector<std::int64_t>> members(const Extents& extents, const std::vector<std::int64_t>& axes) {
  Extents kept = extents;
  for (std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
  std::vector<std::vector<std::int64_t>> result(static_cast<std::size_t>(ArrayType{Precision::i8, kept}.elements()));
  std::int64_t count = ArrayType{Precision::i8, extents}.elements();
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t rest = k, to = 0, step = 1;
    for (std::size_t d = extents.size(); d-- > 0; rest /= extents[d]) {
      to += (kept[d] == 1 ? 0 : rest % extents[d]) * step;
      step *= kept[d];
    }
    result[static_cast<std::size_t>(to)].push_back(k);
  }
  return result;
}

// The result of `op` over these elements, exact as long as everything fits 53 bits; argmax gives a place among them.
double reference(std::string_view op, const Array& x, const std::vector<std::int64_t>& at) {
  auto value = [&](std::size_t k) { return x.number(at[k]); };
  double result = op == "sum" || op == "mean" ? 0 : op == "prod" ? 1 : value(0);
  std::size_t place = 0;
  for (std::size_t k = 0; k < at.size(); ++k) {
    if (op == "sum" || op == "mean") result += value(k);
    if (op == "prod") result *= value(k);
    if (op == "max") result = std::max(result, value(k));
    if (op == "min") result = std::min(result, value(k));
    if ((op == "argmax" && value(k) > value(place)) || (op == "argmin" && value(k) < value(place))) place = k;
  }
  if (op == "mean") return result / static_cast<double>(at.size());
  return op.starts_with("arg") ? static_cast<double>(place) : result;
}

// Small whole numbers: sums of them are exact in every precision but f16, products where the factors are +-1.
Array small_array(ArrayType type, std::mt19937_64& random, bool units) {
  Array array = Array::make(std::move(type));
  std::int64_t low = info(array.precision()).minimum < 0 || is_float(array.precision()) ? -1 : units ? 1 : 0;
  for (std::int64_t k = 0; k < array.elements(); ++k) {
    std::int64_t value = units ? (between(random, 0, 1) == 0 ? low : 1) : between(random, low * 9, 9);
    array.set_number(k, static_cast<double>(array.precision() == Precision::boolean ? value & 1 : value));
  }
  return array;
}

std::int64_t wrong_results(std::string_view op, const Array& x, const Array& y, const std::vector<std::int64_t>& axes) {
  std::int64_t wrong = 0;
  std::vector<std::vector<std::int64_t>> groups = members(x.extents(), axes);
  REQUIRE(static_cast<std::int64_t>(groups.size()) == y.elements());
  for (std::size_t k = 0; k < groups.size(); ++k) {
    double expected = reference(op, x, groups[k]);
    if (y.precision() == Precision::f16)
      expected = static_cast<double>(half_to_float(float_to_half(static_cast<float>(expected))));
    if (y.precision() == Precision::f32) expected = static_cast<double>(static_cast<float>(expected));
    wrong += y.number(static_cast<std::int64_t>(k)) != expected;
  }
  return wrong;
}

constexpr const char* all_ops[] = {"sum", "prod", "mean", "max", "min", "argmax", "argmin"};

}  // namespace

TEST_CASE("random shapes and axes, whole and in parts") {
  for (std::uint64_t seed : random_seeds(120, 4'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Extents extents;
    std::vector<std::int64_t> axes;
    for (std::int64_t d = 0, rank = between(random, 1, 4); d < rank; ++d) {
      extents.push_back(seed % 8 == 0 && d == 0 ? between(random, 300, 2000) : between(random, 1, 9));
      if (between(random, 0, 1) == 0) axes.push_back(d);
    }
    if (axes.empty()) axes.push_back(0);
    const PrecisionInfo& p = all_precisions()[static_cast<std::size_t>(between(random, 0, 15))];
    if (p.storage_only) continue;
    Precision precision = *precision_of(p.name);
    for (const char* op : all_ops) {
      CAPTURE(op);
      CAPTURE(p.name);
      bool one_axis = std::string_view(op).starts_with("arg");
      if (std::string_view(op) == "mean" && !p.is_float) continue;
      std::vector<std::int64_t> over = one_axis ? std::vector{axes[0]} : axes;
      Array x = small_array({precision, extents}, random, std::string_view(op) == "prod");
      Value axis = over.size() == 1 ? Value(over[0]) : axes_value(over);
      CHECK(wrong_results(op, x, call_op(op, {x, axis}), over) == 0);
      Shuffled shuffled;
      CHECK(wrong_results(op, x, call_op(op, {x, axis}, shuffled), over) == 0);
    }
  }
}

TEST_CASE("long axes are folded in blocks") {
  struct Case {
    Extents extents;
    std::vector<std::int64_t> axes;
  };
  const Case cases[] = {{{100'000}, {0}},           {{40'000, 3}, {0}},       {{3, 40'000}, {1}},
                        {{2, 9'000, 3}, {1}},       {{700, 1030}, {0}},       {{30, 7, 40, 9}, {0, 2}},
                        {{5, 3'000, 2, 4}, {1, 3}}, {{20, 1, 20'000}, {0, 2}}};
  std::mt19937_64 random(1);
  for (const Case& c : cases)
    for (const char* op : {"sum", "max", "mean"})
      for (Precision p : {Precision::f32, Precision::f64}) {
        CAPTURE(op);
        CAPTURE(shape_text({c.extents.begin(), c.extents.end()}));
        Array x = small_array({p, c.extents}, random, false);
        Array y = call_op(op, {x, axes_value(c.axes)});
        CHECK(wrong_results(op, x, y, c.axes) == 0);
        Shuffled shuffled;
        Array again = call_op(op, {x, axes_value(c.axes)}, shuffled);
        CHECK(std::memcmp(y.raw(), again.raw(), y.bytes()) == 0);
      }
  Array x = small_array({Precision::f32, {100'000}}, random, false);
  CHECK(wrong_results("argmax", x, call_op("argmax", {x, i(0)}), {0}) == 0);
  CHECK(wrong_results("argmin", x, call_op("argmin", {x}), {0}) == 0);
}

TEST_CASE("sums of floats are accurate and do not depend on the order of the parts") {
  Array x = random_array({Precision::f32, {1'000'000}}, 2), wide = random_array({Precision::f64, {1'000'000}}, 3);
  long double exact = 0, exact_wide = 0;
  for (float value : x.data<float>()) exact += static_cast<long double>(value);
  for (double value : wide.data<double>()) exact_wide += static_cast<long double>(value);
  Shuffled shuffled;
  Array sum = call_op("sum", {x}), sum_wide = call_op("sum", {wide});
  CHECK(sum.number(0) == static_cast<double>(static_cast<float>(exact)));
  CHECK(std::fabs(sum_wide.number(0) / static_cast<double>(exact_wide) - 1) < 1e-13);
  CHECK(call_op("sum", {wide}, shuffled).number(0) == sum_wide.number(0));
}

TEST_CASE("integer sums and products wrap, narrow ones are wide") {
  CHECK(shown("sum", {tensor(Precision::i8, {127, 127, -1})}) == "253");
  CHECK(shown("sum", {tensor(Precision::boolean, {1, 1, 0})}) == "2");
  CHECK(shown("sum", {tensor(Precision::i32, {2147483647, 1})}) == "-2147483648");
  CHECK(shown("sum", {tensor(Precision::u32, {4294967295, 2})}) == "1");
  CHECK(shown("prod", {tensor(Precision::u16, {65535, 65535, 2})}) == "-262142");
  CHECK(shown("prod", {tensor(Precision::i64, {4294967296, 4294967296})}) == "0");
}

TEST_CASE("axes keep extent 1, no axis gives rank 0") {
  Array x = call_op("reshape", {tensor(Precision::f32, {1, 2, 3, 4, 5, 6}), i(2), i(3)});
  CHECK(shown("sum", {x, i(0)}) == "[[5, 7, 9]]");
  CHECK(shown("sum", {x, i(1)}) == "[[6], [15]]");
  CHECK(shown("sum", {x, axes_value({0, 1})}) == "[[21]]");
  CHECK(shown("sum", {x, axes_value({1, 0})}) == "[[21]]");
  CHECK(shown("sum", {x, axes_value({})}) == "[[1, 2, 3], [4, 5, 6]]");
  CHECK(shown("sum", {x}) == "21");
  CHECK(shown("mean", {x}) == "3.5");
  CHECK(shown("argmax", {x}) == "5");
  CHECK(shown("sum", {tensor(Precision::f32, {7})}) == "7");
  Array rank_0 = call_op("sum", {x});
  CHECK(rank_0.extents().empty());
  CHECK(shown("sum", {rank_0}) == "21");
  CHECK(shown("argmin", {rank_0}) == "0");
}

TEST_CASE("sums of nothing are 0, the rest asks for an element") {
  Array none = Array::make({Precision::f32, {0, 2}});
  CHECK(shown("sum", {none, i(0)}) == "[[0, 0]]");
  CHECK(shown("prod", {none, i(0)}) == "[[1, 1]]");
  CHECK(shown("mean", {none, i(0)}) == "[[nan, nan]]");
  CHECK(shown("sum", {none, i(1)}) == "[]");
  CHECK(shown("max", {none}) == "E2004 max needs an element; axis 0 of f32[0, 2] has none");
  CHECK(shown("argmin", {none, i(0)}).starts_with("E2004"));
}

TEST_CASE("max and min propagate nan, argmax finds the first nan") {
  for (Precision p : {Precision::f16, Precision::f32, Precision::f64}) {
    Array x = tensor(p, {3, NAN, 7, NAN});
    CHECK(shown("max", {x}) == "nan");
    CHECK(shown("min", {x}) == "nan");
    CHECK(shown("argmax", {x}) == "1");
    CHECK(shown("argmin", {x}) == "1");
  }
  Array longer = random_array({Precision::f32, {1000}}, 4);
  longer.set_number(777, NAN);
  CHECK(shown("max", {longer}) == "nan");
  CHECK(shown("argmax", {longer}) == "777");
  CHECK(shown("max", {tensor(Precision::f32, {-INFINITY, -INFINITY})}) == "-inf");
}

TEST_CASE("of equals the first is found") {
  CHECK(shown("argmax", {tensor(Precision::i32, {1, 5, 5, 0})}) == "1");
  CHECK(shown("argmin", {tensor(Precision::u8, {3, 0, 0})}) == "1");
  CHECK(shown("argmax", {tensor(Precision::i8, {-128, -128})}) == "0");
  Array same = Array::make({Precision::f32, {50'000}});
  Shuffled shuffled;
  CHECK(call_op("argmax", {same}, shuffled).integer(0) == 0);
}

TEST_CASE("max and min of bool are any and all") {
  CHECK(shown("max", {tensor(Precision::boolean, {0, 1, 0})}) == "true");
  CHECK(shown("min", {tensor(Precision::boolean, {0, 1, 0})}) == "false");
}

}  // namespace taskspec::ops_reduction_test
