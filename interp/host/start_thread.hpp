// Threads are something that a system may run out of, like memory.
//
//   std::thread worker = start_thread([&] { ... });      // throws Error E5008
#pragma once
#include <system_error>
#include <thread>
#include <utility>

#include "ir/base/diag.hpp"

namespace taskspec {

Error no_threads(std::string what);

template <class Thread = std::thread, class F>
Thread start_thread(F&& run) {
  try {
    return Thread(std::forward<F>(run));
  } catch (const std::system_error&) {
    throw no_threads("the system starts no further thread");
  }
}

}  // namespace taskspec
