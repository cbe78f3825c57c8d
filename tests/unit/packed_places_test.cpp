// Memory of some elements of a region alone: where they lie, when it pays, and that fields keep their contents when it
// changes.
#include "ir/region/packed_places.hpp"

#include <doctest/doctest.h>

#include "interp/host/host_backend.hpp"
#include "interp/session/field_memory.hpp"
#include "ir/base/large_vector.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::packed_places_test {

namespace {

Intervals random_runs(std::mt19937_64& random, std::int64_t end) {
  std::vector<Run> runs;
  // Dense in some parts, thin in others.
  for (std::int64_t at = between(random, 0, 40); at < end;) {
    runs.push_back({at, std::min(end, at + between(random, 1, random() % 8 == 0 ? 300 : 3))});
    at = runs.back().hi + between(random, 1, random() % 16 == 0 ? 5000 : 4);
  }
  return Intervals::of(std::move(runs));
}

constexpr std::int64_t points = 1000;

class Fields {
 public:
  Fields() : memory(*backend, graph) {
    region = graph.add_region({"Cell", "cells", Rect::of({points}), {{"a", Precision::f64}, {"b", Precision::i32}}});
  }
  Ref field(std::uint32_t number) const { return Ref::field(region, number); }
  // The element of that index, in a field that the backend shows as it lies.
  std::int32_t& at(std::int64_t index) {
    const std::shared_ptr<const FieldRoom> room = memory.room(region);
    Array array = backend->read(memory.location(field(1)));
    auto* first = const_cast<std::int32_t*>(static_cast<const std::int32_t*>(static_cast<const void*>(array.raw())));
    return first[place_in(room ? room->packed.get() : nullptr, index)];
  }
  std::shared_ptr<const PackedPlaces> places(std::vector<Run> runs) const {
    return std::make_shared<const PackedPlaces>(Intervals::of(std::move(runs)));
  }
  void change(std::shared_ptr<const PackedPlaces> wanted) {
    memory.want(region, std::move(wanted));
    memory.change();
  }

  TaskGraph graph;
  RegionId region;
  std::unique_ptr<PlanBackend> backend = make_host_backend({.threads = 1});
  FieldMemory memory;
};

}  // namespace

TEST_CASE("each held element has a place of its own, in their order") {
  for (const std::uint64_t seed : random_seeds(60, 600)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::int64_t end = between(random, 1, 20'000);
    const Intervals held = random_runs(random, end);
    if (held.empty()) continue;
    const PackedPlaces packed(held);
    std::int64_t before = 0, wrong = 0;
    for (std::int64_t index = -3; index < end + 3; ++index)
      wrong += packed.find(index) != (held.contains(index) ? before++ : -1);
    CHECK(wrong == 0);
    CHECK(before == held.size());
  }
}

TEST_CASE("memory of few elements pays where they touch many pages") {
  const auto thin = [](std::int64_t elements, std::int64_t apart) {
    std::vector<Run> runs;
    for (std::int64_t at = 0; at < elements; at += apart) runs.push_back({at, at + 1});
    return Intervals::of(std::move(runs));
  };
  constexpr std::int64_t small = 200'000, large = 4'000'000;  // less than a huge page; several
  CHECK(PackedPlaces::pays(thin(small, 512), small, 8));
  CHECK_FALSE(PackedPlaces::pays(thin(small, 2), small, 8));      // half of each page
  CHECK_FALSE(PackedPlaces::pays(thin(10'000, 512), 10'000, 8));  // a few pages
  CHECK(PackedPlaces::pays(thin(large, huge_page / 8), large, 8));
  CHECK_FALSE(PackedPlaces::pays(Intervals::of({{0, large / 2}, {large / 2 + 1, large}}), large, 8));
  // A block, and one element on either side.
  constexpr std::int64_t page = huge_page / 8;
  CHECK(PackedPlaces::pays(Intervals::of({{3 * page - 1, 4 * page + 1}}), 16 * page, 8) == false);
  CHECK_FALSE(PackedPlaces::pays({}, large, 8));
}

TEST_CASE("fields keep their contents when other elements get memory") {
  Fields fields;
  for (std::int64_t i = 0; i < points; ++i) fields.at(i) = static_cast<std::int32_t>(i);
  const auto all = fields.backend->memory().live_bytes;
  fields.change(fields.places({{10, 12}, {500, 501}}));
  CHECK(fields.backend->memory().live_bytes == all - (points - 3) * 4);
  CHECK(fields.at(11) == 11);
  CHECK(fields.at(500) == 500);
  const std::shared_ptr<const FieldRoom> room = fields.memory.room(fields.region);
  fields.change(fields.places({{3, 4}, {10, 13}, {500, 501}}));
  CHECK(fields.memory.room(fields.region) == room);  // plans that know it know the new places
  CHECK(fields.at(10) == 10);
  CHECK(fields.at(500) == 500);
  CHECK(fields.at(3) == 0);  // nobody had touched it
  // A field that nobody has used yet gets memory of the same elements.
  (void)fields.memory.location(fields.field(0));
  CHECK(fields.backend->memory().live_bytes == 5 * 4 + 5 * 8);
  fields.change(nullptr);
  CHECK(fields.at(11) == 11);
  CHECK(fields.at(999) == 0);
  CHECK(fields.memory.changes() == 3);
  fields.memory.want(fields.region, nullptr);
  fields.memory.change();
  CHECK(fields.memory.changes() == 3);  // it has that
}

TEST_CASE("a region whose memory changes again and again gets all of it, and one that comes after it begins anew") {
  Fields fields;
  for (std::int64_t i = 0; i < points; ++i) fields.at(i) = static_cast<std::int32_t>(i);
  for (std::int64_t k = 1; k <= 2 * FieldMemory::most_changes; ++k) fields.change(fields.places({{7, 7 + k}}));
  CHECK(fields.memory.changes() == FieldMemory::most_changes + 1);
  CHECK_FALSE(fields.memory.room(fields.region)->packed);
  CHECK(fields.at(7) == 7);
  fields.memory.want(fields.region, fields.places({{7, 9}}));
  fields.memory.drop(fields.region);
  fields.memory.change();
  CHECK_FALSE(fields.memory.room(fields.region));
  CHECK(fields.backend->memory().live_bytes == 0);
  fields.change(fields.places({{7, 9}}));
  CHECK(fields.at(8) == 0);
}

}  // namespace taskspec::packed_places_test
