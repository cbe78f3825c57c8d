// Memory of the host backend, through its interface and below it.
#include <doctest/doctest.h>

#include "interp/host/memory.hpp"
#include "interp/host/null_backend.hpp"
#include "tests/unit/host_graphs.hpp"

namespace taskspec::host_memory_test {

namespace {
const ArrayType four{Precision::i64, {4}};
}

TEST_CASE("what is written to a location is read from it, until it is freed [A15]") {
  auto backend = make_host_backend({.threads = 1});
  Location a = backend->allocate(four);
  backend->write(a, words_array({1, 2, 3, 4}));
  Location b = backend->copy(a);
  CHECK(array_words(backend->read(b)) == Words{1, 2, 3, 4});
  backend->write(b, words_array({5, 6, 7, 8}));
  CHECK(array_words(backend->read(a)) == Words{1, 2, 3, 4});
  Backend::Memory memory = backend->memory();
  CHECK(memory.allocations == 2);
  CHECK(memory.live_bytes == 64);
  backend->free(a);
  backend->free(b);
  memory = backend->memory();
  CHECK(memory.frees == 2);
  CHECK(memory.live_bytes == 0);
  CHECK(memory.peak_bytes == 64);
}

TEST_CASE("an array that was read keeps its values") {
  auto backend = make_host_backend({.threads = 1});
  Location a = backend->allocate(four);
  backend->write(a, words_array({1, 2, 3, 4}));
  Array seen = backend->read(a);
  backend->write(a, words_array({9, 9, 9, 9}));
  CHECK(array_words(seen) == Words{1, 2, 3, 4});
  Array again = backend->read(a);
  backend->free(a);
  CHECK(array_words(again) == Words{9, 9, 9, 9});
}

TEST_CASE("locations are told apart when positions are used again") {
  MemoryCount count;
  Locations locations(count);
  Location first = locations.add(four);
  locations.free(first);
  Location second = locations.add(four);
  CHECK(first != second);
  CHECK(locations.type(second) == four);
}

TEST_CASE("too much memory is refused with E5008, and nothing stays counted") {
  auto backend = make_host_backend({.threads = 1});
  ArrayType huge{Precision::f64, {std::int64_t{1} << 56}};
  try {
    backend->allocate(huge);
    FAIL("this machine has 2^59 bytes?");
  } catch (const Error& error) {
    CHECK(error.diags().items().front().code == Code("E5008"));
  }
  CHECK(backend->memory().live_bytes == 0);
  CHECK(backend->memory().allocations == backend->memory().frees);
}

TEST_CASE("borrowed bytes come back and are lent again") {
  MemoryCount count;
  BytesCache cache(count);
  MemoryBlock lent = cache.borrow(1000);
  std::byte* where = lent.data();
  CHECK(reinterpret_cast<std::uintptr_t>(where) % 64 == 0);
  cache.give_back(std::move(lent), 1000);
  CHECK(count.now().live_bytes == 0);
  MemoryBlock again = cache.borrow(500);
  CHECK(again.data() == where);
  CHECK(count.now().live_bytes == 500);
  cache.give_back(std::move(again), 500);
  CHECK(count.now().allocations == 2);
  CHECK(count.now().frees == 2);
}

TEST_CASE("the null backend counts and gives zeros") {
  auto backend = make_null_backend();
  MixGraph g;
  g.result(g.add(g.add({g.input(4)}, {2}), {3})[0]);
  auto plan = make_plan(g.graph, aggregate(*g.graph));
  NoBodies bodies;
  auto ready = backend->prepare(plan, bodies);
  Location x = backend->allocate(four);
  Outcome outcome = backend->execute(*ready, std::vector{x}, {});
  CHECK(g.tasks[0].runs == 0);
  CHECK(outcome.tasks_run == 2);
  CHECK(outcome.dispatches == 1);
  Location y = std::get<Location>(outcome.results[0]);
  CHECK(array_words(backend->read(y)) == Words{0, 0, 0});
  backend->free(x);
  backend->free(y);
  CHECK(backend->memory().allocations == backend->memory().frees);
  CHECK(backend->memory().live_bytes == 0);
}

// What a run has bound it need not bind anew.
TEST_CASE("[memory] the number of changes is another one whenever bytes that a run was handed may not do any more") {
  MemoryCount count(memory_limit(), {});
  Locations locations(count);
  const ArrayType type(Precision::i64, {2});
  const Location a = locations.add(type), b = locations.add(type);
  const std::vector<Location> inputs = {a, b};
  const std::vector<ArrayType> types = {type, type};
  const std::vector<char> alone = {1, 0};
  std::vector<std::byte*> handed(2);
  const auto hand = [&] {
    return locations.each_input(inputs, types, alone, [&](std::size_t i, std::byte* bytes) { handed[i] = bytes; });
  };
  const std::uint64_t before = hand();
  locations.write(a, Array::make(type));  // in place
  const std::vector<std::uint64_t> bits = {7, 8};
  locations.write_numbers(inputs, bits);
  CHECK(locations.changes() == before);
  CHECK(locations.share(b).integer(0) == 8);
  CHECK(locations.changes() != before);
  // Somebody has the array: who writes over the value must not write there.
  const std::uint64_t again = hand();
  const Array kept = locations.share(a);
  CHECK(locations.changes() != again);
  const std::byte* const shared = handed[0];
  const std::uint64_t moved = hand();
  CHECK(handed[0] != shared);
  CHECK(kept.integer(0) == 7);
  CHECK(locations.changes() == moved);
  const Location c = locations.add(type);
  CHECK(locations.changes() != moved);
  const std::uint64_t with_c = hand();
  locations.free(c);
  CHECK(locations.changes() != with_c);
}

}  // namespace taskspec::host_memory_test
