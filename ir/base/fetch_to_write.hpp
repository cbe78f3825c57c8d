// A line of the cache that is written soon, and that another core has: taken from it now, beside what is done
// meanwhile.
#pragma once

namespace taskspec {

inline void fetch_to_write(const void* at) {
#if defined(__x86_64__)
  // The builtin asks to read it where the target need not know this instruction, which others pass over.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

}  // namespace taskspec
