// The one way from a shard to another: an end of it for each shard. Messages may come in any order. A shard that has
// nothing to do sleeps in `wait`, so that many of them share few cores.
//
//   transport.send({.from = transport.self(), .to = ShardId(1), .payload = bytes});
//   while (auto message = transport.receive()) take(*message);
//   transport.wait(1'000'000);
#pragma once
#include <atomic>
#include <optional>

#include "interp/shards/message.hpp"

namespace taskspec {

class ContentLine;

class Transport {
 public:
  struct LineTo {
    ContentLine* line = nullptr;                // null: there is none, or not now
    const std::atomic<bool>* sleeps = nullptr;  // who takes from it does, or is about to; null: it looks there itself
    bool stays = false;                         // it is that one for good
  };

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

  // The lines to and from another shard of this machine; where there is none, or not now, contents go as all other
  // messages do. What comes by a line is taken from there, or received as any message. What is said there names the
  // network. Who has sent by a line looks behind a writers_fence() whether the other one sleeps.
  virtual LineTo line_to(ShardId) { return {}; }
  virtual ContentLine* line_from(ShardId) { return nullptr; }
  virtual std::uint32_t network() const { return 0; }
  virtual void wake_reader(ShardId) {}             // of the line to that shard
  virtual bool may_look() const { return false; }  // who waits has a core to look around on
};

}  // namespace taskspec
