// Sums over the parts of a batch go along a tree that depends on the number of parts alone: which parts have rows, and
// where they run, leaves the order as it is.
#include "ir/gradient/batch_parts.hpp"

#include <doctest/doctest.h>

#include <string>

namespace taskspec::batch_parts_test {

namespace {

// The places of the parts that have rows, in brackets as they are added.
std::string tree(std::int64_t rows, std::int64_t places) {
  const BatchParts batch = BatchParts::of(rows, places);
  std::vector<std::string> names;
  for (const BatchParts::Part& part : batch.parts) names.push_back(std::to_string(part.place));
  return batch.sum(names, [](const std::string& a, const std::string& b) { return "(" + a + " " + b + ")"; });
}

}  // namespace

TEST_CASE("[gradient] parts of a batch are its rows in order, those without rows are left out [L19]") {
  const BatchParts seven = BatchParts::of(7, 3);
  CHECK(seven.is_cut());
  REQUIRE(seven.parts.size() == 3);
  const std::int64_t begins[] = {0, 2, 4}, ends[] = {2, 4, 7};
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(seven.parts[k].begin == begins[k]);
    CHECK(seven.parts[k].end == ends[k]);
    CHECK(seven.parts[k].place == static_cast<std::int64_t>(k));
  }
  const BatchParts two = BatchParts::of(2, 4);
  REQUIRE(two.parts.size() == 2);
  CHECK(two.parts[0].place == 1);
  CHECK(two.parts[1].place == 3);
  CHECK(!BatchParts::of(1, 4).is_cut());
}

TEST_CASE("[gradient] what parts give is added up along one tree [L19]") {
  CHECK(tree(8, 1) == "0");
  CHECK(tree(8, 2) == "(0 1)");
  CHECK(tree(8, 3) == "((0 1) 2)");
  CHECK(tree(8, 4) == "((0 1) (2 3))");
  CHECK(tree(8, 5) == "(((0 1) (2 3)) 4)");
  CHECK(tree(8, 6) == "(((0 1) (2 3)) (4 5))");
  CHECK(tree(8, 7) == "(((0 1) (2 3)) ((4 5) 6))");
  CHECK(tree(8, 8) == "(((0 1) (2 3)) ((4 5) (6 7)))");
  // of fewer rows the same tree, where there are some
  CHECK(tree(2, 4) == "(1 3)");
  CHECK(tree(3, 4) == "(1 (2 3))");
  CHECK(tree(5, 8) == "((1 3) (4 (6 7)))");
  CHECK(tree(1, 8) == "7");
}

}  // namespace taskspec::batch_parts_test
