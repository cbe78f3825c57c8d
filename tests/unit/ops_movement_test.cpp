// Movement ops: every element of the result is where the definition says, for all element sizes, shapes that
// are cut into several parts, and any order of the parts.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <optional>

#include "stdlib/kernels/copy.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/op_call.hpp"

namespace taskspec::ops_movement_test {

namespace {

using Index = std::vector<std::int64_t>;
using Source = std::function<std::optional<Index>(const Index&)>;

constexpr Precision sizes[] = {Precision::i8, Precision::f16, Precision::f32, Precision::i64};

std::int64_t position(const Extents& extents, const Index& index) {
  std::vector<std::int64_t> steps = steps_of(extents);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < index.size(); ++i) sum += steps[i] * index[i];
  return sum;
}

// How many elements of y differ from the element of x that `source` names, or from `other` where it names none.
std::int64_t misplaced(const Array& x, const Array& y, const Source& source, double other = 0) {
  std::int64_t wrong = 0;
  std::vector<std::int64_t> steps = steps_of(y.extents());
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    Index at;
    for (std::size_t d = 0; d < steps.size(); ++d) at.push_back(i / steps[d] % y.extents()[d]);
    std::optional<Index> from = source(at);
    wrong += y.number(i) != (from ? x.number(position(x.extents(), *from)) : other);
  }
  return wrong;
}

// Calls the op on x of several precisions, in order and shuffled.
void check_movement(const char* op, const Extents& shape, const std::vector<Value>& rest, const Extents& result,
                    const Source& source, double other = 0) {
  for (Precision p : sizes) {
    CAPTURE(op);
    CAPTURE(info(p).name);
    Array x = random_array({p, shape}, 1);
    std::vector<Value> operands{x};
    operands.insert(operands.end(), rest.begin(), rest.end());
    Array y = call_op(op, operands);
    CHECK(y.extents() == result);
    CHECK(misplaced(x, y, source, other) == 0);
    Shuffled shuffled;
    CHECK(misplaced(x, call_op(op, operands, shuffled), source, other) == 0);
  }
}

Value i(std::int64_t value) { return value; }
Value axes(std::initializer_list<std::int64_t> values) {
  Tuple tuple;
  for (std::int64_t value : values) tuple.items.push_back(value);
  return tuple;
}

Array ints(Extents extents) { return random_array({Precision::i32, std::move(extents)}, 7); }

}  // namespace

TEST_CASE("permute [ops]") {
  check_movement("permute", {3, 5}, {i(1), i(0)}, {5, 3}, [](const Index& at) { return Index{at[1], at[0]}; });
  check_movement("permute", {2, 3, 4, 5}, {i(2), i(0), i(3), i(1)}, {4, 2, 5, 3}, [](const Index& at) {
    return Index{at[1], at[3], at[0], at[2]};
  });
  check_movement("permute", {300, 257}, {i(1), i(0)}, {257, 300}, [](const Index& at) { return Index{at[1], at[0]}; });
  check_movement("permute", {7, 40, 130}, {i(2), i(1), i(0)}, {130, 40, 7}, [](const Index& at) {
    return Index{at[2], at[1], at[0]};
  });
  CHECK(error_of([] { call_op("permute", {ints({2, 3}), i(0), i(0)}); }) == "E2004 axis 0 is given twice");
  CHECK(error_of([] { call_op("permute", {ints({2, 3}), i(0)}); }).starts_with("E1003 permute names every axis once"));
  CHECK(error_of([] { call_op("permute", {ints({2, 3}), i(0), i(2)}); }).starts_with("E2004"));
}

TEST_CASE("reverse [ops]") {
  check_movement("reverse", {5}, {i(0)}, {5}, [](const Index& at) { return Index{4 - at[0]}; });
  check_movement("reverse", {3, 4, 5}, {axes({0, 2})}, {3, 4, 5}, [](const Index& at) {
    return Index{2 - at[0], at[1], 4 - at[2]};
  });
  check_movement("reverse", {70000}, {i(0)}, {70000}, [](const Index& at) { return Index{69999 - at[0]}; });
  CHECK(error_of([] { call_op("reverse", {ints({2}), i(1)}); }).starts_with("E2004"));
}

TEST_CASE("broadcast and tile [ops]") {
  check_movement("broadcast", {3, 1}, {i(2), i(3), i(4)}, {2, 3, 4}, [](const Index& at) { return Index{at[1], 0}; });
  check_movement("broadcast", {}, {i(2), i(2)}, {2, 2}, [](const Index&) { return Index{}; });
  check_movement("tile", {2, 3}, {i(1), i(3)}, {2, 9}, [](const Index& at) { return Index{at[0], at[1] % 3}; });
  check_movement("tile", {2, 3}, {i(0), i(2)}, {4, 3}, [](const Index& at) { return Index{at[0] % 2, at[1]}; });
  CHECK(call_op("tile", {ints({2, 3}), i(1), i(0)}).extents() == Extents{2, 0});
  CHECK(error_of([] { call_op("broadcast", {ints({3}), i(2)}); }).starts_with("E2001"));
  CHECK(error_of([] { call_op("broadcast", {ints({3, 3}), i(3)}); }).starts_with("E2001"));
  CHECK(error_of([] { call_op("tile", {ints({3}), i(0), i(-1)}); }).starts_with("E2004"));
}

TEST_CASE("reshape, drop and lift keep the order of the elements [ops]") {
  Array x = ints({4, 6});
  for (const auto& [op, rest, shape] :
       std::vector<std::tuple<const char*, std::vector<Value>, Extents>>{{"reshape", {i(2), i(12)}, {2, 12}},
                                                                         {"reshape", {i(3), i(-1)}, {3, 8}},
                                                                         {"reshape", {i(-1)}, {24}},
                                                                         {"lift", {i(1)}, {4, 1, 6}},
                                                                         {"lift", {axes({0, 3})}, {1, 4, 6, 1}}}) {
    CAPTURE(op);
    std::vector<Value> operands{x};
    operands.insert(operands.end(), rest.begin(), rest.end());
    Array y = call_op(op, operands);
    CHECK(y.extents() == shape);
    CHECK(print(call_op("reshape", {y, i(24)})) == print(call_op("reshape", {x, i(24)})));
  }
  CHECK(call_op("drop", {ints({1, 3, 1}), axes({0, 2})}).extents() == Extents{3});
  CHECK(call_op("reshape", {ints({1, 1})}).extents().empty());
  CHECK(error_of([] { call_op("drop", {ints({2, 3}), i(0)}); }).starts_with("E2001"));
  CHECK(error_of([] { call_op("reshape", {ints({2, 3}), i(4)}); }).starts_with("E2001 shapes differ"));
  CHECK(error_of([] { call_op("reshape", {ints({2, 3}), i(4), i(-1)}); }).starts_with("E2001"));
  CHECK(error_of([] { call_op("reshape", {ints({2, 3}), i(0), i(-1)}); }).starts_with("E2001"));
  CHECK(error_of([] { call_op("reshape", {ints({2, 3}), i(-1), i(-1)}); }).starts_with("E1003"));
  CHECK(error_of([] { call_op("reshape", {ints({2, 3}), i(-2), i(-3)}); }).starts_with("E2004"));
}

TEST_CASE("slice [ops]") {
  check_movement("slice", {5, 6}, {"i", i(3), i(4)}, {6}, [](const Index& at) { return Index{3, at[0]}; });
  check_movement("slice", {5, 6}, {"*r", i(0), i(5), i(2), i(6)}, {5, 4}, [](const Index& at) {
    return Index{at[0], at[1] + 2};
  });
  check_movement("slice", {4, 5, 6}, {"iri", i(1), i(2), i(0), i(3), i(5), i(6)}, {3}, [](const Index& at) {
    return Index{1, at[0], 5};
  });
  check_movement("slice", {200, 300}, {"rr", i(10), i(190), i(5), i(295)}, {180, 290}, [](const Index& at) {
    return Index{at[0] + 10, at[1] + 5};
  });
  CHECK(call_op("slice", {ints({4}), "r", i(4), i(4)}).extents() == Extents{0});
  CHECK(call_op("slice", {ints({4}), "r", i(3), i(1)}).extents() == Extents{0});
  CHECK(error_of([] { call_op("slice", {ints({4}), "i", i(4), i(5)}); }) == "E2004 4 is outside dimension 0 of i32[4]");
  CHECK(error_of([] {
          call_op("slice", {ints({4}), "r", i(2), i(9)});
        }) == "E2004 2..9 is outside dimension 0 of i32[4]");
  CHECK(error_of([] {
          call_op("slice", {ints({4}), "i", i(-1), i(0)});
        }) ==
        "E2004 -1 is outside dimension 0 of i32[4] | indices count from 0, in ranges too; from the end: "
        "x.shape[0] - 1");
  CHECK(error_of([] { call_op("slice", {ints({4}), "ii", i(0), i(1), i(0), i(1)}); }).starts_with("E2004 2 indices"));
  CHECK(error_of([] { call_op("slice", {ints({4}), "x", i(0), i(1)}); }).starts_with("E1003"));
  CHECK(error_of([] { call_op("slice", {ints({4}), "r", i(0)}); }).starts_with("E1003"));
}

TEST_CASE("pad and shift [ops]") {
  auto inside = [](std::int64_t at, std::int64_t extent) { return at >= 0 && at < extent; };
  check_movement(
      "pad", {3, 4}, {i(1), i(2), i(1), i(7)}, {3, 7},
      [&](const Index& at) {
        return inside(at[1] - 2, 4) ? std::optional<Index>({at[0], at[1] - 2}) : std::nullopt;
      },
      7);
  check_movement("pad", {2, 3}, {i(0), i(0), i(2)}, {4, 3}, [&](const Index& at) {
    return inside(at[0], 2) ? std::optional<Index>({at[0], at[1]}) : std::nullopt;
  });
  for (std::int64_t by : {0, 1, -2, 5, -9}) {
    CAPTURE(by);
    check_movement("shift", {2, 5, 3}, {i(1), i(by)}, {2, 5, 3}, [&](const Index& at) {
      return inside(at[1] - by, 5) ? std::optional<Index>({at[0], at[1] - by, at[2]}) : std::nullopt;
    });
    check_movement("shift", {2, 5, 3}, {i(1), i(by), true}, {2, 5, 3}, [&](const Index& at) {
      return Index{at[0], ((at[1] - by) % 5 + 5) % 5, at[2]};
    });
  }
  CHECK(call_op("shift", {ints({0}), i(0), i(3), true}).extents() == Extents{0});
  CHECK(error_of([] { call_op("pad", {ints({3}), i(0), i(-1), i(0)}); }).starts_with("E2004"));
  CHECK(error_of([] {
          call_op("pad", {random_array({Precision::i8, {3}}, 1), i(0), i(1), i(0), i(300)});
        }) == "E2003 300 does not fit i8 (-128..127)");
  CHECK(error_of([] { call_op("pad", {ints({3}), i(0), i(1), i(0), 0.5}); }).starts_with("E2002"));
}

TEST_CASE("concat [ops]") {
  for (Precision p : sizes) {
    Array a = random_array({p, {2, 3}}, 1), b = random_array({p, {2, 1}}, 2), c = random_array({p, {2, 0}}, 3);
    Array y = call_op("concat", {List{a, b, c, a}, i(1)});
    CHECK(y.extents() == Extents{2, 7});
    CHECK(misplaced(a, call_op("slice", {y, "*r", i(0), i(2), i(0), i(3)}), [](const Index& at) { return at; }) == 0);
    CHECK(misplaced(b, call_op("slice", {y, "*r", i(0), i(2), i(3), i(4)}), [](const Index& at) { return at; }) == 0);
    CHECK(misplaced(a, call_op("slice", {y, "*r", i(0), i(2), i(4), i(7)}), [](const Index& at) { return at; }) == 0);
  }
  CHECK(error_of([] {
          call_op("concat", {List{ints({2}), random_array({Precision::f32, {2}}, 1)}, i(0)});
        }).starts_with("E2002 precision differs: i32 and f32"));
  CHECK(error_of([] {
          call_op("concat", {List{ints({2, 2}), ints({3, 3})}, i(0)});
        }).starts_with("E2001 shapes differ: i32[2, 2] and i32[3, 3] in concat; dimension 1 is 2 against 3"));
  CHECK(error_of([] { call_op("concat", {List{ints({2}), ints({2, 2})}, i(0)}); }).starts_with("E2001"));
  CHECK(error_of([] { call_op("concat", {List{ints({2})}, i(1)}); }).starts_with("E2004"));
  CHECK(error_of([] { call_op("concat", {List{}, i(0)}); }).starts_with("E1003"));
}

TEST_CASE("gather [ops]") {
  for (Precision p : {Precision::i8, Precision::u4, Precision::u16, Precision::i32, Precision::i64}) {
    Array index = array_of(List{i(2), i(0), i(2)}, p);
    check_movement("gather", {3, 4}, {index, i(0)}, {3, 4}, [](const Index& at) {
      return Index{at[0] == 1 ? 0 : 2, at[1]};
    });
    check_movement("gather", {4, 3}, {index, i(1)}, {4, 3}, [](const Index& at) {
      return Index{at[0], at[1] == 1 ? 0 : 2};
    });
  }
  Array one = Array::make({Precision::i64, {}});
  one.set_integer(0, 1);
  check_movement("gather", {3, 4, 5}, {one, i(1)}, {3, 5}, [](const Index& at) { return Index{at[0], 1, at[1]}; });
  Array table = array_of(List{Value(List{i(0), i(1)}), Value(List{i(2), i(2)})}, Precision::i32);
  check_movement("gather", {3, 2}, {table, i(0)}, {2, 2, 2}, [](const Index& at) {
    return Index{at[0] == 1 ? 2 : at[1], at[2]};
  });
  one.set_integer(0, 3);
  CHECK(error_of([&] { call_op("gather", {ints({3}), one, i(0)}); }) == "E5003 index 3 is outside 0..3");
  one.set_integer(0, -1);
  CHECK(error_of([&] { call_op("gather", {ints({3}), one, i(0)}); }) == "E5003 index -1 is outside 0..3");
  CHECK(error_of([] {
          call_op("gather", {ints({3}), random_array({Precision::f32, {}}, 1), i(0)});
        }).starts_with("E2002 an index is an integer tensor"));
}

TEST_CASE("scatter_add adds in the order of the indices, however its work is shared out [ops]") {
  constexpr std::int64_t rows = 3000, columns = 32, count = 60'000;
  const Array x = random_array({Precision::f32, {2, rows, columns}}, 1),
              updates = random_array({Precision::f32, {2, count, columns}}, 2);
  Array index = Array::make({Precision::i32, {count}});
  for (std::int64_t k = 0; k < count; ++k) index.set_integer(k, k * k % rows);
  std::vector<float> expected(static_cast<std::size_t>(x.elements()));
  for (std::int64_t e = 0; e < x.elements(); ++e)
    expected[static_cast<std::size_t>(e)] = static_cast<float>(x.number(e));
  for (std::int64_t o = 0; o < 2; ++o)
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t c = 0; c < columns; ++c)
        expected[static_cast<std::size_t>((o * rows + index.integer(k)) * columns + c)] +=
            static_cast<float>(updates.number((o * count + k) * columns + c));
  Shuffled shuffled;
  const Array y = call_op("scatter_add", {x, index, updates, i(1)}, shuffled);
  CHECK(std::memcmp(y.raw(), expected.data(), y.bytes()) == 0);
}

TEST_CASE("scatter_add undoes gather where no index repeats, and adds where one does [ops]") {
  Array x = ints({3, 2}), index = array_of(List{i(2), i(0), i(2)}, Precision::i64), updates = ints({3, 2});
  Array y = call_op("scatter_add", {x, index, updates, i(0)});
  auto at = [](const Array& a, int row, int column) { return a.integer(row * 2 + column); };
  for (int c : {0, 1}) {
    CHECK(at(y, 0, c) == at(x, 0, c) + at(updates, 1, c));
    CHECK(at(y, 1, c) == at(x, 1, c));
    CHECK(at(y, 2, c) == at(x, 2, c) + at(updates, 0, c) + at(updates, 2, c));
  }
  Array bytes = array_of(List{i(100)}, Precision::i8), twice = array_of(List{i(0), i(0)}, Precision::i64);
  Array more = array_of(List{i(100), i(100)}, Precision::i8);
  CHECK(call_op("scatter_add", {bytes, twice, more, i(0)}).integer(0) == 300 - 256);
  CHECK(error_of([&] { call_op("scatter_add", {x, index, ints({2, 2}), i(0)}); }).starts_with("E2001"));
  CHECK(error_of([&] { call_op("scatter_add", {ints({2}), index, ints({3}), i(0)}); }).starts_with("E5003"));
}

}  // namespace taskspec::ops_movement_test
