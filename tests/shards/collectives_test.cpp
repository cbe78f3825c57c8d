// Collectives by one thread with random turns, by threads and by processes: results, rounds, many in flight.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/shards/networks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::collectives_test {

namespace {

constexpr auto largest = [](Bytes& into, ByteView other) { into[0] = std::max(into[0], other[0]); };
// Does not commute: what comes later is appended.
constexpr auto append = [](Bytes& into, ByteView other) { into.insert(into.end(), other.begin(), other.end()); };

Bytes byte(std::size_t value) { return {static_cast<std::byte>(value)}; }

unsigned log2_up(std::size_t n) {
  unsigned rounds = 0;
  while ((std::size_t{1} << rounds) < n) ++rounds;
  return rounds;
}

}  // namespace

TEST_CASE("[collectives] each gives its result in ceil(log2 S) rounds, S = 1..33") {
  for (std::size_t shards = 1; shards <= 33; ++shards) {
    CAPTURE(shards);
    TurnNetwork network(shards, shards);
    std::vector<Bytes> reduced(shards), broadcast(shards), greatest(shards);
    std::vector<std::vector<Bytes>> gathered(shards), exchanged(shards);
    std::size_t ended = 0;
    const ShardId root(shards / 2);
    for (std::size_t shard = 0; shard < shards; ++shard) {
      Collectives& c = network.at(shard);
      c.barrier({Purpose::fence, 1}, [&] { ++ended; });
      c.all_reduce({Purpose::fence, 2}, byte(shard), largest, [&, shard](Bytes v) { greatest[shard] = v, ++ended; });
      c.broadcast({Purpose::fence, 3}, root, byte(shard), [&, shard](Bytes v) { broadcast[shard] = v, ++ended; });
      c.reduce({Purpose::fence, 4}, root, byte(shard), append, [&, shard](Bytes v) { reduced[shard] = v, ++ended; });
      c.all_gather({Purpose::fence, 5}, Bytes(shard, std::byte{9}),
                   [&, shard](std::vector<Bytes> v) { gathered[shard] = v, ++ended; });
      CHECK(c.counts().rounds == 5 * log2_up(shards));
      std::vector<Bytes> parts;
      for (std::size_t to = 0; to < shards; ++to) parts.push_back(byte(shard * shards + to));
      c.exchange({Purpose::fence, 6}, parts, [&, shard](std::vector<Bytes> v) { exchanged[shard] = v, ++ended; });
      CHECK(c.counts().rounds == 5 * log2_up(shards) + (shards > 1));
    }
    REQUIRE(network.run_until([&] { return ended == 6 * shards; }));
    Bytes in_order;
    for (std::size_t i = 0; i < shards; ++i) in_order.push_back(byte((i + root.index()) % shards)[0]);
    for (std::size_t shard = 0; shard < shards; ++shard) {
      CHECK(greatest[shard] == byte(shards - 1));
      CHECK(broadcast[shard] == byte(root.index()));
      CHECK(reduced[shard] == (shard == root.index() ? in_order : Bytes{}));
      for (std::size_t of = 0; of < shards; ++of) {
        CHECK(gathered[shard][of] == Bytes(of, std::byte{9}));
        CHECK(exchanged[shard][of] == byte(of * shards + shard));
      }
      CHECK(network.at(shard).in_flight() == 0);
    }
  }
}

TEST_CASE("[collectives] a barrier ends nowhere before all have come to it") {
  for (const std::uint64_t seed : random_seeds(200, 5'000)) {
    CAPTURE(seed);
    const std::size_t shards = 2 + seed % 15;
    TurnNetwork network(shards, seed);
    std::vector<bool> has_come(shards);
    std::size_t come = 0, ended = 0;
    auto turn = [&](std::size_t shard) {
      if (has_come[shard] || network.random()() % 4) return;
      has_come[shard] = true;
      ++come;
      network.at(shard).barrier({Purpose::fence, 7}, [&] {
        CHECK(come == shards);
        ++ended;
      });
    };
    REQUIRE(network.run_until([&] { return ended == shards; }, turn));
  }
}

TEST_CASE("[collectives] many in flight, begun in another order on each shard, ended in any") {
  std::uint64_t overtaken = 0;
  for (const std::uint64_t seed : random_seeds(60, 1'000)) {
    CAPTURE(seed);
    const std::size_t shards = 1 + seed % 16, count = 40;
    TurnNetwork network(shards, seed, 12);
    std::vector<std::vector<std::size_t>> orders(shards);
    for (auto& order : orders) {
      order.resize(count);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::shuffle(order.begin(), order.end(), network.random());
    }
    std::size_t ended = 0;
    std::size_t most_in_flight = 0;
    auto turn = [&](std::size_t shard) {
      if (orders[shard].empty()) return;
      const std::size_t number = orders[shard].back();
      orders[shard].pop_back();
      auto gathered = [&, number](const std::vector<Bytes>& all) {
        for (std::size_t of = 0; of < shards; ++of) CHECK(all[of] == Bytes(number + of, static_cast<std::byte>(of)));
        ++ended;
      };
      auto reduced = [&, number](const Bytes& value) {
        CHECK(value == byte(number + shards - 1));
        ++ended;
      };
      const CollectiveKey key{number % 3 ? Purpose::fence : Purpose::check, number};
      if (number % 2)
        network.at(shard).all_gather(key, Bytes(number + shard, static_cast<std::byte>(shard)), gathered);
      else
        network.at(shard).all_reduce(key, byte(number + shard), largest, reduced);
      most_in_flight = std::max(most_in_flight, network.at(shard).in_flight());
    };
    REQUIRE(network.run_until([&] { return ended == count * shards; }, turn));
    if (shards > 2) CHECK(most_in_flight > 10);
    overtaken += network.overtaken();
  }
  CHECK(overtaken > 1000);
}

TEST_CASE("[collectives] Lamport's clock is later after a barrier than before it, on every pair of shards") {
  for (const std::uint64_t seed : random_seeds(50, 500)) {
    const std::size_t shards = 2 + seed % 7;
    TurnNetwork network(shards, seed);
    std::vector<std::uint64_t> before(shards), after(shards);
    std::size_t ended = 0;
    for (std::size_t shard = 0; shard < shards; ++shard) {
      for (std::uint64_t i = network.random()() % 50; i > 0; --i) network.at(shard).tick();
      before[shard] = network.at(shard).tick();
      network.at(shard).barrier({Purpose::fence, 1}, [&, shard] {
        after[shard] = network.at(shard).tick();
        ++ended;
      });
    }
    REQUIRE(network.run_until([&] { return ended == shards; }));
    CHECK(*std::max_element(before.begin(), before.end()) < *std::min_element(after.begin(), after.end()));
  }
}

TEST_CASE("[collectives] the same by threads and by processes; sixteen shards do not spin") {
  auto run = [](Transport& transport) {
    Collectives c(transport);
    Bytes result;
    std::size_t ended = 0;
    for (std::uint64_t number = 0; number < 50; ++number) {
      c.all_reduce({Purpose::check, number}, byte(transport.self().index() + number), largest,
                   [&](Bytes value) { result.push_back(value[0]), ++ended; });
      poll_until(c, [&] { return ended == number + 1; });
    }
    return result;
  };
  for (const std::size_t shards : {1, 2, 3, 7, 16}) {
    CAPTURE(shards);
    Bytes wanted;
    for (std::size_t number = 0; number < 50; ++number) wanted.push_back(byte(shards - 1 + number)[0]);
    CHECK(run_in_threads(shards, run) == std::vector<Bytes>(shards, wanted));
    CHECK(run_hostile(shards, 5, run) == std::vector<Bytes>(shards, wanted));
    CHECK(run_processes(shards, 6, run) == std::vector<Bytes>(shards, wanted));
  }
}

}  // namespace taskspec::collectives_test
