// Task IR blocks in C++ programs: the lines of an `ir` declaration.
#include <doctest/doctest.h>

#include "taskspec/taskspec.hpp"

namespace taskspec::blocks_test {

namespace {

Task total() {
  return blocks("total", R"(
    a : SI i32 [f: 2];  b : SI i32 [f: 2]
    c : CADD i32 [f: 2]
    y : SO i32 [f: 2]
    a -> c.input;  b -> c.input2
    c -> y
  )");
}

Task counting() {
  return blocks("counting", R"(
    x : SI i32 [f: 1];  last : SI i32 [f: 1];  add : CADD i32 [f: 1];  s : SI i32 [f: 1];  z : SO i32 [f: 1]
    x -> add.input;  last -> add.input2;  add -> s;  s -> last | delay(1);  s -> z
  )");
}

std::vector<std::int32_t> elements(const Tensor& tensor) { return tensor.array<std::int32_t>(); }

// What a wrong declaration says: it is thrown when the program first needs it.
Diagnostic wrong(const std::string& lines) {
  try {
    Task task = blocks("wrong", lines);
    elements(task(tensor({1, 2}, i32))["y"]);
  } catch (const Error& error) {
    return error.diagnostics().at(0);
  }
  return {};
}

}  // namespace

TEST_CASE("blocks are declared in C++ as in a text, and called like a task [ir-blocks]") {
  const Tensor x = tensor({1, 2}, i32), high = tensor({2147483647, -5}, i32);
  CHECK(elements(total()(x, x)["y"]) == std::vector<std::int32_t>{2, 4});
  CHECK(elements(total()(high, x)["y"]) == std::vector<std::int32_t>{2147483647, -3});  // it saturates
  Graph both = graph("both").in("x", i32[2]).out("y", i32[2]).body([](Tensor x) {
    Task sum = total();
    return sum(sum(x, x)["y"], x)["y"];
  });
  CHECK(elements(both(x)["y"]) == std::vector<std::int32_t>{3, 6});
}

TEST_CASE("blocks in C++ remember from call to call [ir-blocks]") {
  Task count = counting();
  std::vector<std::int32_t> sums;
  for (std::int32_t i = 1; i <= 4; ++i) sums.push_back(elements(count(tensor({i}, i32))["z"])[0]);
  CHECK(sums == std::vector<std::int32_t>{1, 3, 6, 10});
}

TEST_CASE("what is wrong with blocks in C++ is said with their lines [ir-blocks]") {
  const Diagnostic syntax = wrong("x : SI i32 [f: 2\n");
  CHECK(syntax.code == "E0002");
  const Diagnostic unknown = wrong("x : SJ i32 [f: 2]\ny : SO i32 [f: 2]\nx -> y");
  CHECK(unknown.code == "E1001");
  CHECK(unknown.message == "unknown kind of block 'SJ'");
  CHECK(unknown.line == 2);  // below "ir wrong {"
  CHECK(wrong(" \n").code == "E1006");
  CHECK(wrong("x : SI i32 [f: 2]\n}\nir other {\n").code == "E0001");
}

}  // namespace taskspec::blocks_test
