// The op table, defaults, inference, and the type rules that ops share: on constants and on symbols.
#include "ir/records/op.hpp"

#include <doctest/doctest.h>

#include "ir/records/rules.hpp"
#include "stdlib/ops.hpp"
#include "tests/unit/errors.hpp"

namespace taskspec::op_test {

namespace {

const OpDef& op(std::string_view name) {
  const OpDef* found = standard_ops().find(name);
  REQUIRE(found != nullptr);
  return *found;
}

Type f32(std::vector<Dim> dims) { return Type::tensor(Precision::f32, std::move(dims)); }
Type of(Precision p, std::vector<Dim> dims = {}) { return Type::tensor(p, std::move(dims)); }
const Type int_type = Type::Kind::integer, float_type = Type::Kind::real, bool_type = Type::Kind::boolean,
           string_type = Type::Kind::string;

// "f32[4]" or the error.
std::string typed(std::string_view name, const std::vector<Type>& types, const std::vector<Value>& values = {}) {
  std::string text;
  std::string error = error_of([&] { text = infer(op(name), types, values).text(); });
  return text.empty() ? error : text;
}

// A call whose extents may hold symbols: what the checker sees.
class SymbolicCall final : public RuleContext {
 public:
  explicit SymbolicCall(std::vector<Type> types, std::vector<Value> values = {})
      : types_(std::move(types)), values_(std::move(values)) {
    values_.resize(types_.size());
  }
  std::size_t count() const override { return types_.size(); }
  const Type& type(std::size_t i) const override { return types_[i]; }
  const Value* constant(std::size_t i) const override { return values_[i].is_none() ? nullptr : &values_[i]; }
  std::optional<Dim> dim(std::size_t i) const override { return Dim(values_[i].integer()); }
  void require_same(const Dim& a, const Dim& b, const std::string& what) override {
    if (same(a, b) == Same::no) fail("E2001", what, -1, "");
    if (same(a, b) == Same::open) guards.push_back(a.text() + " = " + b.text());
  }
  Dim unknown(const std::string& name) override {
    return Dim(std::make_shared<SymbolInfo>(SymbolInfo{name, 100 + unknowns++, true}));
  }
  Type closure(std::size_t, const std::vector<Type>&) override { return {}; }
  void fail(Code code, std::string message, int, std::string) override { throw failure(code, {}, message); }

  std::vector<std::string> guards;
  std::uint32_t unknowns = 0;

 private:
  std::vector<Type> types_;
  std::vector<Value> values_;
};

Dim symbol(const char* name, std::uint32_t id, bool host = false) {
  return Dim(std::make_shared<SymbolInfo>(SymbolInfo{name, id, host}));
}
const Dim N = symbol("N", 1), M = symbol("M", 2), n = symbol("n", 3, true);

}  // namespace

TEST_CASE("the table finds ops by name and nothing else") {
  OpTable table = standard_ops();
  CHECK(table.find("add")->symbol == "+");
  CHECK(table.find("and")->name == "and");
  CHECK(table.find("xor")->name == "xor");
  for (std::string_view missing : {"", "ad", "addd", "zzz", "Add"}) CHECK(table.find(missing) == nullptr);
  for (const OpDef* each : table.all()) CHECK(table.find(each->name) == each);
}

TEST_CASE("a default gives its value") {
  CHECK(Default(3).value().integer() == 3);
  CHECK(Default(0.5).value().real() == 0.5);
  CHECK(Default(true).value().boolean());
  CHECK(Default("mean").value().string() == "mean");
  CHECK(Default::absent().value().is_none());
  CHECK(Default().value().is_none());
}

TEST_CASE("Serial covers the range in parts of the grain") {
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  Serial().for_each(10, 4, [&](std::int64_t begin, std::int64_t end) { parts.push_back({begin, end}); });
  CHECK(parts == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 4}, {4, 8}, {8, 10}});
  Serial().for_each(0, 4, [&](std::int64_t, std::int64_t) { FAIL("nothing to do"); });
}

TEST_CASE("infer fills defaults") {
  CHECK(typed("elu", {f32({4})}) == "f32[4]");
  CHECK(typed("sum", {f32({4, 3})}) == "f32");
}

TEST_CASE("shapes broadcast from the right") {
  CHECK(typed("add", {f32({4}), f32({4})}) == "f32[4]");
  CHECK(typed("add", {f32({2, 1, 4}), f32({3, 1})}) == "f32[2, 3, 4]");
  CHECK(typed("add", {f32({}), f32({2, 3})}) == "f32[2, 3]");
  CHECK(typed("add", {f32({0}), f32({1})}) == "f32[0]");
  CHECK(typed("where", {of(Precision::boolean, {3, 1}), f32({4}), f32({})}) == "f32[3, 4]");
}

TEST_CASE("shapes that do not broadcast are E2001 with both of them") {
  CHECK(typed("add", {f32({4}), f32({5})}) == "E2001 shapes differ: f32[4] + f32[5]; dimension 0 is 4 against 5");
  CHECK(typed("mul", {f32({7, 2}), f32({3})}) == "E2001 shapes differ: f32[7, 2] * f32[3]; dimension 1 is 2 against 3");
  CHECK(typed("add", {f32({0}), f32({2})}) == "E2001 shapes differ: f32[0] + f32[2]; dimension 0 is 0 against 2");
  CHECK(typed("maximum", {f32({4}), f32({5})}) ==
        "E2001 shapes differ: maximum(f32[4], f32[5]); dimension 0 is 4 against 5");
}

TEST_CASE("symbols never stretch silently") {
  auto add = [](const Dim& a, const Dim& b) {
    SymbolicCall call({f32({a}), f32({b})});
    std::string text;
    std::string error = error_of([&] { text = op("add").type(call).text(); });
    if (text.empty()) return error;
    for (const std::string& guard : call.guards) text += " if " + guard;
    return text;
  };
  CHECK(add(N, N) == "f32[N]");
  CHECK(add(N, 1) == "f32[N]");
  CHECK(add(1, N * 2) == "f32[2*N]");
  CHECK(add(N, M) == "E2001 shapes differ: f32[N] + f32[M]; dimension 0 is N against M");
  CHECK(add(N, 4) == "E2001 shapes differ: f32[N] + f32[4]; dimension 0 is N against 4");
  CHECK(add(n, 4) == "f32[4] if n = 4");
  CHECK(add(N, n) == "f32[N] if N = n");
  CHECK(add(n, 1) == "f32[n]");
}

TEST_CASE("precisions must agree") {
  CHECK(typed("mul", {of(Precision::i8, {4}), f32({4})}) ==
        "E2002 precision differs: i8 * f32; convert one side with 'as'");
  CHECK(typed("maximum", {of(Precision::i8), f32({})}) ==
        "E2002 precision differs: maximum(i8, f32); convert one side with 'as'");
  CHECK(typed("where", {of(Precision::boolean), of(Precision::i8), f32({})}) ==
        "E2002 precision differs: where(i8, f32); convert one side with 'as'");
}

TEST_CASE("a host number takes the precision of the tensor") {
  Type i8 = of(Precision::i8, {4});
  CHECK(typed("add", {i8, int_type}, {{}, std::int64_t{127}}) == "i8[4]");
  CHECK(typed("add", {i8, int_type}, {{}, std::int64_t{300}}) == "E2003 300 does not fit i8 (-128..127)");
  CHECK(typed("sub", {int_type, i8}, {std::int64_t{-129}, {}}) == "E2003 -129 does not fit i8 (-128..127)");
  CHECK(typed("add", {i8, int_type}) == "i8[4]");  // not known yet
  CHECK(typed("add", {i8, float_type}, {{}, 1.0}) == "E2002 precision differs: i8 + float; convert one side with 'as'");
  CHECK(typed("add", {f32({4}), float_type}, {{}, 0.1}) == "f32[4]");
  CHECK(typed("add", {f32({4}), int_type}, {{}, std::int64_t{1} << 24}) == "f32[4]");
  CHECK(typed("add", {f32({4}), int_type}, {{}, (std::int64_t{1} << 24) + 1}) ==
        "E2003 16777217 does not fit f32 exactly");
  CHECK(typed("and", {of(Precision::boolean), bool_type}) == "bool[]");
  CHECK(typed("add", {f32({4}), bool_type}) == "E2002 precision differs: f32 + bool; convert one side with 'as'");
}

TEST_CASE("integers that a float precision holds") {
  auto fits = [](std::int64_t value, Precision p) { return !misfit_text(value, p).has_value(); };
  CHECK(fits(2048, Precision::f16));
  CHECK_FALSE(fits(2049, Precision::f16));
  CHECK(fits(65504, Precision::f16));
  CHECK_FALSE(fits(65536, Precision::f16));
  CHECK(fits(INT64_MIN, Precision::f32));
  CHECK_FALSE(fits(INT64_MAX, Precision::f64));
  CHECK(fits(INT64_MAX, Precision::i64));
  CHECK_FALSE(fits(-1, Precision::u32));
  CHECK(fits(0, Precision::f16));
}

TEST_CASE("precisions that only store do not compute") {
  for (Precision p : {Precision::tern, Precision::u4, Precision::i9, Precision::i28}) {
    CAPTURE(info(p).name);
    Type x = of(p, {4});
    CHECK(typed("add", {x, x}) == "E2002 '+' takes integer and float tensors, not " + std::string(info(p).name) +
                                      ", which only stores | convert it with 'as'");
    CHECK(typed("sum", {x}).starts_with("E2002"));
    CHECK(typed("relu", {x}).starts_with("E2002"));
    CHECK(typed("lt", {x, x}) == "bool[4]");
    CHECK(typed("copy", {x}) == x.text());
    CHECK(typed("where", {of(Precision::boolean, {4}), x, x}) == x.text());
    CHECK(typed("cast", {x, Type::of(f32({4}))}) == "f32[4]");
  }
}

TEST_CASE("each op says which precisions it takes") {
  Type b = of(Precision::boolean, {4}), i = of(Precision::i32, {4}), f = f32({4});
  CHECK(typed("add", {b, b}).starts_with("E2002 '+' takes integer and float tensors, not bool"));
  CHECK(typed("exp", {i}).starts_with("E2002 'exp' takes float tensors, not i32"));
  CHECK(typed("mean", {i}).starts_with("E2002 'mean' takes float tensors, not i32"));
  CHECK(typed("and", {f, f}).starts_with("E2002 '&' takes bool and integer tensors, not f32"));
  CHECK(typed("shift_left", {f, int_type}).starts_with("E2002 'shift_left' takes integer tensors, not f32"));
  CHECK(typed("shift_left", {i, int_type}, {{}, std::int64_t{-1}}) == "E2003 a shift by -1 is negative");
  CHECK(typed("where", {f, f, f}) == "E1004 the condition of 'where' is a bool tensor, not f32[4]");
}

TEST_CASE("host operands give host types") {
  CHECK(typed("add", {int_type, int_type}) == "int");
  CHECK(typed("add", {int_type, float_type}) == "float");
  CHECK(typed("add", {string_type, string_type}) == "string");
  CHECK(typed("add", {Type::list(int_type), Type::list(int_type)}) == "[int]");
  CHECK(typed("add", {Type::list(Type::Kind::error), Type::list(int_type)}) == "[int]");
  CHECK(typed("lt", {string_type, string_type}) == "bool");
  CHECK(typed("eq", {Type::list(int_type), Type::list(float_type)}) == "bool");
  CHECK(typed("and", {int_type, int_type}) == "int");
  CHECK(typed("not", {bool_type}) == "bool");
  CHECK(typed("exp", {int_type}) == "float");
  CHECK(typed("abs", {int_type}) == "int");
  CHECK(typed("clamp", {int_type, float_type, int_type}) == "float");
  CHECK(typed("max", {Type::list(string_type)}) == "string");
  CHECK(typed("sum", {Type::list(float_type)}) == "float");
}

TEST_CASE("host operands of a wrong type are E1004") {
  CHECK(typed("add", {string_type, int_type}) ==
        "E1004 '+' takes two numbers, strings, tensors or lists of one type; here it is string + int | "
        "format(\"{} {}\", a, b) makes a text of values");
  CHECK(typed("add", {Type::list(int_type), Type::list(string_type)}).starts_with("E1004"));
  CHECK(typed("sub", {string_type, string_type}) == "E1004 '-' takes numbers or tensors; here it is string - string");
  CHECK(typed("lt", {bool_type, bool_type}).starts_with("E1004"));
  CHECK(typed("eq", {string_type, int_type}) == "E1004 '==' takes two values of one type; here it is string == int");
  CHECK(typed("and", {float_type, int_type}).starts_with("E1004"));
  CHECK(typed("sum", {Type::list(string_type)}).starts_with("E1004"));
  CHECK(typed("add", {f32({4}), Type::list(float_type)}) ==
        "E1004 '+' takes a tensor here, not [float] | make it a tensor with 'as'");
  CHECK(typed("add", {f32({4}), string_type}) ==
        "E1004 '+' takes a tensor here, not string | receive the number with .scalar: "
        "format(\"sum is {}\", x.sum().scalar)");
}

TEST_CASE("no error follows from an error") {
  CHECK(typed("add", {Type::Kind::error, string_type}) == "?");
  CHECK(typed("sum", {Type::Kind::error, string_type}) == "?");
  CHECK(typed("cast", {Type::Kind::error, Type::of(int_type)}) == "?");
}

TEST_CASE("axes are checked") {
  Type x = f32({2, 3, 4});
  auto axis = [](std::int64_t a) { return std::vector<Value>{{}, a}; };
  auto axes = [](std::vector<std::int64_t> all) {
    Tuple tuple;
    for (std::int64_t a : all) tuple.items.push_back(a);
    return std::vector<Value>{{}, tuple};
  };
  Type pair = Type::tuple({int_type, int_type});
  CHECK(typed("sum", {x, int_type}, axis(1)) == "f32[2, 1, 4]");
  CHECK(typed("sum", {x, pair}, axes({2, 0})) == "f32[1, 3, 1]");
  CHECK(typed("sum", {x, int_type}, axis(3)) == "E2004 axis 3 is outside the shape; rank 3 has axes 0..2");
  CHECK(typed("sum", {x, int_type}, axis(-1)) ==
        "E2004 axis -1 is outside the shape; rank 3 has axes 0..2 | axes count from 0; the last one is 2");
  CHECK(typed("sum", {f32({}), int_type}, axis(0)) ==
        "E2004 axis 0 is outside the shape; a tensor of rank 0 has no axes");
  CHECK(typed("sum", {x, pair}, axes({1, 1})) == "E2004 axis 1 is given twice");
  CHECK(typed("sum", {x, string_type}) == "E1004 an axis is an int or a tuple of ints, not string");
  CHECK(typed("argmax", {x, pair}, axes({0, 1})) == "E1004 'argmax' takes one axis, or none for all");
  CHECK(typed("max", {f32({2, 0}), int_type}, axis(1)) == "E2004 max needs an element; axis 1 of f32[2, 0] has none");
  CHECK(typed("max", {f32({2, 0}), int_type}, axis(0)) == "f32[1, 0]");
}

TEST_CASE("an axis known only later leaves the extents open") {
  SymbolicCall call({f32({N, 4}), int_type});
  CHECK(op("sum").type(call).rank() == 2);
  CHECK(call.unknowns == 2);
}

TEST_CASE("sums of narrow integers are wide") {
  for (auto [in, out] : std::initializer_list<std::pair<Precision, const char*>>{{Precision::boolean, "i32"},
                                                                                 {Precision::i8, "i32"},
                                                                                 {Precision::u16, "i32"},
                                                                                 {Precision::u32, "u32"},
                                                                                 {Precision::i64, "i64"},
                                                                                 {Precision::f16, "f16"}}) {
    CHECK(typed("sum", {of(in, {4})}) == out);
    CHECK(typed("prod", {of(in, {4})}) == out);
  }
  CHECK(typed("argmax", {f32({4})}) == "i64");
  CHECK(typed("max", {of(Precision::i8, {4})}) == "i8");
}

TEST_CASE("a number beside tensors takes their precision, a condition does not count") {
  std::vector<Type> types{of(Precision::boolean), int_type, f32({4})};
  CHECK(scalar_precision(types, 1) == Precision::f32);
  types = {bool_type, f32({4}), f32({4})};
  CHECK(scalar_precision(types, 0) == Precision::boolean);
  types = {of(Precision::boolean), int_type};
  CHECK(scalar_precision(types, 1) == Precision::boolean);
}

}  // namespace taskspec::op_test
