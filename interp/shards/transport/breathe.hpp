// Between two looks at what another thread is to write: the core gives the other one of its threads room meanwhile.
#pragma once

namespace taskspec {

inline void breathe() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace taskspec
