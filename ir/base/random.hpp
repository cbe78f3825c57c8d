// Random numbers without state: Philox 4x32-10 turns (counter, key) into four words. Equal arguments give equal
// numbers on every machine, thread and shard; which counter belongs to which element stands in language.md section 8.
//
//   PhiloxBlock words = philox({element / 4, 0, stream, call}, {seed_low, seed_high});
//   float u = uniform_f32(words[element % 4]);   // in [0, 1)
#pragma once
#include <array>
#include <cstdint>

namespace taskspec {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 3.3. Inline, so that loops over
// counters vectorise.
constexpr PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t golden_ratio = 0x9E3779B9, root_of_three = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = multiplier_0 * counter[0];
    const std::uint64_t p1 = multiplier_1 * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += golden_ratio;
    key[1] += root_of_three;
  }
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
