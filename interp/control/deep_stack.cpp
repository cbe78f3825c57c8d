#include "interp/control/deep_stack.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <span>
#include <utility>

#include "ir/types/array.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace taskspec {

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::size_t deepest = std::size_t{1} << 24;  // its traces hold 2^16 calls and no more
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::size_t deepest = std::size_t{1} << 28;  // a deep stack takes it minutes
#else
constexpr std::size_t deepest = std::size_t{8} << 30;
#endif

// Address space only: pages are taken when the recursion gets there. Where that is limited it must also do for a second
// such stack beside this one, for workers, and for what is computed.
std::size_t wanted_bytes() {
  std::size_t bytes = std::min<std::size_t>(deepest, memory_limit() / 2);
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    bytes = std::min<std::size_t>(bytes, space.rlim_cur / 8);
  return bytes;
}

}  // namespace

DeepStack::~DeepStack() {
  if (!running_) return;
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  pthread_join(thread_, nullptr);
}

bool DeepStack::started() {
  constexpr std::size_t shallow = 8 << 20;  // what callers have themselves
  pthread_attr_t attributes;
  if (running_ || pthread_attr_init(&attributes) != 0) return running_;
  for (std::size_t bytes = wanted_bytes(); !running_ && bytes > shallow; bytes /= 2)
    running_ = pthread_attr_setstacksize(&attributes, bytes) == 0 && start_(&thread_, &attributes, live, this) == 0;
  pthread_attr_destroy(&attributes);
  return running_;
}

void* DeepStack::live(void* stack) {
  auto& self = *static_cast<DeepStack*>(stack);
  std::unique_lock lock(self.mutex_);
  for (;;) {
    self.changed_.wait(lock, [&] { return self.quit_ || self.body_; });
    if (!self.body_) return nullptr;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      self.body_();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    self.thrown_ = std::move(thrown);
    self.body_ = {};
    self.changed_.notify_all();
  }
}

void DeepStack::run(FunctionRef<void()> body) {
  if (!started() || pthread_equal(thread_, pthread_self())) return body();
  std::unique_lock lock(mutex_);
  body_ = body;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !body_; });
  if (std::exception_ptr thrown = std::exchange(thrown_, nullptr)) std::rethrow_exception(thrown);
}

#ifdef __SANITIZE_ADDRESS__
namespace {

thread_local bool deep_throw = false;

// The stack of this thread: below the caller's frame, and from there on.
std::pair<std::span<char>, std::span<char>> stack_around(char* here) {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  char* const first = static_cast<char*>(begin);
  return {{first, here}, {here, first + size}};
}

}  // namespace
#endif

void before_deep_throw() {
#ifdef __SANITIZE_ADDRESS__
  deep_throw = true;
  const std::span<char> above = stack_around(static_cast<char*>(__builtin_frame_address(0))).second;
  __asan_unpoison_memory_region(above.data(), above.size());
#endif
}

void after_deep_throw() {
#ifdef __SANITIZE_ADDRESS__
  if (!std::exchange(deep_throw, false)) return;
  const std::span<char> below = stack_around(static_cast<char*>(__builtin_frame_address(0))).first;
  __asan_unpoison_memory_region(below.data(), below.size());
#endif
}

void with_deep_stack(FunctionRef<void()> body) { DeepStack().run(body); }

}  // namespace taskspec
