// Values of the host program: equality, printing, nested lists and arrays.
#include "ir/types/value.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/unit/errors.hpp"

namespace taskspec::value_test {

namespace {

Value list(std::initializer_list<Value> items) { return List(items); }
Value number(int n) { return std::int64_t{n}; }

}  // namespace

TEST_CASE("floats print shortest digits, plain between 1e-4 and 1e16 [A3]") {
  CHECK(print(45.0) == "45");
  CHECK(print(0.1) == "0.1");
  CHECK(print(-0.0) == "-0");
  CHECK(print(1e-6) == "1e-06");
  CHECK(print(2.5e20) == "2.5e+20");
  CHECK(print(1e-4) == "0.0001");
  CHECK(print(9.9e-5) == "9.9e-05");
  CHECK(print(1e15) == "1000000000000000");
  CHECK(print(9999999999999998.0) == "9999999999999998");
  CHECK(print(1e16) == "1e+16");
  CHECK(print(static_cast<double>(0.1f)) == "0.10000000149011612");
  CHECK(print(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(print(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(print(std::nan("")) == "nan");
  CHECK(print(-std::nan("")) == "nan");
}

TEST_CASE("numbers of f32 print shortest digits that read back as f32 [A3]") {
  Array array = array_of(List{0.1, 16777216.0, 1e20, std::nan(""), -0.0}, Precision::f32);
  CHECK(print(Value(array)) == "[0.1, 16777216, 1e+20, nan, -0]");
  Value list = nested_lists(array);
  CHECK(print(list) == print(Value(array)));
  list.unique_list()[0] = 0.1;  // is no f32
  list.unique_list()[1] = 16777217.0;
  CHECK(print(list) == "[0.1, 16777217, 1e+20, nan, -0]");
  CHECK(print(list.list()[2]) == "1.0000000200408773e+20");
}

TEST_CASE("every printed float reads back equal") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::uint64_t bits = random();
    auto value = std::bit_cast<double>(bits);
    if (std::isnan(value)) continue;
    CAPTURE(bits);
    REQUIRE(std::strtod(print(value).c_str(), nullptr) == value);
  }
}

TEST_CASE("values print as section 9 of the language says") {
  CHECK(print(number(-3)) == "-3");
  CHECK(print(Value(true)) == "true");
  CHECK(print(Value("plain \"text\"")) == "plain \"text\"");
  CHECK(print(list({number(1), Value("a\n"), Value(0.5)})) == "[1, \"a\\n\", 0.5]");
  CHECK(print(Value(Tuple{{number(1), Value("a")}})) == "(1, \"a\")");
  CHECK(print(Value(Tuple{{Value::name("x")}})) == "(x)");
  CHECK(print(list({list({Value::name("src")}), list({})})) == "[[src], []]");
  CHECK(print(Value(Range{0, 4})) == "0..4");
  CHECK(in_quotes(std::string_view("\\\t\r\0\x1b\x7f é", 9)) == "\"\\\\\\t\\r\\0\\u{1b}\\u{7f} é\"");
}

TEST_CASE("an array prints its contents as nested lists") {
  Array matrix = Array::make({Precision::f32, {2, 2}});
  matrix.set_number(1, 1.5);
  matrix.set_number(2, -2);
  CHECK(print(Value(matrix)) == "[[0, 1.5], [-2, 0]]");
  Array flags = Array::make({Precision::boolean, {2}});
  flags.set_integer(1, 1);
  CHECK(print(Value(flags)) == "[false, true]");
  CHECK(print(Value(Array::make({Precision::i32, {}}))) == "0");
  CHECK(print(Value(Array::make({Precision::i32, {2, 0}}))) == "[[], []]");
}

TEST_CASE("equality compares contents, numbers across int and float") {
  CHECK(equal(number(2), Value(2.0)));
  CHECK_FALSE(equal(number(2), Value(2.5)));
  CHECK_FALSE(equal(number(1), Value(true)));
  CHECK_FALSE(equal(Value(std::nan("")), Value(std::nan(""))));
  CHECK(equal(list({number(1), Value("a")}), list({Value(1.0), Value("a")})));
  CHECK_FALSE(equal(list({number(1)}), list({number(1), number(1)})));
  CHECK_FALSE(equal(list({number(1)}), Value(Tuple{{number(1)}})));
  CHECK(equal(Value::name("inc"), Value("inc")));
  CHECK(equal(Value(Range{0, 4}), Value(Range{0, 4})));
  CHECK(equal(Value(), Value()));
  CHECK_FALSE(equal(Value(), number(0)));
  Array a = array_of(list({number(1), number(2)}), Precision::i32);
  CHECK(equal(Value(a), Value(array_of(list({number(1), number(2)}), Precision::f64))));
  CHECK_FALSE(equal(Value(a), Value(array_of(list({number(1), number(3)}), Precision::i32))));
}

TEST_CASE("lists are values: a shared one is copied before it changes") {
  Value first = list({number(1)});
  Value second = first;
  second.unique_list().push_back(number(2));
  CHECK(print(first) == "[1]");
  CHECK(print(second) == "[1, 2]");
  const List* before = &second.list();
  second.unique_list().push_back(number(3));
  CHECK(&second.list() == before);
}

TEST_CASE("nested lists and arrays convert both ways") {
  for (const PrecisionInfo& p : all_precisions()) {
    CAPTURE(p.name);
    Array array = Array::make({*precision_of(p.name), {2, 3}});
    for (std::int64_t i = 0; i < 6; ++i) array.set_integer(i, i % 2);
    Value lists = nested_lists(array);
    REQUIRE(lists.list().size() == 2);
    CHECK(equal(Value(array), Value(array_of(lists, array.precision()))));
  }
  CHECK(print(nested_lists(Array::make({Precision::boolean, {}}))) == "false");
  CHECK(nested_lists(Array::make({Precision::u8, {1}})).list()[0].is_integer());
  CHECK(nested_lists(Array::make({Precision::f16, {1}})).list()[0].is_real());
  CHECK(array_of(list({list({}), list({})}), Precision::f32).type().text() == "f32[2, 0]");
  CHECK(array_of(number(7), Precision::i64).type().text() == "i64");
}

TEST_CASE("lists that are not rectangular are E5004 and say where") {
  auto make = [](const Value& v) { return error_of([&] { array_of(v, Precision::f32); }); };
  Value three = list({number(1), number(2), number(3)}), two = list({number(1), number(2)});
  CHECK(make(list({three, two})) ==
        "E5004 the lists of a tensor must be rectangular: item [1] is a list of 2, item [0] is a list of 3");
  CHECK(make(list({number(1), two})) ==
        "E5004 the lists of a tensor must be rectangular: item [1] is a list of 2, item [0] is a single value");
  CHECK(make(list({two, number(5)})) ==
        "E5004 the lists of a tensor must be rectangular: item [1] is 5, item [0] is a list of 2");
  CHECK(make(list({Value("a")})) == "E1004 a tensor holds numbers and bools, not \"a\"");
}

TEST_CASE("numbers that an element cannot hold are E5001") {
  auto make = [](const Value& v, Precision p) { return error_of([&] { array_of(v, p); }); };
  CHECK(make(number(300), Precision::i8) == "E5001 300 does not fit i8 (-128..127)");
  CHECK(make(number(16), Precision::u4) == "E5001 16 does not fit u4 (0..15)");
  CHECK(make(number(16777217), Precision::f32) == "E5001 16777217 does not fit f32 exactly");
  CHECK(make(std::numeric_limits<std::int64_t>::max(), Precision::f64) ==
        "E5001 9223372036854775807 does not fit f64 exactly");
  CHECK(make(Value(2.5), Precision::i32).starts_with("E5001 2.5 does not fit i32"));
  CHECK(make(Value(std::nan("")), Precision::i64).starts_with("E5001 nan"));
  CHECK(make(Value(0.1), Precision::f16) == "no error");
  CHECK(make(Value(3.0), Precision::i32) == "no error");
  CHECK(make(number(16777216), Precision::f32) == "no error");
}

TEST_CASE("a shape of zeros does not fill the memory with empty lists") {
  Array hollow = Array::make({Precision::u8, {std::int64_t{1} << 40, 0}});
  CHECK(error_of([&] { nested_lists(hollow); }) ==
        "E5008 u8[1099511627776, 0] holds nothing, but as lists it would be 1099511627776 empty ones; at most 1048576 "
        "are made");
  CHECK(nested_lists(Array::make({Precision::i32, {1 << 20, 0}})).list().size() == 1 << 20);
  CHECK(nested_lists(Array::make({Precision::i32, {0, std::int64_t{1} << 40}})).list().empty());
  CHECK(error_of([&] { nested_lists(Array::make({Precision::i32, {(1 << 20) + 1, 0}})); }).starts_with("E5008"));
}

}  // namespace taskspec::value_test
