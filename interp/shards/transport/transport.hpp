// The one way from a shard to another: an end of it for each shard. Messages may come in any order. A shard that has
// nothing to do sleeps in `wait`, so that many of them share few cores.
//
//   transport.send({.from = transport.self(), .to = ShardId(1), .payload = bytes});
//   while (auto message = transport.receive()) take(*message);
//   transport.wait(1'000'000);
#pragma once
#include <optional>

#include "interp/shards/message.hpp"

namespace taskspec {

class ContentLine;

class Transport {
 public:
  virtual ~Transport() = default;
  virtual ShardId self() const = 0;
  virtual std::size_t shards() const = 0;

  virtual void send(ShardMessage message) = 0;  // never waits
  virtual std::optional<ShardMessage> receive() = 0;
  // Sleeps until a message is there, or a shard is lost, or wake() was called, or that time has passed.
  virtual void wait(std::int64_t nanoseconds) = 0;
  virtual void wake() = 0;  // from any thread of this shard's process
  // A shard that has ended without having said so; told again each time.
  virtual std::optional<ShardId> lost() const = 0;

  // The lines to and from another shard of this machine; null: there is none, or not now, and contents go as all other
  // messages do. What comes by a line is taken from there, or received as any message. What is said there names the
  // network.
  virtual ContentLine* line_to(ShardId) { return nullptr; }
  virtual ContentLine* line_from(ShardId) { return nullptr; }
  virtual bool keeps_line_to(ShardId) const { return false; }  // where there is one, it is that one for good
  virtual std::uint32_t network() const { return 0; }
  virtual void has_sent_by_line(ShardId) {}        // wakes that shard
  virtual bool may_look() const { return false; }  // who waits has a core to look around on
};

}  // namespace taskspec
