// The memory of the host backend as an allocator: what it counts, what becomes of freed bytes, and that nothing is
// left.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "interp/host/memory.hpp"
#include "tests/unit/host_graphs.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::alloc_test {

namespace {

// The system's memory, with an account of its own: each block, and what was in it when it came back.
struct Ledger {
  std::map<std::byte*, std::size_t> blocks;      // that are taken now
  std::vector<std::vector<std::byte>> returned;  // their bytes
  static Ledger& open() {
    static Ledger ledger;
    return ledger;
  }
  static std::byte* take(std::size_t bytes) {
    auto* block = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64));
    open().blocks.emplace(block, bytes);
    return block;
  }
  static void give(std::byte* block, std::size_t bytes) {
    CHECK(open().blocks.at(block) == bytes);
    open().blocks.erase(block);
    open().returned.emplace_back(block, block + bytes);
    std::free(block);
  }
};

MemoryOptions watched(bool poison) {
  Ledger::open() = {};
  MemoryOptions options;
  options.poison = poison;
  options.take = Ledger::take;
  options.give = Ledger::give;
  return options;
}

bool all_are(std::span<const std::byte> bytes, std::byte pattern) {
  return std::ranges::all_of(bytes, [&](std::byte b) { return b == pattern; });
}

ArrayType bytes_type(std::int64_t bytes) { return {Precision::u8, {bytes}}; }

}  // namespace

TEST_CASE("[memory] bytes now and at most are those of the blocks that are there [L16] [alloc]") {
  for (std::uint64_t seed : random_seeds(20, 1000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    MemoryCount count(UINT64_MAX, watched(false));
    std::uint64_t live = 0, peak = 0, taken = 0, freed = 0;
    {
      Locations locations(count);
      BytesCache cache(count);
      std::vector<std::pair<Location, std::size_t>> held;
      std::vector<std::pair<MemoryBlock, std::size_t>> lent;
      for (int turn = 0; turn < 300; ++turn) {
        const std::size_t bytes = 1 + random() % 5000;
        switch (random() % 4) {
          case 0:
            held.emplace_back(locations.add(bytes_type(static_cast<std::int64_t>(bytes))), bytes);
            live += bytes, ++taken;
            break;
          case 1:
            lent.emplace_back(cache.borrow(bytes), bytes);
            live += bytes, ++taken;
            break;
          case 2:
            if (held.empty()) break;
            locations.free(held.back().first);
            live -= held.back().second, ++freed;
            held.pop_back();
            break;
          default:
            if (lent.empty()) break;
            live -= lent.back().second, ++freed;
            cache.give_back(std::move(lent.back().first), lent.back().second);
            lent.pop_back();
        }
        peak = std::max(peak, live);
        const Backend::Memory now = count.now();
        REQUIRE(now.live_bytes == live);
        REQUIRE(now.peak_bytes == peak);
        REQUIRE(now.allocations == taken);
        REQUIRE(now.frees == freed);
      }
      for (auto& [block, bytes] : lent) live -= bytes, cache.give_back(std::move(block), bytes);
      for (const auto& [location, bytes] : held) live -= bytes;
    }  // what is still in the table goes with it
    CHECK(live == 0);
    CHECK(count.now().live_bytes == 0);
    CHECK(Ledger::open().blocks.empty());  // nor has the system lost a block
  }
}

TEST_CASE("[memory] with poison new bytes and freed ones are filled, whole [L16] [alloc]") {
  constexpr std::int64_t many = 300'000;  // more than a build with assertions fills by itself
  MemoryCount count(UINT64_MAX, watched(true));
  Locations locations(count);
  const Location location = locations.add(bytes_type(many));
  CHECK(all_are({locations.data(location), many}, MemoryOptions::fresh));
  std::memset(locations.data(location), 7, many);
  locations.free(location);
  REQUIRE(Ledger::open().returned.size() == 1);
  CHECK(all_are(Ledger::open().returned[0], MemoryOptions::dead));
}

TEST_CASE("[memory] with poison lent bytes are filled when they are lent, and when they come back [L16] [alloc]") {
  MemoryCount count(UINT64_MAX, watched(true));
  BytesCache cache(count);
  MemoryBlock lent = cache.borrow(100'000);
  std::byte* const where = lent.data();
  CHECK(all_are({where, 100'000}, MemoryOptions::fresh));
  std::memset(where, 7, 100'000);
  cache.give_back(std::move(lent), 100'000);
  CHECK(all_are({where, 100'000}, MemoryOptions::dead));  // the cache keeps the block
  MemoryBlock again = cache.borrow(50'000);
  REQUIRE(again.data() == where);
  CHECK(all_are({where, 50'000}, MemoryOptions::fresh));
  cache.give_back(std::move(again), 50'000);
}

TEST_CASE("[memory] without poison bytes that come back from the cache are as they were left [L16] [alloc]") {
  MemoryCount count(UINT64_MAX, watched(false));
  BytesCache cache(count);
  MemoryBlock lent = cache.borrow(1000);
  std::byte* const where = lent.data();
  std::memset(where, 7, 1000);
  cache.give_back(std::move(lent), 1000);
  CHECK(all_are({where, 1000}, std::byte{7}));
}

TEST_CASE("[memory] an array that was read keeps its bytes until it is gone itself [L16] [alloc]") {
  MemoryCount count(UINT64_MAX, watched(true));
  Locations locations(count);
  const Location location = locations.add(bytes_type(100));
  std::memset(locations.data(location), 7, 100);
  {
    const Array seen = locations.share(location);
    locations.free(location);
    CHECK(all_are({seen.raw(), 100}, std::byte{7}));
    CHECK(Ledger::open().returned.empty());
  }
  REQUIRE(Ledger::open().returned.size() == 1);
  CHECK(all_are(Ledger::open().returned[0], MemoryOptions::dead));
}

TEST_CASE("[memory] when the system has no block, nothing stays counted [L16] [alloc]") {
  MemoryOptions options = watched(true);
  options.take = [](std::size_t) -> std::byte* { return nullptr; };
  MemoryCount count(UINT64_MAX, options);
  Locations locations(count);
  BytesCache cache(count);
  for (const auto& ask : {std::function<void()>([&] { locations.add(bytes_type(10)); }),
                          std::function<void()>([&] { cache.borrow(10); })}) {
    try {
      ask();
      FAIL("there was no block to have");
    } catch (const Error& error) {
      CHECK(error.diags().items().front().code == Code("E5008"));
    }
    CHECK(count.now().live_bytes == 0);
    CHECK(count.now().allocations == count.now().frees);
  }
}

TEST_CASE("[memory] a thousand steps of training leave nothing, and take no more than ten [L16] [alloc]") {
  const auto run = [](int steps) {
    RunSettings settings;
    settings.threads = 2;
    const Ran ran = run_text(fmt::format(R"(import nn
agent Net() {{
  layer a = nn.Linear(8, 16, act: "relu", seed: 1)
  layer norm = nn.BatchNorm(16)
  weight w: f32[16, 1] = glorot_uniform(seed: 2)
  task last(in x: f32[B, 16]) -> (y: f32[B, 1]) {{ y = nn.dropout(x, rate: 0.25) @ w }}
  graph forward(x: f32[B, 8]) -> (y: f32[B, 1]) {{ y = last(norm.forward(a.forward(x).y).y).y }}
}}
let m = train(Net(), loss: "mse_avg", optimizer: adam(), metrics: ["mae"])
let x = normal(f32[32, 8], seed: 3)
let y = x.sum(1)
for k in 0..{} {{
  m.step(x, y)
  if k % 5 == 0 {{ assert(m.loss.scalar >= 0.0) }}
}}
)",
                                         steps),
                             settings);
    CHECK(ran.errors == "");
    return ran.report;
  };
  const SessionReport few = run(10), many = run(1000);
  for (const SessionReport* report : {&few, &many}) {
    CHECK(report->memory.live_bytes == 0);
    CHECK(report->memory.allocations == report->memory.frees);
  }
  CHECK(many.memory.allocations > few.memory.allocations);
  CHECK(many.memory.peak_bytes <=
        few.memory.peak_bytes + few.memory.peak_bytes / 4);  // scratch by workers that took part
}

TEST_CASE("[memory] a run that fails in the middle leaves nothing [L16] [alloc]") {
  const Ran ran = run_text(
      "task third(in x: i64[4]) -> (y: i64[4]) { y = 12 / (x - 2) }\n"
      "let a = third(iota(4)).y + 1\nlet b = iota(4) * 3\nprint(b.array)\nprint(a.array)\n");
  CHECK(ran.code == 3);
  CHECK(ran.report.memory.live_bytes == 0);
  CHECK(ran.report.memory.allocations == ran.report.memory.frees);
}

TEST_CASE("[memory] results do not change when memory is poisoned [L16] [alloc]") {
  const auto run = [](const std::string& backend) {
    return run_text(
        "import nn\nagent Net() {\n  layer a = nn.Linear(8, 16, act: \"relu\", seed: 1)\n  layer b = nn.Linear(16, 1, "
        "seed: 2)\n"
        "  graph forward(x: f32[B, 8]) -> (y: f32[B, 1]) { y = b.forward(a.forward(x).y).y }\n}\n"
        "fn learned() -> [[float]] {\n  let m = train(Net(), loss: \"mse_avg\", optimizer: sgd(lr: 0.01, momentum: "
        "0.9))\n"
        "  let x = normal(f32[32, 8], seed: 3)\n  for k in 0..20 { m.step(x, x.sum(1)) }\n"
        "  return m.eval().forward(x).y.array\n}\nlet r = run learned() on " +
        backend + "\nprint(r)\n");
  };
  const Ran plain = run("host(threads: 2)"), poisoned = run("host(threads: 2, poison: true)");
  CHECK(plain.errors == "");
  CHECK(poisoned.errors == "");
  CHECK(plain.output == poisoned.output);
}

}  // namespace taskspec::alloc_test
