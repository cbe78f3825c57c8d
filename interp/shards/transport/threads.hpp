// Shards of one process: a mailbox for each, into which all others put messages by moving them.
//
//   ThreadNetwork network(4);
//   network.at(ShardId(2)).send(...)      // each end is used by the thread of its shard
#pragma once
#include <memory>
#include <vector>

#include "interp/shards/transport/transport.hpp"

namespace taskspec {

class ThreadNetwork {
 public:
  explicit ThreadNetwork(std::size_t shards);
  ~ThreadNetwork();

  std::size_t shards() const { return ends_.size(); }
  Transport& at(ShardId shard);
  // That shard's thread has ended early: all others hear of it.
  void lose(ShardId shard);

 private:
  class End;
  std::vector<std::unique_ptr<End>> ends_;
};

}  // namespace taskspec
