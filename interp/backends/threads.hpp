// How many threads a backend may be asked for; 0: one per core.
#pragma once
#include <cstdint>

#include "ir/types/value.hpp"

namespace taskspec {

inline constexpr std::int64_t most_threads = 1024;
inline bool is_number_of_threads(const Value& threads) {
  return threads.integer() >= 0 && threads.integer() <= most_threads;
}

}  // namespace taskspec
