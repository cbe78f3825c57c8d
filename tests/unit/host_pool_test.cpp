// The deque, the pool and data-parallel loops, under stress: these run under ThreadSanitizer too.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <numeric>
#include <system_error>

#include "interp/host/pool.hpp"

namespace taskspec::host_pool_test {

TEST_CASE("a deque gives every range to exactly one thread") {
  constexpr std::uint32_t count = 20'000;
  StepDeque deque;
  std::vector<std::atomic<int>> taken(count);
  std::atomic<bool> done{false};
  auto take = [&](StepRange range) {
    for (std::uint32_t i = range.begin; i < range.end; ++i) taken[i].fetch_add(1);
  };
  std::vector<std::thread> thieves;
  for (int t = 0; t < 2; ++t)
    thieves.emplace_back([&] {
      for (StepRange range; !done.load() || !deque.empty();)
        if (deque.steal(range)) take(range);
    });
  StepRange range;
  for (std::uint32_t i = 0; i < count; i += 2) {
    deque.push({i, i + 2});
    if (i % 7 == 0 && deque.pop(range)) take(range);
  }
  while (deque.pop(range)) take(range);
  done = true;
  for (std::thread& thief : thieves) thief.join();
  CHECK(std::all_of(taken.begin(), taken.end(), [](const auto& n) { return n == 1; }));
}

TEST_CASE("a deque is last in first out for its owner, first in first out for thieves, and grows") {
  StepDeque deque;
  for (std::uint32_t i = 0; i < 1000; ++i) deque.push({i, i + 1});
  StepRange range;
  REQUIRE(deque.pop(range));
  CHECK(range.begin == 999);
  REQUIRE(deque.steal(range));
  CHECK(range.begin == 0);
  for (int i = 0; i < 998; ++i) REQUIRE(deque.pop(range));
  CHECK(range.begin == 1);
  CHECK(!deque.pop(range));
  CHECK(!deque.steal(range));
}

namespace {

// A binary tree of ranges: each one longer than 1 is pushed as two halves.
class Tree final : public Job {
 public:
  Tree(Pool& pool, std::uint32_t leaves) : pool_(pool), seen(leaves), left_(leaves) {}
  void process(Worker& worker, StepRange range) override {
    if (range.size() > 1) {
      std::uint32_t middle = range.begin + range.size() / 2;
      worker.push({range.begin, middle});
      worker.push({middle, range.end});
      return;
    }
    seen[range.begin].fetch_add(1);
    if (left_.fetch_sub(1) == 1) pool_.finish();
  }

 private:
  Pool& pool_;

 public:
  std::vector<std::atomic<int>> seen;

 private:
  std::atomic<std::uint32_t> left_;
};

}  // namespace

TEST_CASE("a pool processes everything that is pushed, run after run") {
  for (std::uint32_t threads : {1U, 2U, 4U}) {
    CAPTURE(threads);
    Pool pool(threads);
    for (int round = 0; round < 30; ++round) {
      Tree tree(pool, 257);
      Pool::Entry entry(pool);
      pool.run(entry.worker(), tree, {0, 257});
      CHECK(std::all_of(tree.seen.begin(), tree.seen.end(), [](const auto& n) { return n == 1; }));
      if (round % 10 == 9) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // all asleep
    }
  }
}

TEST_CASE("a data-parallel loop covers its range once, in parts that threads do not change") {
  for (std::uint32_t threads : {1U, 2U, 4U}) {
    CAPTURE(threads);
    Pool pool(threads);
    Pool::Entry entry(pool);
    for (std::int64_t count : {0, 1, 99, 100, 101, 5000}) {
      CAPTURE(count);
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
      std::atomic<int> odd_parts{0};
      entry.worker().parallel().for_each(count, 100, [&](std::int64_t begin, std::int64_t end) {
        if (begin % 100 != 0 || (end != begin + 100 && end != count)) ++odd_parts;
        for (std::int64_t i = begin; i < end; ++i) seen[static_cast<std::size_t>(i)].fetch_add(1);
      });
      CHECK(odd_parts == 0);
      CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }));
    }
  }
}

TEST_CASE("a loop inside a part of a loop works, and what a part throws reaches the caller") {
  Pool pool(2);
  Pool::Entry entry(pool);
  Parallel& parallel = entry.worker().parallel();
  std::atomic<std::int64_t> sum{0};
  parallel.for_each(8, 1, [&](std::int64_t begin, std::int64_t) {
    parallel.for_each(100, 10, [&](std::int64_t b, std::int64_t e) { sum += (e - b) * (begin + 1); });
  });
  CHECK(sum == 3600);
  CHECK_THROWS_AS(parallel.for_each(8, 1,
                                    [](std::int64_t b, std::int64_t) {
                                      if (b == 5) throw std::runtime_error("part");
                                    }),
                  std::runtime_error);
  sum = 0;
  parallel.for_each(8, 1, [&](std::int64_t, std::int64_t) { ++sum; });
  CHECK(sum == 8);
}

namespace {

using namespace std::chrono_literals;

template <class Condition>
bool comes_true(Condition&& condition) {
  const auto until = std::chrono::steady_clock::now() + 5s;
  while (!condition())
    if (std::chrono::steady_clock::now() > until)
      return false;
    else
      std::this_thread::sleep_for(1ms);
  return true;
}

// The caller makes a second piece of work when a worker has taken the first one, and still counts as searching. Both
// pieces then wait for each other: three workers can do that, if the third one is woken.
class Meeting final : public Job {
 public:
  void process(Worker& worker, StepRange range) override {
    if (range.begin == 0) {
      std::this_thread::sleep_for(20ms);  // the others are asleep
      worker.push({1, 2});
      if (!comes_true([&] { return taken.load(); })) return pool->finish();
      worker.push({2, 3});
      made = true;
      met = comes_true([&] { return first && second; });
      done = true;
      return pool->finish();
    }
    (range.begin == 1 ? first : second) = true;
    comes_true([&] { return done.load(); });
  }
  // By who has found the first piece.
  void found() {
    if (taken.exchange(true)) return;
    comes_true([&] { return made.load(); });
  }

  Pool* pool = nullptr;
  std::atomic<bool> taken{false}, made{false}, first{false}, second{false}, done{false};
  bool met = false;
};

}  // namespace

TEST_CASE("work that is made while somebody searches is not slept through [queues]") {
  Meeting meeting;
  PoolHooks hooks;
  hooks.found = [&] { meeting.found(); };
  Pool pool(3, hooks);
  meeting.pool = &pool;
  Pool::Entry entry(pool);
  pool.run(entry.worker(), meeting, {0, 1});
  CHECK(meeting.met);
}

TEST_CASE("a pool makes do with the threads that can be started [queues]") {
  for (int possible : {0, 1, 2}) {
    CAPTURE(possible);
    int left = possible;
    auto start = [&](std::function<void()> work) {
      if (left-- == 0) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      return std::thread(std::move(work));
    };
    PoolHooks hooks;
    hooks.start = start;
    Pool pool(1024, hooks);
    CHECK(left == possible);  // nothing to share yet
    for (int round = 0; round < 3; ++round) {
      Tree tree(pool, 257);
      Pool::Entry entry(pool);
      pool.run(entry.worker(), tree, {0, 257});
      CHECK(std::all_of(tree.seen.begin(), tree.seen.end(), [](const auto& n) { return n == 1; }));
      std::atomic<std::int64_t> sum{0};
      entry.worker().parallel().for_each(1000, 10, [&](std::int64_t b, std::int64_t e) { sum += e - b; });
      CHECK(sum == 1000);
    }
    CHECK(pool.start() == static_cast<std::uint32_t>(possible) + 1);
  }
}

TEST_CASE("a pool knows which worker a thread is") {
  Pool pool(2);
  CHECK(pool.here() == nullptr);
  Pool::Entry entry(pool);
  CHECK(pool.here() == &entry.worker());
  std::thread([&] { CHECK(pool.here() == nullptr); }).join();
}

}  // namespace taskspec::host_pool_test
