// Between one who writes and then looks whether another one sleeps, and one who says that it sleeps and then looks
// whether something was written: one of them must see the other. The first does so all the time and the second
// seldom, so the second pays for both: the system has all cores of the process come to one order.
//
//   written.store(1, release);  writers_fence();  if (sleeps.load(relaxed)) wake();
//   sleeps.store(true, relaxed);  sleepers_fence();  if (!written.load(acquire)) sleep();
#pragma once
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace taskspec {

// False where the system has no such call: then both pay.
inline bool sleepers_pay() {
  static const bool known = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return known;
}

// A full one; std::atomic_thread_fence is unknown to ThreadSanitizer.
inline void full_fence() {
  std::atomic<int> any{0};
  any.exchange(1, std::memory_order_seq_cst);
}

inline void writers_fence() {
  if (sleepers_pay())
    std::atomic_signal_fence(std::memory_order_seq_cst);
  else
    full_fence();
}

inline void sleepers_fence() {
  full_fence();
  if (sleepers_pay()) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace taskspec
