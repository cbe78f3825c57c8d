// Types: their texts, equality, substitution; precisions and their ranges.
#include "ir/types/type.hpp"

#include <doctest/doctest.h>

#include "ir/types/precision.hpp"

namespace taskspec::type_test {

namespace {

Symbol symbol(const char* name, std::uint32_t id) { return std::make_shared<SymbolInfo>(SymbolInfo{name, id}); }

using Kind = Type::Kind;

}  // namespace

TEST_CASE("types print as they are written") {
  Dim n(symbol("N", 0));
  CHECK(Type::tensor(Precision::f32, {n, 3}).text() == "f32[N, 3]");
  CHECK(Type::tensor(Precision::i64, {}).text() == "i64");
  CHECK(Type(Kind::integer).text() == "int");
  CHECK(Type(Kind::real).text() == "float");
  CHECK(Type::list(Type::list(Kind::string)).text() == "[[string]]");
  CHECK(Type::tuple({Kind::integer, Kind::boolean}).text() == "(int, bool)");
  CHECK(Type::function({Kind::integer, Kind::real}, Kind::boolean).text() == "fn(int, float) -> bool");
  CHECK(Type::function({}, Kind::none).text() == "fn()");
  CHECK(shape_text({n, 4}) == "[N, 4]");
  CHECK(shape_text({}) == "[]");
}

TEST_CASE("a task type names its inputs and outputs") {
  Type type(Kind::task);
  type.parts = {Type::tensor(Precision::f32, {4}), Type::tensor(Precision::f32, {})};
  type.names = {"x", "e"};
  type.inputs = 1;
  CHECK(type.text() == "task(x: f32[4]) -> (e: f32)");
}

TEST_CASE("equality looks at precision, extents and parts") {
  Dim n(symbol("N", 0)), m(symbol("M", 1));
  CHECK(Type::tensor(Precision::f32, {n + 1}) == Type::tensor(Precision::f32, {Dim(1) + n}));
  CHECK(Type::tensor(Precision::f32, {n}) != Type::tensor(Precision::f32, {m}));
  CHECK(Type::tensor(Precision::f32, {4}) != Type::tensor(Precision::f64, {4}));
  CHECK(Type::tensor(Precision::f32, {4}) != Type::tensor(Precision::f32, {4, 1}));
  CHECK(Type::list(Kind::integer) != Type::list(Kind::real));
}

TEST_CASE("symbols are found and replaced inside containers") {
  Symbol n = symbol("N", 0);
  Type type = Type::list(Type::tuple({Type::tensor(Precision::f32, {Dim(n) * 2}), Kind::integer}));
  CHECK(type.has_symbols());
  Type replaced = type.substitute([&](const Symbol&) { return std::optional(Dim(3)); });
  CHECK(replaced.text() == "[(f32[6], int)]");
  CHECK_FALSE(replaced.has_symbols());
}

TEST_CASE("the elements of a tensor are the product of its extents") {
  Dim n(symbol("N", 0));
  CHECK(Type::tensor(Precision::u8, {n, 4, n}).elements().text() == "4*N*N");
  CHECK(Type::tensor(Precision::u8, {}).elements() == Dim(1));
  CHECK(Type::tensor(Precision::u8, {3, 0}).elements() == Dim(0));
}

TEST_CASE("host types hold values of the host program; tensors are values of the graph") {
  CHECK(Type(Kind::integer).is_host());
  CHECK(Type::list(Kind::real).is_host());
  CHECK_FALSE(Type::tensor(Precision::f32, {4}).is_host());
  CHECK_FALSE(Type(Kind::invocation).is_host());
}

TEST_CASE("every precision is found by its name and has the range of its bits") {
  for (const PrecisionInfo& p : all_precisions()) {
    CAPTURE(p.name);
    REQUIRE(precision_of(p.name).has_value());
    CHECK(info(*precision_of(p.name)).name == p.name);
    CHECK(p.bytes >= 1);
  }
  CHECK(all_precisions().size() == 16);
  CHECK_FALSE(precision_of("f8").has_value());
  auto range = [](Precision p) { return std::pair(info(p).minimum, info(p).maximum); };
  CHECK(range(Precision::tern) == std::pair<std::int64_t, std::int64_t>(-1, 1));
  CHECK(range(Precision::u4) == std::pair<std::int64_t, std::int64_t>(0, 15));
  CHECK(range(Precision::i8) == std::pair<std::int64_t, std::int64_t>(-128, 127));
  CHECK(range(Precision::i9) == std::pair<std::int64_t, std::int64_t>(-256, 255));
  CHECK(range(Precision::i28) == std::pair<std::int64_t, std::int64_t>(-(1 << 27), (1 << 27) - 1));
  CHECK(range(Precision::u32) == std::pair<std::int64_t, std::int64_t>(0, 4294967295));
}

}  // namespace taskspec::type_test
