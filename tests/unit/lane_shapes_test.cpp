// Loops for whole expressions, each against the same expression computed op by op.
#include "interp/host/view/lane_shapes.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "tests/unit/random_cases.hpp"

namespace taskspec {

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
    if (c == 'x') {
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

}  // namespace taskspec
