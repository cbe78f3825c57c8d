// Loops for whole expressions, each against the same expression computed op by op.
#include "interp/host/view/lane_shapes.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <utility>

#include "interp/host/view/lane_moves.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::lane_shapes_test {

namespace {

// All shapes with so many ops, whether there are loops for them or not.
std::vector<std::string> all_shapes(int ops) {
  if (ops == 0) return {"x"};
  std::vector<std::string> all;
  for (int left = 0; left < ops; ++left)
    for (const std::string& a : all_shapes(left))
      for (const std::string& b : all_shapes(ops - 1 - left))
        for (char op : {'+', '-', '*', '/'}) all.push_back(a + b + op);
  return all;
}

template <class T>
T value_of(const std::string& shape, const std::vector<std::vector<T>>& in, std::size_t element) {
  std::vector<T> stack;
  std::size_t next = 0;
  for (char c : shape) {
    if (c == 'x' || c == 'g') {
      stack.push_back(in[next++][element]);
      continue;
    }
    const T b = stack.back();
    stack.pop_back();
    volatile T& a = stack.back();  // rounded after each op
    a = c == '+' ? a + b : c == '-' ? a - b : c == '*' ? a * b : a / b;
  }
  return stack.back();
}

template <class T>
void check_shape(const std::string& shape, Precision precision, std::mt19937_64& random) {
  const ShapeLoop loop = find_shape(shape, precision);
  const auto operands = static_cast<std::size_t>(std::ranges::count(shape, 'x'));
  REQUIRE(operands <= most_shape_operands);
  for (std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{67}, std::size_t{512}}) {
    std::vector<std::vector<T>> in(operands, std::vector<T>(count));
    for (std::vector<T>& list : in)
      for (T& x : list) x = static_cast<T>(between(random, -1000, 1000)) / T{7};
    std::vector<T> expected(count);
    for (std::size_t e = 0; e < count; ++e) expected[e] = value_of(shape, in, e);
    // Into memory of its own, and over each of its operands.
    for (std::size_t over = 0; over <= operands; ++over) {
      std::vector<std::vector<T>> given = in;
      std::vector<T> own(count);
      std::vector<T>& out = over < operands ? given[over] : own;
      std::vector<const std::byte*> pointers;
      for (const std::vector<T>& list : given) pointers.push_back(reinterpret_cast<const std::byte*>(list.data()));
      loop(pointers.data(), reinterpret_cast<std::byte*>(out.data()), static_cast<std::int64_t>(count));
      CHECK_MESSAGE(std::memcmp(out.data(), expected.data(), count * sizeof(T)) == 0, shape, " over ", over);
    }
  }
}

}  // namespace

TEST_CASE("[strips] a loop for an expression gives the bits of its ops") {
  std::mt19937_64 random(7);
  std::vector<std::string> shapes;
  for (int ops : {2, 3})
    for (std::string& shape : all_shapes(ops))
      if (find_shape(shape, Precision::f64)) shapes.push_back(std::move(shape));
  CHECK(shapes.size() == 24 + 75);
  for (const char* sum : {"xx+x+x+", "xx+x+x+x+x+"})
    for (const char* rest : {"x*", "x*x+", "xx*-", "xx*-x*", "xx*-x*x+"}) shapes.push_back(std::string(sum) + rest);
  shapes.push_back("xx+x+x+x+");
  shapes.push_back("xx+x+x+x+x+");
  for (const std::string& shape : shapes) {
    check_shape<double>(shape, Precision::f64, random);
    check_shape<float>(shape, Precision::f32, random);
  }
  CHECK(!find_shape("xx+", Precision::f64));  // what its kernel does
  CHECK(!find_shape("xx+x+", Precision::i64));
}

namespace {

// With every choice of operands that are gathered, but none.
std::vector<std::string> with_gathers(const std::string& shape) {
  std::vector<std::string> all{""};
  for (char c : shape) {
    std::vector<std::string> longer;
    for (const std::string& text : all) {
      longer.push_back(text + c);
      if (c == 'x') longer.push_back(text + 'g');
    }
    all = std::move(longer);
  }
  std::erase(all, shape);
  return all;
}

// Elements of which each operand takes some, by places of which one may be outside of [5, 25).
template <class T>
void check_gather(const std::string& shape, Precision precision, std::mt19937_64& random) {
  const GatherLoop loop = find_gather(shape, precision);
  REQUIRE(static_cast<bool>(loop));
  for (std::int64_t count : {std::int64_t{1}, std::int64_t{15}, std::int64_t{16}, std::int64_t{167}}) {
    std::vector<std::vector<T>> in, fields;  // in: as they come to the ops
    std::vector<std::vector<std::int64_t>> places;
    std::vector<const std::byte*> plain;
    for (char c : shape) {
      if (c != 'x' && c != 'g') continue;
      std::vector<T>& list = in.emplace_back(static_cast<std::size_t>(count));
      for (T& x : list) x = static_cast<T>(between(random, -1000, 1000)) / T{7};
      if (c == 'x') continue;
      std::vector<T>& field = fields.emplace_back(25);
      for (T& x : field) x = static_cast<T>(between(random, -1000, 1000)) / T{7};
      std::vector<std::int64_t>& at = places.emplace_back(static_cast<std::size_t>(count));
      for (std::size_t e = 0; e < list.size(); ++e)
        list[e] = field[static_cast<std::size_t>(at[e] = between(random, 5, 24))];
    }
    std::vector<Gathering> gatherings;
    for (std::size_t g = 0; g < fields.size(); ++g)
      gatherings.push_back({reinterpret_cast<const std::byte*>(fields[g].data()), places[g].data(), 5, 25});
    std::size_t operand = 0;
    for (char c : shape) {
      if (c == 'x') plain.push_back(reinterpret_cast<const std::byte*>(in[operand].data()));
      operand += c == 'x' || c == 'g';
    }
    std::vector<T> out(static_cast<std::size_t>(count)), expected = out;
    for (std::size_t e = 0; e < out.size(); ++e) expected[e] = value_of(shape, in, e);
    auto run = [&] { return loop(plain.data(), gatherings.data(), reinterpret_cast<std::byte*>(out.data()), count); };
    CHECK_MESSAGE(run() == count, shape);
    CHECK_MESSAGE(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)) == 0, shape);
    // One place outside: what is done are elements before it.
    const auto wrong = static_cast<std::size_t>(between(random, 0, count - 1));
    std::vector<std::int64_t>& of = places[static_cast<std::size_t>(between(random, 0, std::ssize(places) - 1))];
    for (std::int64_t place : {std::int64_t{4}, std::int64_t{25}, INT64_MIN, INT64_MAX, INT64_MIN + 5}) {
      const std::int64_t before = std::exchange(of[wrong], place);
      const std::int64_t done = run();
      of[wrong] = before;
      CHECK_MESSAGE(done <= static_cast<std::int64_t>(wrong), shape);
      CHECK_MESSAGE(done > static_cast<std::int64_t>(wrong) - 64, shape);
    }
  }
}

}  // namespace

TEST_CASE("[strips] a loop that gathers gives the bits of its ops, and looks at places first") {
  std::mt19937_64 random(11);
  std::size_t shapes = 0;
  for (int ops : {1, 2})
    for (const std::string& plain : all_shapes(ops))
      for (const std::string& shape : with_gathers(plain)) {
        const bool turned = ops == 2 && plain.starts_with("xxx") && (plain.back() == '+' || plain.back() == '*');
        CHECK_MESSAGE((find_gather(shape, Precision::f64) != nullptr) == !turned, shape);
        if (turned) continue;
        ++shapes;
        check_gather<double>(shape, Precision::f64, random);
        check_gather<float>(shape, Precision::f32, random);
      }
  CHECK(shapes == 3 * 4 + 7 * 24);
  CHECK(!find_gather("xx+", Precision::f64));
  CHECK(!find_gather("gg+", Precision::i64));
}

namespace {

// As the loop of a program folds them.
template <class T>
std::int64_t folded(std::span<const ScatterFold> folds, std::span<T> field, std::int64_t count) {
  for (std::int64_t e = 0; e < count; ++e) {
    for (const ScatterFold& fold : folds)
      if (const std::int64_t place = fold.places[e * fold.step]; place < fold.lo || place >= fold.hi) return e;
    for (const ScatterFold& fold : folds) {
      const T value = reinterpret_cast<const T*>(fold.values)[e];
      volatile T product = value;
      if (fold.factors) product = value * reinterpret_cast<const T*>(fold.factors)[e];
      T& to = field[static_cast<std::size_t>(fold.places[e * fold.step])];
      to = fold.op == "sub" ? to - product : to + product;
    }
  }
  return count;
}

template <class T>
void check_folds(Precision precision, std::mt19937_64& random, bool products, unsigned minus) {
  constexpr std::size_t count = 200;
  for (std::size_t entries : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    std::vector<T> field(40);
    std::vector<std::vector<std::int64_t>> places(entries, std::vector<std::int64_t>(count));
    std::vector<std::vector<T>> values(entries, std::vector<T>(count)), factors = values;
    for (std::size_t k = 0; k < entries; ++k)
      for (std::size_t e = 0; e < count; ++e) {
        places[k][e] = between(random, 3, 39);
        values[k][e] = static_cast<T>(static_cast<T>(between(random, -900, 900)) / T{7});
        factors[k][e] = static_cast<T>(static_cast<T>(between(random, -900, 900)) / T{11});
      }
    for (const bool wrong : {false, true}) {
      if (wrong) places[entries - 1][150] = 2;
      std::vector<T> got = field, wanted = field;
      std::vector<ScatterFold> folds;
      for (std::size_t k = 0; k < entries; ++k)
        folds.push_back({.field = reinterpret_cast<std::byte*>(got.data()),
                         .places = places[k].data(),
                         .lo = 3,
                         .hi = 40,
                         .values = reinterpret_cast<const std::byte*>(values[k].data()),
                         .factors = products ? reinterpret_cast<const std::byte*>(factors[k].data()) : nullptr,
                         .op = (minus >> k & 1U) != 0 ? "sub" : "add"});
      const std::int64_t done = folded<T>(folds, wanted, count);
      CHECK(done == (wrong ? 150 : 200));
      std::optional<Fault> fault;
      CHECK(scatter_folds(folds, precision, count, fault) == done);
      CHECK(!fault);
      if (!wrong) CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(T)) == 0);
    }
  }
}

}  // namespace

TEST_CASE("[strips] folds at places give the bits of the loop, and stop where a place is outside") {
  std::mt19937_64 random(13);
  for (const unsigned minus : {0U, 1U, 2U, 3U, 6U}) {  // which of the folds take away
    for (const bool products : {false, true}) {
      check_folds<double>(Precision::f64, random, products, minus);
      check_folds<float>(Precision::f32, random, products, minus);
    }
    check_folds<std::int64_t>(Precision::i64, random, false, minus);
    check_folds<std::int32_t>(Precision::i32, random, false, minus);
  }
}

TEST_CASE("[strips] places at the ends of what an int can be are outside") {
  for (const auto& [lo, hi] : {std::pair<std::int64_t, std::int64_t>{0, 10}, {-5, 5}, {-20, -10}, {7, 8}})
    for (std::int64_t value : {INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX, lo - 1, lo, hi - 1, hi, hi + 1}) {
      std::vector<std::int64_t> values(37, lo);
      values[21] = value;
      CHECK(all_inside(values.data(), 37, lo, hi) == (value >= lo && value < hi));
    }
}

}  // namespace taskspec::lane_shapes_test
