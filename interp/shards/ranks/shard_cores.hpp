// How many cores a shard has for its points, where nobody says.
#pragma once
#include <cstdint>

#include "interp/shards/transport/rank_layout.hpp"

namespace taskspec {

// The cores that this process may use, divided among the shards that are here; where nothing binds the ranks of one
// machine to cores of their own, they share all of them alike. At least 1.
std::uint32_t shard_cores(const RankLayout& layout);

}  // namespace taskspec
