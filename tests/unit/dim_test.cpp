// Symbolic extents: the normal form against evaluation at numbers.
#include "ir/types/dim.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>

#include "ir/base/diag.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::dim_test {

namespace {

Symbol symbol(const char* name, std::uint32_t id, bool host = false) {
  return std::make_shared<SymbolInfo>(SymbolInfo{name, id, host});
}

const std::int64_t largest = std::numeric_limits<std::int64_t>::max();

// Two ways to the same number: the polynomial, and plain arithmetic at chosen values of its symbols.
struct Pair {
  Dim dim;
  std::int64_t value;
};

class Expressions {
 public:
  explicit Expressions(std::uint64_t seed) : random_(seed) {
    for (std::int64_t& value : values_) value = between(random_, -5, 9);
  }

  Pair make(int depth) {
    if (depth == 0 || between(random_, 0, 4) == 0) return leaf();
    Pair a = make(depth - 1), b = make(depth - 1);
    switch (between(random_, 0, 2)) {
      case 0:
        return {a.dim + b.dim, a.value + b.value};
      case 1:
        return {a.dim - b.dim, a.value - b.value};
      default:
        return {a.dim * b.dim, a.value * b.value};
    }
  }

  std::int64_t evaluate(const Dim& dim) const {
    Dim at_values = dim.substitute([this](const Symbol& s) { return Dim(values_[s->id]); });
    return at_values.constant().value();
  }

 private:
  Pair leaf() {
    auto i = static_cast<std::size_t>(between(random_, 0, 5));
    if (i < symbols_.size()) return {Dim(symbols_[i]), values_[i]};
    std::int64_t constant = between(random_, -3, 3);
    return {Dim(constant), constant};
  }

  std::mt19937_64 random_;
  std::array<Symbol, 3> symbols_ = {symbol("N", 0), symbol("M", 1), symbol("K", 2)};
  std::array<std::int64_t, 3> values_{};
};

}  // namespace

TEST_CASE("extents print as a person would write them") {
  Dim n(symbol("N", 0)), m(symbol("M", 1));
  CHECK(Dim(4).text() == "4");
  CHECK(Dim(-4).text() == "-4");
  CHECK(n.text() == "N");
  CHECK((Dim(2) * n + 1).text() == "2*N + 1");
  CHECK((n - 1).text() == "N - 1");
  CHECK((Dim(0) - n).text() == "-N");
  CHECK((m - n * 2).text() == "-2*N + M");
  CHECK((n * m + n * n - 3).text() == "N*N + N*M - 3");
  CHECK((n - n).text() == "0");
}

TEST_CASE("a difference of equals is the constant 0") {
  Dim n(symbol("N", 0));
  Dim zero = (n + 1) * (n - 1) - n * n + 1;
  CHECK(zero.is_constant());
  CHECK(zero == Dim(0));
  CHECK(zero.symbols().empty());
}

TEST_CASE("normal form: evaluation of any expression agrees with arithmetic") {
  for (std::uint64_t seed : random_seeds(500, 20'000)) {
    CAPTURE(seed);
    Expressions expressions(seed);
    Pair pair = expressions.make(4);
    CAPTURE(pair.dim.text());
    REQUIRE(expressions.evaluate(pair.dim) == pair.value);
  }
}

TEST_CASE("normal form: laws of arithmetic give equal extents and equal texts") {
  for (std::uint64_t seed : random_seeds(500, 20'000)) {
    CAPTURE(seed);
    Expressions expressions(seed);
    Dim a = expressions.make(3).dim, b = expressions.make(3).dim, c = expressions.make(2).dim;
    auto equal = [](const Dim& x, const Dim& y) { return x == y && x.text() == y.text() && same(x, y) == Same::yes; };
    REQUIRE(equal(a + b, b + a));
    REQUIRE(equal(a * b, b * a));
    REQUIRE(equal((a + b) + c, a + (b + c)));
    REQUIRE(equal((a * b) * c, a * (b * c)));
    REQUIRE(equal(a * (b + c), a * b + a * c));
    REQUIRE(equal(a - b, a + Dim(-1) * b));
    REQUIRE(equal(a - a, Dim(0)));
  }
}

TEST_CASE("normal form: unequal extents differ at some point, equal ones at none") {
  for (std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    Expressions expressions(seed);
    Pair a = expressions.make(2), b = expressions.make(2);
    if (a.value != b.value) {
      REQUIRE(a.dim != b.dim);
    }
    Dim difference = a.dim - b.dim;
    REQUIRE((a.dim == b.dim) == (difference == Dim(0)));
  }
}

TEST_CASE("rigid symbols differ, host symbols leave it open") {
  Dim n(symbol("N", 0)), m(symbol("M", 1)), k(symbol("k", 2, true));
  CHECK(same(n, n) == Same::yes);
  CHECK(same(n, m) == Same::no);
  CHECK(same(n, 4) == Same::no);
  CHECK(same(4, 5) == Same::no);
  CHECK(same(k, 4) == Same::open);
  CHECK(same(k + n, n) == Same::open);
  CHECK(same(k + n, k + n) == Same::yes);
  CHECK(same(k + n, k + m) == Same::no);  // the host value cancels out
  CHECK((k * n).has_host_symbol());
  CHECK_FALSE((n * m).has_host_symbol());
}

TEST_CASE("substitution replaces one symbol and keeps the others") {
  Symbol n = symbol("N", 0), m = symbol("M", 1);
  Dim d = Dim(n) * Dim(m) + 2;
  Dim replaced = d.substitute([&](const Symbol& s) { return s == n ? std::optional(Dim(m) + 1) : std::nullopt; });
  CHECK(replaced.text() == "M*M + M + 2");
  REQUIRE(d.symbols().size() == 2);
  CHECK(d.symbols()[0] == n);
  CHECK(d.symbols()[1] == m);
}

TEST_CASE("quotients: exact arithmetic, printed as one fraction") {
  Dim h(symbol("H", 0)), w(symbol("W", 1)), d(symbol("d", 2, true));
  CHECK((h / 2).text() == "H/2");
  CHECK(((h + 1) / 2).text() == "(H + 1)/2");
  CHECK((h * w / (d * 2)).text() == "H*W/(2*d)");
  CHECK((Dim(3) * h / 2 - h / 2) == h);
  CHECK((h / 2 * 2) == h);
  CHECK((h / 2 + h / 2) == h);
  CHECK((Dim(2) * h / 4) == h / 2);
  CHECK((h / -2) == Dim(-1) * h / 2);
  CHECK((d / h * h) == d);
  CHECK((h * w / w) == h);
  CHECK((h * h - 1) / (h + 1) == h - 1);
  CHECK((h + 1) / (h * w + w) == Dim(1) / w);
  CHECK((h / 2).is_quotient());
  CHECK_FALSE((h * 4 / 2).is_quotient());
  CHECK((w / d).has_host_symbol());
  REQUIRE((h / d).symbols().size() == 2);
  CHECK(same(h / 2, (h + 1) / 2) == Same::no);
  CHECK(same(h / 2, d) == Same::open);
  CHECK(same(d / 2, d / 2) == Same::yes);
  CHECK_THROWS_AS(Dim(5) / Dim(2), Error);
  CHECK_THROWS_AS(h / Dim(0), Error);
  CHECK(Dim(6) / Dim(-2) == Dim(-3));
}

TEST_CASE("quotients: numbers put in either divide or are told") {
  Symbol n = symbol("N", 0);
  Dim half = (Dim(n) + 1) / 2;
  auto at = [&](std::int64_t value) { return half.substitute([&](const Symbol&) { return Dim(value); }); };
  CHECK(at(7) == Dim(4));
  try {
    at(4);
    FAIL("5 / 2 is no extent");
  } catch (const Error& error) {
    CHECK(error.diags().items().front().code == Code("E5004"));
    CHECK(error.diags().items().front().message.find("(N + 1)/2 is 5 / 2 here") != std::string::npos);
  }
  CHECK_THROWS_AS((Dim(6) / Dim(n)).substitute([](const Symbol&) { return Dim(0); }), Error);
}

TEST_CASE("quotients: laws of fractions give equal extents, and evaluation agrees where all divides") {
  for (std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    Expressions expressions(seed);
    Pair a = expressions.make(2), b = expressions.make(2), c = expressions.make(1), u = expressions.make(1);
    if (u.dim == Dim(0)) continue;
    const Dim x = (a.dim * u.dim) / u.dim;
    REQUIRE(x == a.dim);
    REQUIRE(x.text() == a.dim.text());
    Dim v(symbol("V", 7)), two = v * 2;
    Dim p = a.dim / two, q = b.dim / v;
    REQUIRE(p + q == (a.dim + b.dim * 2) / two);
    REQUIRE(p + q == q + p);
    REQUIRE(p * (q + c.dim) == p * q + p * c.dim);
    REQUIRE(p - p == Dim(0));
    REQUIRE(p * two == a.dim);
    // At a value of V that divides both.
    const std::int64_t at = 3;
    Dim whole = (a.dim * Dim(6) / two).substitute([&](const Symbol& s) { return s->id == 7 ? Dim(at) : Dim(s); });
    REQUIRE(expressions.evaluate(whole) == a.value);
  }
}

TEST_CASE("symbols are told apart by id, not by name") {
  Dim first(symbol("N", 0)), second(symbol("N", 7));
  CHECK(first != second);
  CHECK(first == Dim(symbol("N", 0)));
}

TEST_CASE("overflow of an extent is an error of the user, not a wrap") {
  CHECK(checked_add(largest - 1, 1) == largest);
  CHECK_THROWS_AS(checked_add(largest, 1), Error);
  CHECK_THROWS_AS(checked_multiply(largest / 2, 3), Error);
  CHECK_THROWS_AS(Dim(largest) * Dim(2), Error);
  CHECK_THROWS_AS(Dim(largest) + Dim(symbol("N", 0)) + Dim(1), Error);
  CHECK_THROWS_AS(Dim(std::numeric_limits<std::int64_t>::min()) - Dim(1), Error);
}

}  // namespace taskspec::dim_test
