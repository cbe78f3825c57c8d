// `as`: every pair of precisions, host values to tensors, shapes.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "ir/records/scalar.hpp"
#include "ir/types/value.hpp"
#include "stdlib/ops.hpp"
#include "stdlib/ops/convert.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/op_call.hpp"

namespace taskspec::ops_cast_test {

namespace {

Value i(std::int64_t value) { return value; }
const OpDef& cast = *standard_ops().find("cast");

// A host value as a tensor, or the error.
Array host_as(const Type& from, const Value& value, const Type& to) {
  Type type = infer(cast, {from, Type::of(to)}, {value, Value(to)});
  OpInstance call{&cast, {}, {value, Value(to)}, {concrete(type)}};
  Array result = Array::make(call.out[0]);
  std::byte* out[] = {result.raw()};
  Serial serial;
  CHECK_FALSE(cast.kernel(call)->run({{}, out, nullptr, serial}).has_value());
  return result;
}

std::string host_shown(const Type& from, const Value& value, const Type& to) {
  std::string text;
  std::string error = error_of([&] {
    Array array = host_as(from, value, to);
    text = array.type().text() + " " + print(array);
  });
  return text.empty() ? error : text;
}

std::string typed(const Type& from, const Type& to) {
  std::string text;
  std::string error = error_of([&] { text = infer(cast, {from, Type::of(to)}, {{}, Value(to)}).text(); });
  return text.empty() ? error : text;
}

Array as(const Array& x, Precision to) { return call_op("cast", {x, Value(Type::tensor(to, {}))}); }

// What `as` makes of one number; doubles hold everything here but large 64-bit integers.
double expected(double value, Precision to) {
  if (to == Precision::boolean) return value != 0;
  if (to == Precision::f64) return value;
  if (to == Precision::f32) return static_cast<double>(static_cast<float>(value));
  if (to == Precision::f16) return static_cast<double>(half_to_float(float_to_half(rounded_to_odd(value))));
  if (to == Precision::u64) return std::clamp(std::rint(value), 0.0, 0x1p64);  // the last is the nearest to 2^64 - 1
  return static_cast<double>(saturated(value, info(to).minimum, info(to).maximum));
}

Type f32(std::vector<Dim> dims) { return Type::tensor(Precision::f32, std::move(dims)); }
const Type int_type = Type::Kind::integer, float_type = Type::Kind::real, bool_type = Type::Kind::boolean;

}  // namespace

TEST_CASE("every precision to every other") {
  const double samples[] = {0,    1,     -1,    0.5,   1.5,   2.5,  -0.5,    -2.5,        7,         15,  16,
                            -128, 127.5, 128,   255.5, 256,   -257, 32767.5, 65535,       65536.5,   1e9, -1e9,
                            3e9,  1e18,  -1e18, 1e30,  -1e30, -0.0, 0.1,     134217727.5, -134217729};
  for (const PrecisionInfo& from : all_precisions())
    for (const PrecisionInfo& to : all_precisions()) {
      CAPTURE(from.name);
      CAPTURE(to.name);
      Precision p = *precision_of(from.name), q = *precision_of(to.name);
      Array x = Array::make({p, {static_cast<std::int64_t>(std::size(samples))}});
      for (std::int64_t k = 0; k < x.elements(); ++k) {
        double value = expected(samples[k], p);
        x.set_number(k, value >= 0x1p63 ? 1.0 : value);  // 2^63 - 1 is no double
      }
      Array y = as(x, q);
      CHECK(y.precision() == q);
      std::int64_t wrong = 0;
      for (std::int64_t k = 0; k < x.elements(); ++k) {
        double want = expected(x.number(k), q);
        wrong += q == Precision::i64 && want >= 0x1p63 ? y.integer(k) != INT64_MAX : y.number(k) != want;
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("nan becomes 0, infinities saturate, in every float precision") {
  for (Precision p : {Precision::f16, Precision::f32, Precision::f64}) {
    Array x = Array::make({p, {3}});
    x.set_number(0, NAN), x.set_number(1, INFINITY), x.set_number(2, -INFINITY);
    for (const PrecisionInfo& to : all_precisions()) {
      if (to.is_float) continue;
      CAPTURE(to.name);
      Array y = as(x, *precision_of(to.name));
      bool is_bool = to.name == "bool";
      CHECK(y.integer(0) == (is_bool ? 1 : 0));
      CHECK(y.integer(1) == (to.name == "u64" ? -1 : to.maximum));  // the bits of 2^64 - 1
      CHECK(y.integer(2) == (is_bool ? 1 : to.minimum));
    }
    CHECK(std::isnan(as(x, Precision::f32).number(0)));
    CHECK(std::isinf(as(x, Precision::f16).number(1)));
  }
}

TEST_CASE("64-bit integers are exact") {
  Array x = Array::make({Precision::i64, {4}});
  const std::int64_t values[] = {INT64_MAX, INT64_MIN, (std::int64_t{1} << 53) + 1, -5};
  for (std::int64_t k = 0; k < 4; ++k) x.set_integer(k, values[k]);
  CHECK(print(as(x, Precision::i64)) == "[9223372036854775807, -9223372036854775808, 9007199254740993, -5]");
  CHECK(print(as(x, Precision::u32)) == "[4294967295, 0, 4294967295, 0]");
  CHECK(print(as(x, Precision::i28)) == "[134217727, -134217728, 134217727, -5]");
  CHECK(as(x, Precision::f64).number(2) == 0x1p53);
  CHECK(as(x, Precision::f32).number(0) == 0x1p63);
  CHECK(print(as(x, Precision::u64)) == "[9223372036854775807, 0, 9007199254740993, 0]");
}

TEST_CASE("u64 has all of its numbers, those above 2^63 - 1 too") {
  Array x = Array::make({Precision::u64, {4}});
  const std::uint64_t values[] = {UINT64_MAX, std::uint64_t{1} << 63, (std::uint64_t{1} << 53) + 1, 5};
  std::ranges::copy(values, x.data<std::uint64_t>().begin());
  CHECK(print(x) == "[18446744073709551615, 9223372036854775808, 9007199254740993, 5]");
  CHECK(print(as(x, Precision::u64)) == print(x));
  CHECK(print(as(x, Precision::i64)) == "[9223372036854775807, 9223372036854775807, 9007199254740993, 5]");
  CHECK(print(as(x, Precision::u8)) == "[255, 255, 255, 5]");
  CHECK(as(x, Precision::f64).number(0) == 0x1p64);
  CHECK(print(call_op("max", {x})) == "18446744073709551615");
  CHECK(print(call_op("add", {x, x})) == "[18446744073709551614, 0, 18014398509481986, 10]");
  CHECK(x.host_integer(3) == 5);
  CHECK(error_of([&] { x.host_integer(1); }).find("E5001") == 0);
  CHECK(error_of([&] { nested_lists(x); }).find("18446744073709551615 is no host value") != std::string::npos);
}

TEST_CASE("f64 to f16 rounds once") {
  // Just above the middle between two f16 numbers: rounding to f32 first would land on the middle.
  double above = 1 + 0x1p-11 + 0x1p-40;
  Array x = Array::make({Precision::f64, {2}});
  x.set_number(0, above), x.set_number(1, -above);
  CHECK(as(x, Precision::f16).number(0) == 1 + 0x1p-10);
  CHECK(as(x, Precision::f16).number(1) == -1 - 0x1p-10);
  CHECK(rounded_to_odd(1.0) == 1.0f);
  CHECK(rounded_to_odd(1e300) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(rounded_to_odd(NAN)));
}

TEST_CASE("a tensor keeps its shape") {
  CHECK(typed(f32({2, 3}), Type::tensor(Precision::i8, {})) == "i8[2, 3]");
  CHECK(typed(f32({2, 3}), Type::tensor(Precision::i8, {2, 3})) == "i8[2, 3]");
  CHECK(typed(f32({2, 3}), Type::tensor(Precision::i8, {2, 4})) ==
        "E2001 shapes differ: f32[2, 3] as i8[2, 4]; dimension 1 is 3 against 4");
  CHECK(typed(f32({2, 3}), Type::tensor(Precision::i8, {6})) ==
        "E2001 shapes differ: f32[2, 3] as i8[6]; rank 2 against 1");
  CHECK(typed(f32({}), Type::tensor(Precision::i8, {})) == "i8");
}

TEST_CASE("lists and scalars become tensors") {
  Type ints = Type::list(int_type), matrix = Type::list(Type::list(float_type));
  Value list = List{i(1), i(2), i(300)}, nested = List{List{1.5, 2.0}, List{2.5, -300.0}};
  CHECK(host_shown(ints, list, Type::tensor(Precision::i8, {3})) == "i8[3] [1, 2, 127]");
  CHECK(host_shown(ints, list, f32({})) == "f32[3] [1, 2, 300]");
  CHECK(host_shown(matrix, nested, Type::tensor(Precision::i8, {2, 2})) == "i8[2, 2] [[2, 2], [2, -128]]");
  CHECK(host_shown(matrix, List{List{i(1), 2.5}}, f32({1, 2})) == "f32[1, 2] [[1, 2.5]]");
  CHECK(host_shown(Type::list(bool_type), List{true, false}, f32({2})) == "f32[2] [1, 0]");
  CHECK(host_shown(float_type, 2.5, Type::tensor(Precision::i32, {})) == "i32 2");
  CHECK(host_shown(int_type, i(3), Type::tensor(Precision::f64, {1})) == "f64[1] [3]");
  CHECK(host_shown(Type::list(Type::Kind::error), List{}, f32({0})) == "f32[0] []");
  CHECK(host_shown(ints, array_of(list, Precision::i32), f32({3})) == "f32[3] [1, 2, 300]");
}

TEST_CASE("a list has the shape that is written") {
  Type ints = Type::list(int_type), matrix = Type::list(ints);
  Value list = List{i(1), i(2)};
  CHECK(host_shown(ints, list, f32({3})) == "E2001 shapes differ: [int] as f32[3]; dimension 0 is 2 against 3");
  CHECK(host_shown(ints, list, f32({2, 1})) == "E2001 shapes differ: [int] as f32[2, 1]; rank 1 against 2");
  CHECK(host_shown(matrix, List{List{i(1)}, List{i(1), i(2)}}, f32({2, 1})) ==
        "E5004 the lists of a tensor must be rectangular");
  CHECK(host_shown(int_type, i(1), f32({2})) == "E2001 shapes differ: int as f32[2]; dimension 0 is 1 against 2");
  CHECK(typed(ints, f32({4})) == "f32[4]");  // the list is not known yet
  CHECK(typed(matrix, f32({4})) == "E2001 shapes differ: [[int]] as f32[4]; rank 2 against 1");
  CHECK(typed(int_type, f32({-1})) == "E2004 an extent cannot be negative: -1");
}

TEST_CASE("host conversions") {
  CHECK(typed(float_type, int_type) == "int");
  CHECK(typed(int_type, bool_type) == "bool");
  CHECK(cast.scalar(std::array{Value(2.5), Value(int_type)}).integer() == 2);
  CHECK(typed(Type::Kind::string, int_type) == "E1004 'as' does not convert string to int");
  CHECK(typed(int_type, Type::Kind::string) == "E1004 'as' does not convert int to string");
  CHECK(typed(Type::Kind::string, f32({})) == "E1004 'as' does not convert string to f32");
  CHECK(typed(f32({}), int_type) ==
        "E1301 a tensor does not become int by 'as'; host code needs an explicit receive | receive it with .scalar; "
        "the body of a task has none: there it is 'as i64'");
}

}  // namespace taskspec::ops_cast_test
