// Element-wise ops against plain arithmetic on one element at a time: every precision, broadcasting, strips,
// results over their operands, any order of the parts.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "tests/unit/errors.hpp"
#include "tests/unit/op_call.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::ops_elementwise_test {

namespace {

constexpr Precision integers[] = {Precision::i8,  Precision::u8,  Precision::i16, Precision::u16,
                                  Precision::i32, Precision::u32, Precision::i64};
constexpr Precision floats[] = {Precision::f16, Precision::f32, Precision::f64};

Value i(std::int64_t value) { return value; }

Array tensor(Precision precision, std::initializer_list<double> values) {
  Array array = Array::make({precision, {static_cast<std::int64_t>(values.size())}});
  std::int64_t position = 0;
  for (double value : values) array.set_number(position++, value);
  return array;
}

// Contents over the whole range of the precision, small numbers and its limits among them.
Array wide_array(ArrayType type, std::mt19937_64& random) {
  Array array = Array::make(std::move(type));
  for (std::int64_t k = 0; k < array.elements(); ++k) {
    auto bits = static_cast<std::int64_t>(random());
    if (is_float(array.precision()))
      array.set_number(k, static_cast<double>(bits) * 0x1p-60);
    else
      array.set_integer(k, bits % 4 == 0 ? (bits >> 8) % 3 : bits >> 8);
    if (array.precision() == Precision::boolean) array.set_integer(k, bits & 1);
  }
  return array;
}

std::string shown(std::string_view op, std::vector<Value> operands) {
  std::string text;
  std::string error = error_of([&] { text = print(call_op(op, std::move(operands))); });
  return text.empty() ? error : text;
}

// The value of `wide` modulo 2^n, as a precision stores it.
std::int64_t wrapped_to(Precision p, std::int64_t wide) {
  Array array = Array::make({p, {}});
  array.set_integer(0, wide);
  return array.integer(0);
}

// The position in an operand of these extents that belongs to position `k` of a result.
std::int64_t stretched(const Extents& operand, const Extents& result, std::int64_t k) {
  std::int64_t position = 0, step = 1;
  for (std::size_t d = 0; d < result.size(); ++d) {
    std::int64_t extent = result[result.size() - 1 - d], index = k % extent;
    k /= extent;
    if (d >= operand.size()) continue;
    std::int64_t own = operand[operand.size() - 1 - d];
    position += (own == 1 ? 0 : index) * step;
    step *= own;
  }
  return position;
}

std::int64_t wrong_sums(const Array& a, const Array& b, const Array& sum) {
  std::int64_t wrong = 0;
  for (std::int64_t k = 0; k < sum.elements(); ++k) {
    auto x = static_cast<std::uint64_t>(a.integer(stretched(a.extents(), sum.extents(), k)));
    auto y = static_cast<std::uint64_t>(b.integer(stretched(b.extents(), sum.extents(), k)));
    wrong += sum.integer(k) != wrapped_to(sum.precision(), static_cast<std::int64_t>(x + y));
  }
  return wrong;
}

using Binary = std::function<std::int64_t(std::int64_t, std::int64_t)>;

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

TEST_CASE("integer arithmetic wraps in every precision") {
  struct Case {
    const char* op;
    Binary exact;  // modulo 2^64, which is enough
  };
  const Case cases[] = {
      {"add", [](std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) + bits(b)); }},
      {"sub", [](std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) - bits(b)); }},
      {"mul", [](std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) * bits(b)); }},
      {"and", [](std::int64_t a, std::int64_t b) { return a & b; }},
      {"or", [](std::int64_t a, std::int64_t b) { return a | b; }},
      {"xor", [](std::int64_t a, std::int64_t b) { return a ^ b; }},
      {"minimum", [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
      {"maximum", [](std::int64_t a, std::int64_t b) { return std::max(a, b); }},
  };
  std::mt19937_64 random(1);
  for (const Case& c : cases)
    for (Precision p : integers) {
      CAPTURE(c.op);
      CAPTURE(info(p).name);
      Array a = wide_array({p, {1000}}, random), b = wide_array({p, {1000}}, random);
      Array y = call_op(c.op, {a, b});
      std::int64_t wrong = 0;
      for (std::int64_t k = 0; k < 1000; ++k)
        wrong += y.integer(k) != wrapped_to(p, c.exact(a.integer(k), b.integer(k)));
      CHECK(wrong == 0);
    }
}

TEST_CASE("integer division drops the fraction, the remainder has the sign of the left side") {
  std::mt19937_64 random(2);
  for (Precision p : integers) {
    CAPTURE(info(p).name);
    Array a = wide_array({p, {1000}}, random), b = wide_array({p, {1000}}, random);
    for (std::int64_t k = 0; k < 1000; ++k)
      if (b.integer(k) == 0) b.set_integer(k, 3);
    Array quotient = call_op("div", {a, b}), rest = call_op("mod", {a, b});
    std::int64_t wrong = 0;
    for (std::int64_t k = 0; k < 1000; ++k) {
      std::int64_t x = a.integer(k), y = b.integer(k);
      bool trap = x == INT64_MIN && y == -1;
      wrong += quotient.integer(k) != (trap ? INT64_MIN : wrapped_to(p, x / y));
      wrong += rest.integer(k) != (trap ? 0 : x % y);
    }
    CHECK(wrong == 0);
  }
  CHECK(shown("div", {tensor(Precision::i8, {-128}), tensor(Precision::i8, {-1})}) == "[-128]");
  CHECK(shown("mod", {tensor(Precision::i8, {-128}), tensor(Precision::i8, {-1})}) == "[0]");
  CHECK(shown("div", {tensor(Precision::u8, {7}), tensor(Precision::u8, {255})}) == "[0]");
}

TEST_CASE("integer division by zero poisons the result, float division does not") {
  for (const char* op : {"div", "mod"}) {
    CHECK(shown(op, {tensor(Precision::i32, {1, 2, 3}), tensor(Precision::i32, {1, 0, 1})}) ==
          "E5002 division by zero");
    CHECK(shown(op, {tensor(Precision::i32, {1, 2}), i(0)}) == "E5002 division by zero");
  }
  CHECK(shown("div", {tensor(Precision::f32, {1, -1, 0}), 0.0}) == "[inf, -inf, nan]");
  CHECK(shown("mod", {tensor(Precision::f64, {7.5, -7.5}), 2.0}) == "[1.5, -1.5]");
  CHECK(shown("pow", {tensor(Precision::i32, {2, 3}), i(-1)}) == "E5003 an integer has no negative power");
}

TEST_CASE("the remainder of floats at their limits is that of the C library, in whole arrays and alone") {
  const double inf = INFINITY;
  const double numbers[] = {0.0, -0.0, 1.5, -7.25, 3e4, 6e-5, inf, -inf, std::nan("")};
  for (Precision precision : floats) {
    const std::int64_t count = std::ssize(numbers);
    Array a = Array::make({precision, {count * count}}), b = Array::make({precision, {count * count}});
    for (std::int64_t k = 0; k < count * count; ++k) {
      a.set_number(k, numbers[k / count]);
      b.set_number(k, numbers[k % count]);
    }
    const Array rest = call_op("mod", {a, b});
    for (std::int64_t k = 0; k < count * count; ++k) {
      CAPTURE(precision);
      CAPTURE(a.number(k));
      CAPTURE(b.number(k));
      const double wanted = std::fmod(a.number(k), b.number(k));
      CHECK((std::isnan(wanted) ? std::isnan(rest.number(k)) : rest.number(k) == wanted));
      CHECK(std::signbit(rest.number(k)) == std::signbit(wanted));
    }
  }
}

TEST_CASE("unary functions of integers") {
  CHECK(shown("neg", {tensor(Precision::i8, {5, -128})}) == "[-5, -128]");
  CHECK(shown("neg", {tensor(Precision::u8, {1})}) == "[255]");
  CHECK(shown("abs", {tensor(Precision::i16, {-5, 5, -32768})}) == "[5, 5, -32768]");
  CHECK(shown("sign", {tensor(Precision::i32, {-5, 0, 7})}) == "[-1, 0, 1]");
  CHECK(shown("relu", {tensor(Precision::i8, {-5, 0, 7})}) == "[0, 0, 7]");
  CHECK(shown("not", {tensor(Precision::i8, {5, -1})}) == "[-6, 0]");
  CHECK(shown("not", {tensor(Precision::boolean, {1, 0})}) == "[false, true]");
  CHECK(shown("clamp", {tensor(Precision::i32, {-300, 5, 300}), i(-128), i(127)}) == "[-128, 5, 127]");
  CHECK(shown("pow", {tensor(Precision::i8, {2, 3, -2}), i(7)}) == "[-128, -117, -128]");
  CHECK(shown("pow", {tensor(Precision::i32, {0, 5}), i(0)}) == "[1, 1]");
}

TEST_CASE("shifts multiply and divide by powers of two") {
  for (std::int64_t by : {0, 1, 7, 8, 40, 100}) {
    CAPTURE(by);
    for (Precision p : integers) {
      Array x = random_array({p, {200}}, 3);
      Array up = call_op("shift_left", {x, by}), down = call_op("shift_right", {x, by});
      std::int64_t wrong = 0;
      for (std::int64_t k = 0; k < 200; ++k) {
        std::int64_t value = x.integer(k);
        wrong += up.integer(k) != wrapped_to(p, by > 63 ? 0 : static_cast<std::int64_t>(bits(value) << by));
        wrong += down.integer(k) != (value >> std::min<std::int64_t>(by, 63));
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("comparisons give bool, in every precision") {
  std::mt19937_64 random(4);
  for (const PrecisionInfo& p : all_precisions()) {
    CAPTURE(p.name);
    Precision precision = *precision_of(p.name);
    Array a = random_array({precision, {500}}, 5), b = random_array({precision, {500}}, 6);
    for (std::int64_t k = 0; k < 500; k += 3) b.set_number(k, a.number(k));
    auto wrong = [&](const char* op, auto compare) {
      Array y = call_op(op, {a, b});
      CHECK(y.precision() == Precision::boolean);
      std::int64_t count = 0;
      for (std::int64_t k = 0; k < 500; ++k) count += (y.integer(k) != 0) != compare(a.number(k), b.number(k));
      return count;
    };
    CHECK(wrong("lt", std::less<>{}) == 0);
    CHECK(wrong("le", std::less_equal<>{}) == 0);
    CHECK(wrong("gt", std::greater<>{}) == 0);
    CHECK(wrong("ge", std::greater_equal<>{}) == 0);
    CHECK(wrong("eq", std::equal_to<>{}) == 0);
    CHECK(wrong("ne", std::not_equal_to<>{}) == 0);
  }
}

TEST_CASE("nan: comparisons fail, minimum and maximum pass it on") {
  for (Precision p : floats) {
    CAPTURE(info(p).name);
    Array x = tensor(p, {NAN, 1, NAN}), y = tensor(p, {1, NAN, NAN});
    for (const char* op : {"lt", "le", "gt", "ge", "eq"}) CHECK(shown(op, {x, y}) == "[false, false, false]");
    CHECK(shown("ne", {x, y}) == "[true, true, true]");
    CHECK(shown("minimum", {x, y}) == "[nan, nan, nan]");
    CHECK(shown("maximum", {x, y}) == "[nan, nan, nan]");
    CHECK(shown("isnan", {x}) == "[true, false, true]");
    CHECK(shown("relu", {x}) == "[nan, 1, nan]");
    CHECK(shown("clamp", {x, 0.0, 0.5}) == "[nan, 0.5, nan]");
    CHECK(shown("sign", {x}) == "[nan, 1, nan]");
  }
}

TEST_CASE("rounding is half to even") {
  Array x = tensor(Precision::f32, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e20, -0.2});
  CHECK(shown("round", {x}) == "[-2, -2, -0, 0, 2, 2, 1e+20, -0]");
  CHECK(shown("floor", {x}) == "[-3, -2, -1, 0, 1, 2, 1e+20, -1]");
  CHECK(shown("ceil", {x}) == "[-2, -1, -0, 1, 2, 3, 1e+20, -0]");
}

TEST_CASE("where chooses in every precision") {
  Array c = tensor(Precision::boolean, {1, 0, 1});
  for (const PrecisionInfo& p : all_precisions()) {
    Precision precision = *precision_of(p.name);
    Array y = call_op("where", {c, tensor(precision, {1, 1, 0}), tensor(precision, {0, 0, 1})});
    CHECK(y.precision() == precision);
    for (std::int64_t k = 0; k < 3; ++k) CHECK(y.number(k) == (k == 0 ? 1 : 0));
  }
  CHECK(shown("where", {c, tensor(Precision::f32, {1, 2, 3}), 0.0}) == "[1, 0, 3]");
  CHECK(shown("where", {true, tensor(Precision::f32, {1, 2}), 0.0}) == "[1, 2]");
}

TEST_CASE("random shapes broadcast, whole and in parts") {
  for (std::uint64_t seed : random_seeds(150, 5'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Extents result, left, right;
    auto rank = static_cast<std::size_t>(between(random, 0, 4));
    for (std::size_t d = 0; d < rank; ++d) {
      result.push_back(seed % 10 == 0 && d == 0 ? between(random, 500, 3000) : between(random, 1, 12));
      left.push_back(between(random, 0, 2) == 0 ? 1 : result[d]);
      right.push_back(left[d] == 1 || between(random, 0, 2) > 0 ? result[d] : 1);
    }
    // The left one may also lack axes.
    while (!left.empty() && left.front() == 1 && between(random, 0, 1) == 0) left.erase(left.begin());
    Precision p = integers[between(random, 0, 6)];
    Array a = wide_array({p, left}, random), b = wide_array({p, right}, random);
    Array sum = call_op("add", {a, b});
    CHECK(sum.extents() == result);
    CHECK(wrong_sums(a, b, sum) == 0);
    Shuffled shuffled;
    CHECK(wrong_sums(b, a, call_op("add", {b, a}, shuffled)) == 0);
  }
}

TEST_CASE("large arrays are cut into parts") {
  for (Extents extents : {Extents{200'000}, Extents{500, 400}, Extents{40'000, 5}, Extents{3, 70'000}}) {
    Extents column = extents;
    column.back() = 1;
    Array a = random_array({Precision::i32, extents}, 8), b = random_array({Precision::i32, column}, 9);
    Shuffled shuffled;
    CHECK(wrong_sums(a, b, call_op("add", {a, b}, shuffled)) == 0);
    CHECK(wrong_sums(a, a, call_op("add", {a, a}, shuffled)) == 0);
  }
}

TEST_CASE("empty and single results") {
  CHECK(shown("add", {Array::make({Precision::f32, {0}}), 1.0}) == "[]");
  CHECK(shown("add", {Array::make({Precision::f32, {3, 0}}), Array::make({Precision::f32, {1}})}) == "[[], [], []]");
  CHECK(shown("add", {tensor(Precision::f32, {2}), 1.5}) == "[3.5]");
}

TEST_CASE("a strip is a part of the whole, whatever its length") {
  Array x = random_array({Precision::f32, {3000}}, 10), s = random_array({Precision::f32, {1}}, 11);
  for (const char* op : {"mul", "pow", "lt"}) {
    OpCall call = prepare(op, {x, s});
    std::unique_ptr<Kernel> kernel = call.instance.op->kernel(call.instance);
    REQUIRE(kernel->strip_steps().size() == 2);
    CHECK(kernel->strip_steps()[0] == 4);
    CHECK(kernel->strip_steps()[1] == 0);
    Serial serial;
    Array whole = run(*kernel, call, serial)[0], strips = Array::make(call.instance.out[0]);
    std::size_t width = info(whole.precision()).bytes;
    for (std::int64_t begin = 0, length = 1; begin < 3000; begin += length, length = length * 3 % 701 + 1) {
      const std::byte* in[] = {x.raw() + 4 * begin, s.raw()};
      std::byte* out[] = {strips.raw() + static_cast<std::int64_t>(width) * begin};
      CHECK_FALSE(kernel->run_strip(in, out, std::min(length, 3000 - begin)).has_value());
    }
    CHECK(std::memcmp(whole.raw(), strips.raw(), whole.bytes()) == 0);
  }
}

TEST_CASE("general broadcasting has no strip form") {
  OpCall call = prepare("add", {random_array({Precision::f32, {4, 1}}, 1), random_array({Precision::f32, {5}}, 2)});
  CHECK(call.instance.op->kernel(call.instance)->strip_steps().empty());
}

TEST_CASE("a result may lie over an operand of its size") {
  Serial serial;
  Array scale = random_array({Precision::f32, {700}}, 13);
  for (const char* op : {"mul", "sub", "pow", "minimum"}) {
    CAPTURE(op);
    Array x = random_array({Precision::f32, {50, 700}}, 12);
    Array expected = call_op(op, {x, scale});
    OpCall call = prepare(op, {x, scale});
    REQUIRE(call.instance.op->sharing == Sharing::in_place);
    const std::byte* in[] = {x.raw(), scale.raw()};
    std::byte* out[] = {x.raw()};
    CHECK_FALSE(call.instance.op->kernel(call.instance)->run({in, out, nullptr, serial}).has_value());
    CHECK(std::memcmp(x.raw(), expected.raw(), x.bytes()) == 0);
  }
}

TEST_CASE("makers and copies") {
  CHECK(shown("iota", {i(4)}) == "[0, 1, 2, 3]");
  CHECK(shown("iota", {i(0)}) == "[]");
  CHECK(shown("iota", {i(-1)}) == "E2004 an extent cannot be negative: -1");
  Value type(Type::tensor(Precision::i8, {2, 2}));
  CHECK(shown("fill", {type, i(3)}) == "[[3, 3], [3, 3]]");
  CHECK(shown("fill", {type, i(300)}) == "E2003 300 does not fit i8 (-128..127)");
  CHECK(shown("fill", {type, 0.5}).starts_with("E2002"));
  CHECK(shown("fill", {Value(Type::tensor(Precision::f32, {-1})), 0.5}) == "E2004 an extent cannot be negative: -1");
  CHECK(shown("fill", {Value(Type::tensor(Precision::boolean, {2})), true}) == "[true, true]");
  for (const PrecisionInfo& p : all_precisions()) {
    Array x = random_array({*precision_of(p.name), {5}}, 17);
    Array y = call_op("copy", {x});
    CHECK(std::memcmp(x.raw(), y.raw(), x.bytes()) == 0);
  }
}

}  // namespace taskspec::ops_elementwise_test
