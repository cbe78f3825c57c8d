// The thread on which host programs run: one that stays, an error that comes out of it, and what happens without it.
#include "interp/control/deep_stack.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <thread>

namespace taskspec::deep_stack_test {

namespace {

std::atomic<int> starts{0};

int counted(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) noexcept {
  ++starts;
  return pthread_create(thread, attributes, run, argument);
}

int refused(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept { return EAGAIN; }

// As where address space is short.
int refused_if_large(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                     void* argument) noexcept {
  std::size_t bytes = 0;
  pthread_attr_getstacksize(attributes, &bytes);
  return bytes > (std::size_t{64} << 20) ? EAGAIN : pthread_create(thread, attributes, run, argument);
}

}  // namespace

TEST_CASE("a deep stack is one thread, however often it is used, and none before [queues]") {
  starts = 0;
  {
    DeepStack stack(counted);
    CHECK(starts == 0);
    std::thread::id first, inner;
    stack.run([&] {
      first = std::this_thread::get_id();
      stack.run([&] { inner = std::this_thread::get_id(); });
    });
    CHECK(first != std::this_thread::get_id());
    CHECK(inner == first);
    for (int i = 0; i < 100; ++i) stack.run([&] { CHECK(std::this_thread::get_id() == first); });
  }
  CHECK(starts == 1);
}

TEST_CASE("what is thrown on a deep stack comes out, and it goes on [queues]") {
  DeepStack stack;
  CHECK_THROWS_AS(stack.run([] { throw std::runtime_error("inside"); }), std::runtime_error);
  bool ran = false;
  stack.run([&] { ran = true; });
  CHECK(ran);
}

TEST_CASE("without a thread the caller's stack has to do, with little room a smaller one [queues]") {
  DeepStack none(refused);
  std::thread::id where;
  none.run([&] { where = std::this_thread::get_id(); });
  CHECK(where == std::this_thread::get_id());
  CHECK_THROWS_AS(none.run([] { throw std::runtime_error("inside"); }), std::runtime_error);

  DeepStack small(refused_if_large);
  small.run([&] { where = std::this_thread::get_id(); });
  CHECK(where != std::this_thread::get_id());
}

}  // namespace taskspec::deep_stack_test
