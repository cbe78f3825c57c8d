// A transport that is as unkind as one may be: every message becomes bytes and is read again, is held for a while and
// is overtaken by others, all by a seed. Before any other transport.
//
//   HostileTransport end(network.at(shard), {.seed = 7, .longest_hold = 5});
#pragma once
#include <random>
#include <vector>

#include "interp/shards/transport/transport.hpp"

namespace taskspec {

class HostileTransport final : public Transport {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::uint32_t longest_hold = 4;  // looks at the mailbox for which a message is kept back, at most
  };
  HostileTransport(Transport& inner, const Options& options);

  ShardId self() const override { return inner_.self(); }
  std::size_t shards() const override { return inner_.shards(); }
  void send(ShardMessage message) override;
  std::optional<ShardMessage> receive() override;
  void wait(std::int64_t nanoseconds) override;
  void wake() override { inner_.wake(); }
  std::optional<ShardId> lost() const override { return inner_.lost(); }
  std::uint64_t overtaken() const { return overtaken_; }  // messages that came before an earlier one

 private:
  struct Held {
    Bytes bytes;
    std::uint64_t number;
    std::uint32_t looks;
  };
  Transport& inner_;
  const std::uint32_t longest_hold_;
  std::mt19937_64 random_;
  std::vector<Held> held_;
  std::uint64_t come_ = 0, overtaken_ = 0;
};

}  // namespace taskspec
