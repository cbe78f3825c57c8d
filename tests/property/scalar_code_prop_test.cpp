// Random bodies that are no strips: bound, and so as machine code where there is such a thing, they do what the byte
// code does, to the last bit and fault (view_task.hpp runs both).
#include <doctest/doctest.h>

#include <cmath>

#include "tests/unit/machine_code.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/view_task.hpp"

namespace taskspec::scalar_code_prop_test {

namespace {

using namespace view_task;

class RandomText {
 public:
  explicit RandomText(std::mt19937_64& random) : random_(random) {}

  std::string task() {
    std::string text =
        "fields P { a: f64, b: f64, s: f32, n: int, m: int, k: bool }\n"
        "task f(inout c: P[_].{a, b, s, n, k}, in d: P[_].{a, s, m, k}, in t: int, in u: int) -> (o: f64) {\n"
        "  var x = 1.0 as f64\n  var y = 0.5 as f64\n  var z = 1.0 as f32\n  var p = 1 as i64\n  var h = t\n"
        "  var q = x > 2.0\n";
    text += "  for i in c {\n";
    points_ = {"i"};
    for (std::int64_t n = between(random_, 2, 5); n > 0; --n) text += statement(3, "    ");
    return text + "  }\n  o = x + y\n}\n";
  }

 private:
  bool one_in(std::int64_t n) { return between(random_, 1, n) == 1; }
  std::string one_of(std::initializer_list<std::string> all) {
    return all.begin()[between(random_, 0, std::ssize(all) - 1)];
  }
  std::string point() { return points_[static_cast<std::size_t>(between(random_, 0, std::ssize(points_) - 1))]; }
  std::string both(const std::string& a, std::initializer_list<std::string> ops, const std::string& b) {
    return "(" + a + " " + one_of(ops) + " " + b + ")";
  }
  std::string place() {
    if (one_in(40)) return "h";
    if (one_in(20)) return "c[" + points_[0] + "].n";
    if (one_in(4)) return "d[" + point() + "].m";
    return one_in(10) ? point() + one_of({" + 1", " - 1", " + t"}) : point();
  }
  std::string of_d(const std::string& field) { return "d[" + place() + "]." + field; }
  std::string of_c(const std::string& field) { return "c[" + (one_in(6) ? place() : points_[0]) + "]." + field; }

  std::string real(int depth) {
    if (depth == 0 || one_in(3)) return one_of({"x", "y", "x", "y", "1.5", of_c("a"), of_c("b"), of_d("a")});
    if (one_in(8)) return "maximum(" + real(depth - 1) + ", " + real(depth - 1) + ")";
    return both(real(depth - 1), {"+", "-", "*", "/"}, real(depth - 1));
  }
  std::string single(int depth) {
    if (depth == 0 || one_in(3)) return one_of({"z", "z", of_c("s"), of_d("s")});
    return both(single(depth - 1), {"+", "-", "*", "/"}, single(depth - 1));
  }
  std::string element(int depth) {
    if (depth == 0 || one_in(3)) return one_of({"p", "p", of_c("n"), of_d("m")});
    return both(element(depth - 1), {"+", "-", "*"}, element(depth - 1));
  }
  std::string host(int depth) {
    if (depth == 0 || one_in(3)) return one_of({"h", "h", "t", "u", point(), "3"});
    return both(host(depth - 1), {"+", "-", "*"}, host(depth - 1));
  }
  std::string order() { return one_of({" < ", " <= ", " > ", " >= ", " == ", " != "}); }
  std::string condition() { return one_in(5) ? host(1) + order() + host(1) : truth(); }
  std::string truth() {
    switch (between(random_, 0, 5)) {
      case 0:
        return "q";
      case 1:
        return one_in(2) ? of_c("k") : of_d("k");
      case 2:
        return single(1) + order() + single(1);
      case 3:
        return element(1) + order() + element(1);
      default:
        return real(1) + order() + real(1);
    }
  }

  std::string block(int depth, const std::string& indent) {
    std::string text;
    for (std::int64_t n = between(random_, 1, 3); n > 0; --n) text += statement(depth - 1, indent + "  ");
    return " {\n" + text + indent + "}";
  }
  std::string statement(int depth, const std::string& indent) {
    switch (between(random_, 0, depth > 0 ? 13 : 7)) {
      case 0: {
        const std::string name = "v" + std::to_string(++names_);
        std::string text = indent + "let " + name + " = " + real(2) + "\n" + indent +
                           "x = " + both(name, {"+", "*"}, one_in(2) ? name : real(1)) + "\n";
        if (one_in(2)) text += indent + "y = " + both(name, {"-", "*"}, "x") + "\n";
        return text;
      }
      case 1:
        return indent + one_of({"x", "y"}) + one_of({" = ", " += ", " *= "}) + real(2) + "\n";
      case 2:
        return indent + "z = " + single(2) + "\n";
      case 3:
        return indent + "p = " + element(2) + "\n";
      case 4:
        return indent + "h = " + host(one_in(3) ? 2 : 1) + "\n";
      case 5:
        return indent + one_of({"q = ", of_c("k") + " = "}) + truth() + "\n";
      case 6:
        return indent + of_c(one_of({"a", "b"})) + one_of({" = ", " += ", " -= "}) + real(2) + "\n";
      case 7:
        return indent + (one_in(2) ? of_c("s") + " = " + single(2) : of_c("n") + one_of({" = ", " += "}) + element(1)) +
               "\n";
      case 8:
      case 9:
      case 10: {
        std::string text = indent + "if " + condition() + block(depth, indent);
        if (one_in(3)) text += " else" + block(depth, indent);
        if (one_in(3)) text += "\n" + indent + "if " + condition() + " { " + one_of({"break", "continue"}) + " }";
        return text + "\n";
      }
      case 11: {
        const std::string name = "k" + std::to_string(++names_);
        const std::string head = indent + "for " + name + " in " + one_of({"0", "t"}) + ".." + one_of({"3", "t + 2"});
        return head + block(depth, indent) + "\n";
      }
      case 12: {
        const std::string name = "w" + std::to_string(++names_);
        return indent + "var " + name + " = 0\n" + indent + "while " + name + " < 3 {\n" + indent + "  " + name +
               " += 1\n" + statement(depth - 1, indent + "  ") + indent + "}\n";
      }
      default: {
        points_.push_back("j" + std::to_string(++names_));
        const std::string text = indent + "for " + points_.back() + " in " + one_of({"d", "d", "c"});
        const std::string inner = block(depth, indent);
        points_.pop_back();
        return text + inner + "\n";
      }
    }
  }

  std::mt19937_64& random_;
  std::vector<std::string> points_;
  int names_ = 0;
};

struct Columns {
  std::vector<double> a, b;
  std::vector<float> s;
  std::vector<std::int64_t> n, m;
  std::vector<std::uint8_t> k;

  Columns(std::mt19937_64& random, std::int64_t size) {
    const double odd[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan("")};
    const auto real = [&] {
      return between(random, 0, 4) == 0 ? odd[between(random, 0, 4)]
                                        : static_cast<double>(between(random, -1000, 1000)) / 7;
    };
    for (std::int64_t i = 0; i < size; ++i) {
      a.push_back(real());
      b.push_back(real());
      s.push_back(static_cast<float>(real()));
      n.push_back(between(random, 0, 9) == 0 ? INT64_MAX - between(random, 0, 3) : between(random, 0, size));
      m.push_back(between(random, 0, 40) == 0 ? size + 1 : between(random, 0, size - 1));
      k.push_back(between(random, 0, 1) == 1);
    }
  }
  Piece piece(const IndexSpace& points) {
    return {line(0, static_cast<std::int64_t>(a.size())),
            points,
            {bytes(a), bytes(b), bytes(s), bytes(n), bytes(m), bytes(k)}};
  }
};

IndexSpace some_points(std::mt19937_64& random, std::int64_t size) {
  const Rect root = line(0, size);
  const std::int64_t lo = between(random, 0, 2), hi = between(random, lo, size);
  if (between(random, 0, 3) > 0) return between(random, 0, 1) == 0 ? root : line(lo, hi);
  return {root, Intervals::of({{0, size / 3}, {size / 3 + 1, size}})};
}

}  // namespace

TEST_CASE("[strips] random scalar bodies do as machine code what they do as byte code") {
  int faults = 0, compiled = 0, cases = 0;
  const ArrayType integer{Precision::i64, {}};
  for (std::uint64_t seed : random_seeds(400, 20'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::string text = RandomText(random).task();
    CAPTURE(text);
    Task task(text, {integer, integer});
    REQUIRE(task.error() == "");
    compiled += testing::has_machine_code(text, {integer, integer});
    cases += task.body().form() == "scalar";
    for (int again = 0; again < 3; ++again) {
      const std::int64_t size = between(random, 3, 12);
      Columns columns(random, size);
      const std::int64_t t = between(random, -1, 2), u = between(random, 0, 3) == 0 ? INT64_MAX / 2 : 3;
      double o = 0;
      const IndexSpace c = some_points(random, size), d = some_points(random, size);
      faults += task.run({columns.piece(c), columns.piece(d)}, {&t, &u}, {&o}) != "";
    }
  }
  MESSAGE(compiled, " compiled, ", faults, " faults");
  CHECK(compiled == (testing::machine_code_exists() ? cases : 0));
  CHECK(faults > cases / 4);
  CHECK(faults < 2 * cases);
}

}  // namespace taskspec::scalar_code_prop_test
