// Random numbers without state: Philox 4x32-10 turns (counter, key) into four words. Equal arguments give equal
// numbers on every machine, thread and shard; which counter belongs to which element is a part of the language.
//
//   PhiloxBlock words = philox({element / 4, 0, stream, call}, {seed_low, seed_high});
//   float u = uniform_f32(words[element % 4]);   // in [0, 1)
#pragma once
#include <array>
#include <cstdint>

namespace taskspec {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 3.3.
inline constexpr int philox_rounds = 10;

constexpr void philox_round(std::uint32_t& c0, std::uint32_t& c1, std::uint32_t& c2, std::uint32_t& c3, PhiloxKey key) {
  const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0, p1 = std::uint64_t{0xCD9E8D57} * c2;
  const std::uint32_t next = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ key[0];
  c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ key[1];
  c0 = next;
  c1 = static_cast<std::uint32_t>(p1);
  c3 = static_cast<std::uint32_t>(p0);
}

constexpr PhiloxKey next_philox_key(PhiloxKey key) { return {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85}; }

constexpr PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < philox_rounds; ++round, key = next_philox_key(key))
    philox_round(counter[0], counter[1], counter[2], counter[3], key);
  return counter;
}

constexpr PhiloxKey philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

// 24 bits of one word and 53 bits of two: every value is exact, and 1 never comes out.
constexpr float uniform_f32(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }
constexpr double uniform_f64(std::uint32_t w0, std::uint32_t w1) {
  return static_cast<double>((std::uint64_t{w0} << 32 | w1) >> 11) * 0x1p-53;
}

}  // namespace taskspec
