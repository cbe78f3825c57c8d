#include "interp/control/deep_stack.hpp"

#include <pthread.h>

#include <exception>

#include "ir/array.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

namespace {

struct Job {
  const std::function<void()>& body;
  std::exception_ptr thrown;
};

void* start(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  try {
    job.body();
  } catch (...) {
    job.thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void with_deep_stack(const std::function<void()>& body) {
  Job job{body, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  // Address space only: pages are taken when the recursion gets there. Where even that is limited, less.
  std::size_t bytes = std::min<std::size_t>(std::size_t{8} << 30, memory_limit() / 2);
  for (; bytes >= (1u << 20); bytes /= 2) {
    pthread_attr_setstacksize(&attributes, bytes);
    if (pthread_create(&thread, &attributes, start, &job) == 0) break;
  }
  pthread_attr_destroy(&attributes);
  if (bytes < (1u << 20)) bug("no thread could be started");
  pthread_join(thread, nullptr);
  if (job.thrown) std::rethrow_exception(job.thrown);
}

}  // namespace taskspec
