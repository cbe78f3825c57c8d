// Bounded queues of messages between two threads: the channels of a run, and their peers.
//
//   auto queues = make_exchange(2, 64);    // two queues, from the main thread and back, for 64 messages each
//   queues->put(0, message);               // other thread: queues->take(0)
#pragma once
#include <memory>

#include "interp/control/message.hpp"

namespace taskspec::bench {

class Queues {
 public:
  virtual ~Queues() = default;
  virtual void put(std::size_t queue, Message message) = 0;
  virtual Message take(std::size_t queue) = 0;
};

// The last queue of several goes the other way.
std::unique_ptr<Queues> make_exchange(std::size_t count, std::size_t capacity);
std::unique_ptr<Queues> make_locked_queues(std::size_t count, std::size_t capacity);  // a mutex and two conditions
std::unique_ptr<Queues> make_tbb_queues(std::size_t count, std::size_t capacity);     // concurrent_bounded_queue

}  // namespace taskspec::bench
