#include "interp/shards/transport/threads.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace taskspec {

class ThreadNetwork::End final : public Transport {
 public:
  End(ThreadNetwork& network, ShardId self) : network_(network), self_(self) {}

  ShardId self() const override { return self_; }
  std::size_t shards() const override { return network_.ends_.size(); }

  void send(Message message) override { network_.ends_[message.to.index()]->put(std::move(message)); }

  // All that has come is taken at once, so that the lock is taken once for many messages.
  std::optional<Message> receive() override {
    if (taken_.empty()) {
      const std::lock_guard lock(mutex_);
      std::swap(taken_, come_);
    }
    if (taken_.empty()) return std::nullopt;
    std::optional<Message> first = std::move(taken_.front());
    taken_.pop_front();
    return first;
  }

  void wait(std::int64_t nanoseconds) override {
    if (!taken_.empty()) return;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(nanoseconds), [&] { return !come_.empty() || is_awake_; });
    is_awake_ = false;
  }

  void wake() override {
    {
      const std::lock_guard lock(mutex_);
      is_awake_ = true;
    }
    changed_.notify_one();
  }

  std::optional<ShardId> lost() const override {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

  void put(Message message) {
    bool was_empty;
    {
      const std::lock_guard lock(mutex_);
      was_empty = come_.empty();
      come_.push_back(std::move(message));
    }
    if (was_empty) changed_.notify_one();
  }

  void lose(ShardId shard) {
    {
      const std::lock_guard lock(mutex_);
      if (!lost_) lost_ = shard;
      is_awake_ = true;
    }
    changed_.notify_one();
  }

 private:
  ThreadNetwork& network_;
  const ShardId self_;
  std::deque<Message> taken_;  // of the shard's own thread
  mutable std::mutex mutex_;   // of all below
  std::condition_variable changed_;
  std::deque<Message> come_;
  std::optional<ShardId> lost_;
  bool is_awake_ = false;
};

ThreadNetwork::ThreadNetwork(std::size_t shards) {
  for (std::size_t shard = 0; shard < shards; ++shard) ends_.push_back(std::make_unique<End>(*this, ShardId(shard)));
}

ThreadNetwork::~ThreadNetwork() = default;

Transport& ThreadNetwork::at(ShardId shard) { return *ends_[shard.index()]; }

void ThreadNetwork::lose(ShardId shard) {
  for (const std::unique_ptr<End>& end : ends_)
    if (end->self() != shard) end->lose(shard);
}

}  // namespace taskspec
