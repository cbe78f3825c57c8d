// Which elements of a region a shard touches, and when its memory is to have room for those alone.
#include "interp/shards/data/touched_elements.hpp"

#include <doctest/doctest.h>

namespace taskspec::touched_elements_test {

namespace {

using Memory = TouchedElements::Memory;
using Why = TouchedElements::Why;

constexpr std::int64_t large = 1 << 22;

struct Forest {
  Forest() {
    cells = forest.add({"Cell", "cells", Rect::of({large}), {{"a", Precision::i8}, {"b", Precision::f64}}});
    few = forest.add({"Cell", "few", Rect::of({1000}), {{"a", Precision::f64}}});
  }
  RegionForest forest;
  RegionId cells, few;
};

struct Change {
  RegionId root;
  std::int64_t held = 0;  // 0: all
  friend bool operator==(const Change&, const Change&) = default;
};

std::vector<Change> changes(TouchedElements& touched) {
  std::vector<Change> all;
  touched.each_change([&](RegionId root, std::shared_ptr<const PackedPlaces> packed) {
    all.push_back({root, packed ? packed->held().size() : 0});
  });
  return all;
}

Intervals thin(std::int64_t first, std::int64_t count) {
  std::vector<Run> runs;
  for (std::int64_t k = 0; k < count; ++k) runs.push_back({first + k * 65536, first + k * 65536 + 1});
  return Intervals::of(std::move(runs));
}

}  // namespace

TEST_CASE("[data] memory has room for what is touched, where that pays") {
  Forest of;
  TouchedElements touched(of.forest, Memory::automatic);
  CHECK(touched.asks(of.cells));
  CHECK_FALSE(touched.asks(of.few));  // too small to save anything
  CHECK(touched.is_new(of.cells, Why::points, 7));
  CHECK_FALSE(touched.is_new(of.cells, Why::points, 7));
  CHECK(touched.is_new(of.cells, Why::total, 7));
  touched.add(of.cells, thin(5, 30));
  CHECK(changes(touched) == std::vector{Change{of.cells, 30}});
  touched.add(of.cells, thin(5, 20));  // known
  CHECK(changes(touched).empty());
  touched.add(of.cells, thin(6, 20));
  touched.add(of.cells, thin(7, 20));
  CHECK(changes(touched) == std::vector{Change{of.cells, 70}});
  touched.add(of.cells, Intervals::of({{0, large / 2}}));  // now most of what is touched lies close together
  CHECK(changes(touched) == std::vector{Change{of.cells, 0}});
  touched.add(of.cells, Intervals::of({{0, large}}));
  CHECK(changes(touched).empty());
  CHECK_FALSE(touched.asks(of.cells));  // it has all
  touched.forget_numbers();
  CHECK_FALSE(touched.is_new(of.cells, Why::points, 7));
}

TEST_CASE("[data] a region is told of when it is first touched, whatever its memory: plans then stay") {
  Forest of;
  TouchedElements touched(of.forest, Memory::automatic);
  touched.add(of.cells, Intervals::of({{0, large / 2}}));
  CHECK(changes(touched) == std::vector{Change{of.cells, 0}});
  touched.add(of.cells, thin(large / 2 + 9, 20));
  CHECK(changes(touched).empty());
  TouchedElements untouched(of.forest, Memory::packed);
  untouched.add(of.few, Intervals());  // by no point of this shard
  CHECK(changes(untouched) == std::vector{Change{of.few, 0}});
  untouched.add(of.few, Intervals::of({{3, 4}}));
  CHECK(changes(untouched) == std::vector{Change{of.few, 1}});
}

TEST_CASE("[data] memory of instances may be asked for, and a region that comes after another begins anew") {
  Forest of;
  TouchedElements flat(of.forest, Memory::flat), packed(of.forest, Memory::packed);
  flat.add(of.cells, thin(0, 9));
  CHECK(changes(flat).empty());
  packed.add(of.few, Intervals::of({{0, 999}}));
  CHECK(changes(packed) == std::vector{Change{of.few, 999}});
  packed.add(of.few, Intervals::of({{1, 2}}));
  CHECK(packed.packed_elements() == 999);
  packed.forget(of.few);
  CHECK(packed.packed_elements() == 0);
  CHECK(changes(packed).empty());
  packed.add(of.few, Intervals::of({{1, 2}}));
  of.forest.remove(of.few);
  const RegionId next = of.forest.add({"Cell", "next", Rect::of({10}), {{"a", Precision::f64}}});
  REQUIRE(next == of.few);
  CHECK(packed.of(next).empty());
  packed.add(next, Intervals::of({{4, 6}}));
  CHECK(changes(packed) == std::vector{Change{next, 2}});
}

}  // namespace taskspec::touched_elements_test
