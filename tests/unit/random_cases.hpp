// Seeds for random tests, so that a failing case can be run again by itself.
//
//   for (std::uint64_t seed : random_seeds(200, 10'000)) {   // 10,000 with ./dev test --slow
//     CAPTURE(seed);
//     std::mt19937_64 random(seed);
//     ...
//   }
//
// TASKSPEC_SEED=n makes n the first seed.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

inline std::vector<std::uint64_t> random_seeds(std::size_t usual, std::size_t slow) {
  std::vector<std::uint64_t> seeds(std::getenv("TASKSPEC_SLOW") ? slow : usual);
  const char* first = std::getenv("TASKSPEC_SEED");
  std::iota(seeds.begin(), seeds.end(), first ? std::stoull(first) : 1);
  return seeds;
}

// The seed of a test with one long run: TASKSPEC_SEED, else 1, with --slow another each time.
inline std::uint32_t random_seed() {
  if (const char* given = std::getenv("TASKSPEC_SEED")) return static_cast<std::uint32_t>(std::stoull(given));
  return std::getenv("TASKSPEC_SLOW") ? std::random_device{}() : 1;
}

// A number from `low` to `high`, both possible; the same on every system, unlike the distributions of the library.
inline std::int64_t between(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}
