// Shards for tests: a thread, a process, or nothing but a turn each, behind transports that delay and reorder.
#pragma once
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "interp/shards/collectives/collectives.hpp"
#include "interp/shards/transport/hostile.hpp"
#include "interp/shards/transport/processes.hpp"
#include "interp/shards/transport/ranks.hpp"

namespace taskspec {

// One thread that gives a random shard a turn, again and again: equal seeds, equal runs.
class TurnNetwork {
 public:
  TurnNetwork(std::size_t shards, std::uint64_t seed, std::uint32_t longest_hold = 4)
      : random_(seed), network_({.shards = shards}, nullptr) {
    for (std::size_t shard = 0; shard < shards; ++shard) {
      ends_.push_back(std::make_unique<HostileTransport>(
          network_.at(ShardId(shard)), HostileTransport::Options{.seed = seed, .longest_hold = longest_hold}));
      collectives_.push_back(std::make_unique<Collectives>(*ends_.back()));
    }
  }

  Collectives& at(std::size_t shard) { return *collectives_[shard]; }
  std::size_t shards() const { return ends_.size(); }
  std::size_t pick() { return random_() % shards(); }
  std::mt19937_64& random() { return random_; }
  // Until `done` says so; false: it never did.
  bool run_until(const std::function<bool()>& done, const std::function<void(std::size_t)>& turn = {}) {
    for (std::size_t turns = 0; !done(); ++turns) {
      if (turns > 200'000) return false;
      const std::size_t shard = pick();
      at(shard).poll();
      if (turn) turn(shard);
    }
    return true;
  }
  std::uint64_t overtaken() const {
    std::uint64_t sum = 0;
    for (const auto& end : ends_) sum += end->overtaken();
    return sum;
  }

 private:
  std::mt19937_64 random_;
  RankNetwork network_;
  std::vector<std::unique_ptr<HostileTransport>> ends_;
  std::vector<std::unique_ptr<Collectives>> collectives_;
};

// `run` of each shard gives what is compared between them.
using ShardRun = std::function<Bytes(Transport&)>;

inline std::vector<Bytes> run_in_threads(std::size_t shards, const ShardRun& run) {
  RankNetwork network({.shards = shards}, nullptr);
  std::vector<Bytes> results(shards);
  std::vector<std::thread> threads;
  for (std::size_t shard = 0; shard < shards; ++shard)
    threads.emplace_back([&, shard] { results[shard] = run(network.at(ShardId(shard))); });
  for (std::thread& thread : threads) thread.join();
  return results;
}

inline std::vector<Bytes> run_hostile(std::size_t shards, std::uint64_t seed, const ShardRun& run) {
  return run_in_threads(shards, [&](Transport& inner) {
    HostileTransport transport(inner, {.seed = seed, .longest_hold = 6});
    return run(transport);
  });
}

inline std::vector<Bytes> run_processes(std::size_t shards, std::uint64_t seed, const ShardRun& run) {
  const auto ends = run_in_processes(shards, [&](Transport& inner) {
    HostileTransport transport(inner, {.seed = seed, .longest_hold = 6});
    return run(transport);
  });
  std::vector<Bytes> results;
  for (const ProcessEnd& end : ends) {
    CHECK(end.status == 0);
    results.push_back(end.result);
  }
  return results;
}

// Sleeps between the messages until `done`.
inline void poll_until(Collectives& collectives, const std::function<bool()>& done) {
  while (!done())
    if (!collectives.poll()) collectives.transport().wait(1'000'000'000);
}

}  // namespace taskspec
