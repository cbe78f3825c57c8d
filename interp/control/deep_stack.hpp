// A thread whose stack is deep enough for 10^6 nested calls of a host program. It starts with the first function that
// is to run there, and waits for the next ones.
//
//   DeepStack stack;
//   stack.run([&] { interpreter.module(main); });      // what is thrown there comes out here
//   with_deep_stack([&] { ... });                      // a single one
#pragma once
#include <pthread.h>

#include <condition_variable>
#include <exception>
#include <mutex>

#include "ir/base/function_ref.hpp"

namespace taskspec {

class DeepStack {
 public:
  using Start = decltype(pthread_create);
  // `start` is for tests. Where the system starts no further thread, the functions run on the caller's stack: a deep
  // recursion then ends sooner, by an error.
  explicit DeepStack(Start* start = pthread_create) : start_(start) {}
  DeepStack(const DeepStack&) = delete;
  ~DeepStack();

  void run(FunctionRef<void()> body);  // by one thread at a time, and from inside of it

 private:
  static void* live(void* stack);
  bool started();

  Start* const start_;
  pthread_t thread_{};
  bool running_ = false;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  FunctionRef<void()> body_;  // to be run, or running
  std::exception_ptr thrown_;
  bool quit_ = false;
};

void with_deep_stack(FunctionRef<void()> body);

// Before an exception that may come from very far down. AddressSanitizer cleans up behind one in the last 64 MB of a
// stack only, and takes what is left of the frames above for mistakes; anywhere else this does nothing.
void before_deep_throw();
// And where one was caught, on a thread that goes on: what unwinding left below this frame.
void after_deep_throw();

}  // namespace taskspec
