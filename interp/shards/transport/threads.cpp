#include "interp/shards/transport/threads.hpp"

#include "interp/shards/transport/mailbox.hpp"

namespace taskspec {

class ThreadNetwork::End final : public Transport {
 public:
  End(ThreadNetwork& network, ShardId self) : network_(network), self_(self) {}

  ShardId self() const override { return self_; }
  std::size_t shards() const override { return network_.ends_.size(); }

  void send(ShardMessage message) override { network_.ends_[message.to.index()]->put(std::move(message)); }

  std::optional<ShardMessage> receive() override { return mailbox_.take(); }
  void wait(std::int64_t nanoseconds) override {
    if (mailbox_.has_taken()) return;
    const Mailbox::Time begin = std::chrono::steady_clock::now(), end = after(begin, nanoseconds);
    for (Mailbox::Time now = begin; !mailbox_.is_over() && now < end; now = std::chrono::steady_clock::now())
      mailbox_.sleep_until(end);
    mailbox_.waited();
  }
  void wake() override { mailbox_.wake(); }
  std::optional<ShardId> lost() const override { return mailbox_.lost(); }

  void put(ShardMessage message) { mailbox_.put(std::move(message)); }
  void lose(ShardId shard) { mailbox_.lose(shard); }

 private:
  ThreadNetwork& network_;
  const ShardId self_;
  Mailbox mailbox_;
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
