#include "bench/queues.hpp"

#include <oneapi/tbb/concurrent_queue.h>

#include <condition_variable>
#include <mutex>

#include "interp/control/exchange.hpp"

namespace taskspec::bench {

namespace {

class OfExchange final : public Queues {
 public:
  OfExchange(std::size_t count, std::size_t capacity) : exchange_(channels(count), capacity) {}
  void put(std::size_t queue, Message message) override { exchange_.put(ChannelId(queue), std::move(message)); }
  Message take(std::size_t queue) override { return *exchange_.take(ChannelId(queue)); }

 private:
  static std::vector<Channel> channels(std::size_t count) {
    std::vector<Channel> list(count);
    if (count > 1) list.back().to_host = true;
    return list;
  }
  Exchange exchange_;
};

class Locked final : public Queues {
 public:
  Locked(std::size_t count, std::size_t capacity) {
    for (std::size_t i = 0; i < count; ++i) queues_.emplace_back(capacity);
  }
  void put(std::size_t queue, Message message) override {
    Queue& q = queues_[queue];
    {
      std::unique_lock lock(q.mutex);
      q.room.wait(lock, [&] { return q.written - q.taken < q.slots.size(); });
      q.slots[q.written++ % q.slots.size()] = std::move(message);
    }
    q.more.notify_one();
  }
  Message take(std::size_t queue) override {
    Queue& q = queues_[queue];
    Message message;
    {
      std::unique_lock lock(q.mutex);
      q.more.wait(lock, [&] { return q.written > q.taken; });
      message = std::move(q.slots[q.taken++ % q.slots.size()]);
    }
    q.room.notify_one();
    return message;
  }

 private:
  struct Queue {
    explicit Queue(std::size_t capacity) : slots(capacity) {}
    std::mutex mutex;
    std::condition_variable room, more;
    std::vector<Message> slots;
    std::size_t written = 0, taken = 0;
  };
  std::deque<Queue> queues_;
};

class Tbb final : public Queues {
 public:
  Tbb(std::size_t count, std::size_t capacity) : queues_(count) {
    for (Queue& queue : queues_) queue.set_capacity(static_cast<std::ptrdiff_t>(capacity));
  }
  void put(std::size_t queue, Message message) override { queues_[queue].push(std::move(message)); }
  Message take(std::size_t queue) override {
    Message message;
    queues_[queue].pop(message);
    return message;
  }

 private:
  using Queue = oneapi::tbb::concurrent_bounded_queue<Message>;
  std::deque<Queue> queues_;
};

}  // namespace

std::unique_ptr<Queues> make_exchange(std::size_t count, std::size_t capacity) {
  return std::make_unique<OfExchange>(count, capacity);
}
std::unique_ptr<Queues> make_locked_queues(std::size_t count, std::size_t capacity) {
  return std::make_unique<Locked>(count, capacity);
}
std::unique_ptr<Queues> make_tbb_queues(std::size_t count, std::size_t capacity) {
  return std::make_unique<Tbb>(count, capacity);
}

}  // namespace taskspec::bench
