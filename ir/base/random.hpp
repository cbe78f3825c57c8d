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

PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key);

constexpr PhiloxKey philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

// 24 bits of one word and 53 bits of two: every value is exact, and 1 never comes out.
constexpr float uniform_f32(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }
constexpr double uniform_f64(std::uint32_t w0, std::uint32_t w1) {
  return static_cast<double>((std::uint64_t{w0} << 32 | w1) >> 11) * 0x1p-53;
}

}  // namespace taskspec
