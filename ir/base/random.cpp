#include "ir/base/random.hpp"

namespace taskspec {

// J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 3.3.
PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
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

}  // namespace taskspec
