// Host code alone, beside CPython and Lua, which run the same loops and calls: a part of `taskspec bench loops`.
#pragma once
#include <cstddef>

namespace taskspec::bench {

// Loops of so many turns. A peer that is not installed has no column.
void host_code(std::size_t turns, int repeats);

}  // namespace taskspec::bench
