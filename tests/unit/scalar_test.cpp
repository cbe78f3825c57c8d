// Arithmetic of the host program.
#include "ir/records/scalar.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "tests/unit/errors.hpp"

namespace taskspec::scalar_test {

namespace {

using OnHost = Value (*)(scalar::Operands);

Value i(std::int64_t value) { return value; }
const double infinite = INFINITY, not_a_number = NAN;

// What a call prints, or its error.
std::string shown(OnHost function, std::vector<Value> operands) {
  std::string text;
  std::string error = error_of([&] { text = print(function(operands)); });
  return text.empty() ? error : text;
}

}  // namespace

TEST_CASE("int arithmetic") {
  CHECK(shown(scalar::add, {i(2), i(3)}) == "5");
  CHECK(shown(scalar::sub, {i(2), i(3)}) == "-1");
  CHECK(shown(scalar::mul, {i(-2), i(3)}) == "-6");
  CHECK(shown(scalar::div, {i(-7), i(2)}) == "-3");
  CHECK(shown(scalar::div, {i(7), i(-2)}) == "-3");
  CHECK(shown(scalar::mod, {i(-7), i(2)}) == "-1");
  CHECK(shown(scalar::mod, {i(7), i(-2)}) == "1");
  CHECK(shown(scalar::mod, {i(INT64_MIN), i(-1)}) == "0");
  CHECK(shown(scalar::neg, {i(4)}) == "-4");
}

TEST_CASE("int overflow is E5001") {
  CHECK(shown(scalar::add, {i(INT64_MAX), i(1)}) == "E5001 9223372036854775807 + 1 overflows int");
  CHECK(shown(scalar::sub, {i(INT64_MIN), i(1)}) == "E5001 -9223372036854775808 - 1 overflows int");
  CHECK(shown(scalar::mul, {i(INT64_MAX), i(2)}) == "E5001 9223372036854775807 * 2 overflows int");
  CHECK(shown(scalar::div, {i(INT64_MIN), i(-1)}) == "E5001 -9223372036854775808 / -1 overflows int");
  CHECK(shown(scalar::neg, {i(INT64_MIN)}).starts_with("E5001"));
  CHECK(shown(scalar::abs, {i(INT64_MIN)}).starts_with("E5001"));
  CHECK(shown(scalar::pow, {i(2), i(63)}).starts_with("E5001"));
  std::vector<Value> list{List{i(INT64_MAX), i(1)}};
  CHECK(shown(scalar::sum, list).starts_with("E5001"));
}

TEST_CASE("int division by zero is E5002, float division is not") {
  CHECK(shown(scalar::div, {i(7), i(0)}) == "E5002 division by zero: 7 / 0");
  CHECK(shown(scalar::mod, {i(7), i(0)}) == "E5002 division by zero: 7 % 0");
  CHECK(shown(scalar::div, {7.0, i(0)}) == "inf");
  CHECK(shown(scalar::div, {-7.0, 0.0}) == "-inf");
  CHECK(shown(scalar::div, {0.0, 0.0}) == "nan");
  CHECK(shown(scalar::mod, {7.5, 2.0}) == "1.5");
  CHECK(shown(scalar::mod, {-7.5, 2.0}) == "-1.5");
}

TEST_CASE("int with float gives float") {
  for (OnHost f : {scalar::add, scalar::sub, scalar::mul, scalar::div, scalar::minimum, scalar::maximum, scalar::pow}) {
    CHECK(f(std::array{i(3), Value(2.0)}).is_real());
    CHECK(f(std::array{Value(3.0), i(2)}).is_real());
    CHECK(f(std::array{i(3), i(2)}).is_integer());
  }
}

TEST_CASE("strings and lists join") {
  CHECK(shown(scalar::add, {"ab", "cd"}) == "abcd");
  CHECK(shown(scalar::add, {List{i(1)}, List{i(2), i(3)}}) == "[1, 2, 3]");
  Value list = List{i(1)};
  CHECK(shown(scalar::add, {list, list}) == "[1, 1]");
  CHECK(print(list) == "[1]");
  CHECK(shown(scalar::add, {array_of(List{i(1)}, Precision::i32), List{i(2)}}) == "[1, 2]");
}

TEST_CASE("comparison of numbers, strings and contents") {
  CHECK(shown(scalar::lt, {i(1), 1.5}) == "true");
  CHECK(shown(scalar::le, {i(2), i(2)}) == "true");
  CHECK(shown(scalar::gt, {"b", "abc"}) == "true");
  CHECK(shown(scalar::ge, {"a", "b"}) == "false");
  CHECK(shown(scalar::lt, {i(INT64_MAX - 1), i(INT64_MAX)}) == "true");
  CHECK(shown(scalar::eq, {i(1), 1.0}) == "true");
  CHECK(shown(scalar::eq, {List{i(1), "a"}, List{1.0, "a"}}) == "true");
  CHECK(shown(scalar::ne, {List{i(1)}, List{i(1), i(2)}}) == "true");
  CHECK(shown(scalar::eq, {array_of(List{i(1), i(2)}, Precision::i32), List{i(1), i(2)}}) == "true");
  for (OnHost f : {scalar::lt, scalar::le, scalar::gt, scalar::ge, scalar::eq}) {
    CHECK(shown(f, {not_a_number, 1.0}) == "false");
    CHECK(shown(f, {i(1), not_a_number}) == "false");
  }
  CHECK(shown(scalar::ne, {not_a_number, not_a_number}) == "true");
}

TEST_CASE("bits of ints, logic of bools") {
  CHECK(shown(scalar::bit_and, {i(12), i(10)}) == "8");
  CHECK(shown(scalar::bit_or, {i(12), i(10)}) == "14");
  CHECK(shown(scalar::bit_not, {i(5)}) == "-6");
  CHECK(shown(scalar::bit_and, {true, false}) == "false");
  CHECK(shown(scalar::bit_or, {true, false}) == "true");
  CHECK(shown(scalar::bit_not, {true}) == "false");
}

TEST_CASE("functions of numbers") {
  CHECK(shown(scalar::pow, {i(2), i(62)}) == "4611686018427387904");
  CHECK(shown(scalar::pow, {i(-2), i(63)}) == "-9223372036854775808");
  CHECK(shown(scalar::pow, {i(-1), i(1'000'000'001)}) == "-1");
  CHECK(shown(scalar::pow, {i(0), i(0)}) == "1");
  CHECK(shown(scalar::pow, {i(2), i(-1)}) == "E5003 pow(2, -1): an int has no negative power");
  CHECK(shown(scalar::pow, {2.0, i(-1)}) == "0.5");
  CHECK(shown(scalar::maximum, {i(3), 2.5}) == "3");
  CHECK(shown(scalar::minimum, {not_a_number, 1.0}) == "nan");
  CHECK(shown(scalar::maximum, {1.0, not_a_number}) == "nan");
  CHECK(shown(scalar::sign, {-0.5}) == "-1");
  CHECK(shown(scalar::sign, {i(0)}) == "0");
  CHECK(shown(scalar::sign, {not_a_number}) == "nan");
  CHECK(shown(scalar::abs, {-infinite}) == "inf");
}

TEST_CASE("reductions of lists") {
  std::vector<Value> list{List{i(2), i(3), i(1)}}, empty{List{}}, mixed{List{1.0, not_a_number, 2.0}},
      names{List{"b", "a"}};
  CHECK(shown(scalar::sum, list) == "6");
  CHECK(shown(scalar::max, list) == "3");
  CHECK(shown(scalar::min, list) == "1");
  CHECK(shown(scalar::sum, empty) == "0");
  CHECK(shown(scalar::max, empty) == "E5003 max of an empty list");
  CHECK(shown(scalar::max, mixed) == "nan");
  CHECK(shown(scalar::min, names) == "a");
}

TEST_CASE("as between host scalars rounds half to even and saturates") {
  auto as_int = [](Value value) { return convert_scalar(value, Type::Kind::integer).integer(); };
  CHECK(as_int(2.5) == 2);
  CHECK(as_int(3.5) == 4);
  CHECK(as_int(-2.5) == -2);
  CHECK(as_int(1e30) == INT64_MAX);
  CHECK(as_int(-infinite) == INT64_MIN);
  CHECK(as_int(not_a_number) == 0);
  CHECK(as_int(true) == 1);
  CHECK(convert_scalar(i(3), Type::Kind::boolean).boolean());
  CHECK_FALSE(convert_scalar(0.0, Type::Kind::boolean).boolean());
  CHECK(convert_scalar(i(3), Type::Kind::real).is_real());
}

TEST_CASE("a scalar beside a tensor is exact or an error") {
  CHECK(scalar_array(i(127), Precision::i8).integer(0) == 127);
  CHECK(scalar_array(0.1, Precision::f32).number(0) == static_cast<double>(0.1f));
  CHECK(scalar_array(true, Precision::boolean).integer(0) == 1);
  CHECK(scalar_array(i(7), Precision::f16).number(0) == 7);
  CHECK(error_of([] { scalar_array(i(300), Precision::i8); }) == "E5001 300 does not fit i8 (-128..127)");
  CHECK(error_of([] { scalar_array(i((std::int64_t{1} << 53) + 1), Precision::f64); }).starts_with("E5001"));
  CHECK(error_of([] { scalar_array(1.5, Precision::i8); }).starts_with("E2002"));
}

}  // namespace taskspec::scalar_test
