// exp, sin, pow and their like: accuracy over the whole range of f32, and the same bits in every position.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "tests/unit/errors.hpp"
#include "tests/unit/op_call.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::ops_functions_test {

namespace {

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

}  // namespace

TEST_CASE("functions of f32 are within one unit of the last place, at the ends of their range too") {
  struct Case {
    const char* op;
    double (*exact)(double);
  };
  const Case cases[] = {
      {"exp", [](double x) { return std::exp(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"sin", [](double x) { return std::sin(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"sigmoid", [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }},
      {"gelu", [](double x) { return std::isinf(x) ? std::max(x, 0.0) : x * std::erfc(-x / std::sqrt(2.0)) / 2; }},
      {"erf", [](double x) { return std::erf(x); }},
      {"elu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
  };
  std::mt19937_64 random(14);
  Array x = Array::make({Precision::f32, {40'000}});
  for (std::int64_t k = 0; k < x.elements(); ++k) {  // every exponent and sign, and many of middling size
    auto any = static_cast<std::uint32_t>(random());
    float value = 0;
    std::memcpy(&value, &any, sizeof value);
    bool middling = k % 2 == 0;
    x.set_number(k, middling ? static_cast<double>(between(random, -2'000'000, 2'000'000)) * 1e-5 : value);
  }
  for (double special : {0.0, -0.0, 1.0, 88.72, -103.9, 1e-40, 2e5, 1e6, HUGE_VAL, -HUGE_VAL})
    x.set_number(between(random, 0, 39'999), special);
  for (const Case& c : cases) {
    CAPTURE(c.op);
    Array y = call_op(c.op, {x});
    double worst = 0;
    for (std::int64_t k = 0; k < x.elements(); ++k) {
      double exact = c.exact(x.number(k)), got = y.number(k);
      auto rounded = static_cast<float>(exact);
      if (std::isnan(exact) || std::isinf(rounded)) {
        CHECK((std::isnan(exact) ? std::isnan(got) : got == static_cast<double>(rounded)));
        continue;
      }
      double unit = static_cast<double>(std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded));
      worst = std::max(worst, std::fabs(got - exact) / unit);
    }
    CHECK(worst < 1);
  }
}

TEST_CASE("an element gives the same bits whatever stands beside it") {
  for (const char* op : {"exp", "log", "sin", "cos", "tanh", "sigmoid", "gelu", "elu"}) {
    CAPTURE(op);
    Array x = random_array({Precision::f32, {999}}, 15);
    for (std::int64_t k = 0; k < 999; k += 200) x.set_number(k, k % 400 == 0 ? INFINITY : -3e30);
    Array whole = call_op(op, {x});
    std::int64_t different = 0;
    for (std::int64_t k = 0; k < 999; ++k) {
      Array one = Array::make({Precision::f32, {1}});
      one.set_number(0, x.number(k));
      different += std::memcmp(call_op(op, {one}).raw(), whole.raw() + 4 * k, 4) != 0;
    }
    CHECK(different == 0);
  }
}

TEST_CASE("powers of f32") {
  Array x = tensor(Precision::f32, {2, 3, -2, -2, -8, 0, 0, 10, INFINITY, 1});
  Array y = tensor(Precision::f32, {0.5, 2, 3, 2, 0.5, 0, -1, 60, -1, NAN});
  CHECK(shown("pow", {x, y}) == "[1.4142135, 9, -8, 4, nan, 1, inf, inf, 0, 1]");
  std::mt19937_64 random(16);
  Array base = Array::make({Precision::f32, {5000}}), power = Array::make({Precision::f32, {5000}});
  for (std::int64_t k = 0; k < 5000; ++k) {
    base.set_number(k, static_cast<double>(between(random, -1000, 1000)) * (k % 2 == 0 ? 0.01 : 0.37));
    power.set_number(k, k % 3 == 0 ? static_cast<double>(between(random, -9, 9))
                                   : static_cast<double>(between(random, -900, 900)) * 0.01);
  }
  Array result = call_op("pow", {base, power});
  std::int64_t wrong = 0;
  for (std::int64_t k = 0; k < 5000; ++k) {
    auto exact = static_cast<float>(std::pow(base.number(k), power.number(k)));
    auto got = static_cast<float>(result.number(k));
    bool same = std::isnan(exact) ? std::isnan(got) : got == exact || std::fabs(got / exact - 1) < 1e-7f;
    wrong += !same;
  }
  CHECK(wrong == 0);
}

TEST_CASE("functions of f16 and f64 round the exact value") {
  Array half = tensor(Precision::f16, {0.5, 1, 2}), real = tensor(Precision::f64, {0.5, 1, 2});
  for (std::int64_t k = 0; k < 3; ++k) {
    CHECK(call_op("exp", {real}).number(k) == std::exp(real.number(k)));
    CHECK(call_op("tanh", {real}).number(k) == std::tanh(real.number(k)));
    CHECK(call_op("exp", {half}).number(k) ==
          static_cast<double>(half_to_float(float_to_half(static_cast<float>(std::exp(half.number(k)))))));
  }
  CHECK(shown("add", {tensor(Precision::f16, {2048}), 1.0}) == "[2048]");
  CHECK(shown("mul", {tensor(Precision::f16, {60000}), 2.0}) == "[inf]");
}

}  // namespace taskspec::ops_functions_test
