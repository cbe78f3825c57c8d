// Shapes of movement, linear and window ops on symbols: what the checker makes of calls before sizes are known.
// N and M are dimension variables, n and m are host ints.
#include <doctest/doctest.h>

#include <variant>

#include "ir/records/rules.hpp"
#include "stdlib/ops.hpp"
#include "tests/unit/errors.hpp"

namespace taskspec::ops_shapes_test {

namespace {

// A type (a value that is not known), an extent (an int, known or not) or a known value.
using Given = std::variant<Type, Dim, Value>;

class SymbolicCall final : public RuleContext {
 public:
  SymbolicCall(const OpDef& op, std::vector<Given> given) {
    for (std::size_t i = given.size(); i < op.operands.size() && !op.operands[i].variadic; ++i)
      given.push_back(op.operands[i].standard.value());
    for (const Given& operand : given) add(operand);
  }

  std::size_t count() const override { return types_.size(); }
  const Type& type(std::size_t i) const override { return types_[i]; }
  const Value* constant(std::size_t i) const override { return values_[i].is_none() ? nullptr : &values_[i]; }
  std::optional<Dim> dim(std::size_t i) const override { return dims_[i]; }
  void require_same(const Dim& a, const Dim& b, const std::string& what) override {
    if (same(a, b) == Same::no) fail("E2001", what, -1, "");
    if (same(a, b) == Same::open) guards += " if " + a.text() + " = " + b.text();
  }
  Dim unknown(const std::string& name) override {
    return Dim(std::make_shared<SymbolInfo>(SymbolInfo{"<" + name + ">", ++last_, true}));
  }
  Type closure(std::size_t, const std::vector<Type>&) override { return {}; }
  void fail(Code code, std::string message, int, std::string) override { throw failure(code, {}, message); }

  std::string guards;

 private:
  void add(const Given& operand) {
    if (const Dim* dim = std::get_if<Dim>(&operand)) {
      Value known = dim->is_constant() ? Value(*dim->constant()) : Value();
      return add(Type::Kind::integer, std::move(known), *dim);
    }
    if (const Type* type = std::get_if<Type>(&operand)) return add(*type, {}, std::nullopt);
    const Value& value = std::get<Value>(operand);
    if (value.is_integer()) return add(Type::Kind::integer, value, Dim(value.integer()));
    if (value.is_tuple()) return add(Type::tuple({Type::Kind::integer, Type::Kind::integer}), value, std::nullopt);
    add(value.is_string() ? Type::Kind::string
        : value.is_bool() ? Type::Kind::boolean
                          : Type::Kind::none,
        value, std::nullopt);
  }
  void add(Type type, Value value, std::optional<Dim> dim) {
    types_.push_back(std::move(type));
    values_.push_back(std::move(value));
    dims_.push_back(std::move(dim));
  }

  std::vector<Type> types_;
  std::vector<Value> values_;
  std::vector<std::optional<Dim>> dims_;
  std::uint32_t last_ = 100;
};

Dim symbol(const char* name, std::uint32_t id, bool host = false) {
  return Dim(std::make_shared<SymbolInfo>(SymbolInfo{name, id, host}));
}
const Dim N = symbol("N", 1), M = symbol("M", 2), n = symbol("n", 3, true), m = symbol("m", 4, true);

Type f32(std::vector<Dim> dims) { return Type::tensor(Precision::f32, std::move(dims)); }
Given d(std::int64_t value) { return Dim(value); }
Given pair(std::int64_t y, std::int64_t x) { return Value(Tuple{{y, x}}); }
Given text(const char* value) { return Value(value); }
const Given unknown_int = Type(Type::Kind::integer),
            unknown_pair = Type::tuple({Type::Kind::integer, Type::Kind::integer});

// The type, with the guards it depends on, or the error.
std::string typed(std::string_view name, std::vector<Given> operands) {
  std::string result;
  std::string error = error_of([&] {
    const OpDef& op = *standard_ops().find(name);
    SymbolicCall call(op, std::move(operands));
    result = op.type(call).text() + call.guards;
  });
  return result.empty() ? error : result;
}

}  // namespace

TEST_CASE("matmul and linear on symbols [ops]") {
  CHECK(typed("matmul", {f32({N, 4}), f32({4, M})}) == "f32[N, M]");
  CHECK(typed("matmul", {f32({N, M}), f32({M})}) == "f32[N]");
  CHECK(typed("matmul", {f32({N}), f32({N})}) == "f32");
  CHECK(typed("matmul", {f32({N, 2, 3}), f32({3, 4})}) == "f32[N, 2, 4]");
  CHECK(typed("matmul", {f32({1, 2, 3}), f32({N, 3, 4})}) == "f32[N, 2, 4]");
  CHECK(typed("matmul", {f32({2, n}), f32({4, 5})}) == "f32[2, 5] if n = 4");
  CHECK(typed("matmul", {f32({N, M}), f32({N, M})}) ==
        "E2001 shapes differ: f32[N, M] @ f32[N, M]; inner dimension is M against N");
  CHECK(typed("linear", {f32({N, 8}), f32({M, 8}), f32({M})}) == "f32[N, M]");
  CHECK(typed("linear", {f32({N, 8}), f32({M, 8}), f32({N})}).starts_with("E2001"));
}

TEST_CASE("windows on symbols [ops]") {
  CHECK(typed("conv2d", {f32({N, 3, 28, 28}), f32({6, 3, 5, 5})}) == "f32[N, 6, 24, 24]");
  CHECK(typed("conv2d", {f32({3, N, M}), f32({6, 3, 3, 3}), Value(), d(1), d(1)}) == "f32[6, N, M]");
  CHECK(typed("conv2d", {f32({1, N, 8, 8}), f32({N, 1, 3, 3}), Value(), d(1), d(1), d(1), N}) == "f32[1, N, 8, 8]");
  CHECK(typed("conv2d", {f32({3, N, 8}), f32({6, 3, 3, 3}), Value(), d(2)}) == "f32[6, <(N - 3) / 2 + 1>, 3]");
  CHECK(typed("conv2d", {f32({3, 8, 8}), f32({6, 3, 3, 3}), Value(), d(1), n}) == "f32[6, 2*n + 6, 2*n + 6]");
  CHECK(typed("conv2d", {f32({3, 8, 8}), f32({6, 3, 3, 3}), Value(), unknown_pair}) == "f32[6, <windows>, <windows>]");
  CHECK(typed("max_pool", {f32({1, N, 6, 8}), d(2)}) == "f32[1, N, 3, 4]");
  CHECK(typed("max_pool", {f32({1, 6, 8}), pair(3, 2), d(1)}) == "f32[1, 4, 7]");
  CHECK(typed("avg_pool", {f32({1, 6, 8}), n, d(1)}) == "f32[1, -n + 7, -n + 9]");
}

TEST_CASE("reshape on symbols [ops]") {
  CHECK(typed("reshape", {f32({N, 4, 6}), N, d(-1)}) == "f32[N, 24]");
  CHECK(typed("reshape", {f32({N, 4, 6}), d(-1)}) == "f32[24*N]");
  CHECK(typed("reshape", {f32({N, 4, M}), M, d(-1), d(2)}) == "f32[M, 2*N, 2]");
  CHECK(typed("reshape", {f32({N, M}), M, N}) == "f32[M, N]");
  CHECK(typed("reshape", {f32({N}), d(4), d(-1)}) == "f32[4, <N / 4>]");
  CHECK(typed("reshape", {f32({8}), d(4), n}) == "f32[4, n] if 8 = 4*n");
  CHECK(typed("reshape", {f32({N}), d(4)}).starts_with("E2001 shapes differ: f32[N] has N elements, [4] has 4"));
}

TEST_CASE("slice on symbols [ops]") {
  CHECK(typed("slice", {f32({N, M}), text("i"), n, n + Dim(1)}) == "f32[M]");
  CHECK(typed("slice", {f32({N, M}), text("*r"), d(0), N, d(1), M}) == "f32[N, M - 1]");
  CHECK(typed("slice", {f32({N}), text("r"), n, m}) == "f32[-n + m]");
  CHECK(typed("slice", {f32({N}), text("r"), d(0), N + Dim(1)}).starts_with("E2004 0..N + 1 is outside dimension 0"));
  CHECK(typed("slice", {f32({N}), text("i"), N, N + Dim(1)}).starts_with("E2004 N is outside dimension 0"));
}

TEST_CASE("movement on symbols [ops]") {
  CHECK(typed("permute", {f32({N, M, 2}), d(2), d(0), d(1)}) == "f32[2, N, M]");
  CHECK(typed("permute", {f32({N, M}), unknown_int, d(0)}) == "f32[<extent>, <extent>]");
  CHECK(typed("broadcast", {f32({N, 1}), d(2), N, M}) == "f32[2, N, M]");
  CHECK(typed("broadcast", {f32({N}), M}).starts_with("E2001"));
  CHECK(typed("pad", {f32({N}), d(0), d(1), n, Value(std::int64_t{0})}).starts_with("f32[N + n + 1]"));
  CHECK(typed("tile", {f32({N}), d(0), n}) == "f32[N*n]");
  CHECK(typed("tile", {f32({N}), unknown_int, n}) == "f32[<extent>]");
  CHECK(typed("drop", {f32({1, N}), d(0)}) == "f32[N]");
  CHECK(typed("drop", {f32({n, N}), d(0)}) == "f32[N] if n = 1");
  CHECK(typed("drop", {f32({M, N}), d(0)})
            .starts_with("E2001 only an extent of 1 can be dropped; dimension 0 of f32[M, N] is M"));
  CHECK(typed("lift", {f32({N}), pair(0, 2)}) == "f32[1, N, 1]");
  CHECK(typed("concat", {Type::tuple({f32({N, 2}), f32({M, 2})}), d(0)}) == "f32[N + M, 2]");
  CHECK(typed("concat", {Type::tuple({f32({2, n}), f32({2, 3})}), d(0)}) == "f32[4, n] if n = 3");
  CHECK(typed("gather", {f32({N, 3}), Type::tensor(Precision::i64, {M}), d(0)}) == "f32[M, 3]");
  CHECK(typed("gather", {f32({N, 3}), Type::tensor(Precision::i32, {}), d(0)}) == "f32[3]");
}

TEST_CASE("a host value where a tensor must be, and operands that are wrong already [ops]") {
  CHECK(typed("permute", {Type(Type::Kind::real), d(0)}).starts_with("E1004"));
  CHECK(typed("matmul", {f32({2, 2}), Type(Type::Kind::integer)}).starts_with("E1004"));
  for (const OpDef* op : standard_ops().all()) {
    CAPTURE(op->name);
    std::vector<Given> operands(op->operands.size(), Type(Type::Kind::error));
    CHECK(typed(op->name, operands) == "?");
  }
}

}  // namespace taskspec::ops_shapes_test
