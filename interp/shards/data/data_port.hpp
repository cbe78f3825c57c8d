// Contents on their way between shards: those of one shard to another one arrive in the order in which they were sent,
// whatever the transport makes of it. Messages carry contents and nothing else, and a mark, by which the receiver sees
// that both mean the same ones.
//
//   DataPort port(collectives);
//   port.send(ShardId(1), bytes);
//   const Bytes come = port.wait(ShardId(1), [&] { engine.turn(); });
//
// One thread at a time uses a port and the Collectives below it.
#pragma once
#include <map>

#include "interp/shards/collectives/collectives.hpp"
#include "interp/shards/contents_differ.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec {

class DataPort {
 public:
  struct Counts {
    std::uint64_t messages = 0, bytes = 0;  // sent
  };

  // What somebody can do meanwhile who looks again and again for contents that come very soon: a little of it for each
  // look. False: there is nothing to do.
  class Idle {
   public:
    virtual bool work() = 0;

   protected:
    ~Idle() = default;
  };

  explicit DataPort(Collectives& collectives, Idle* idle = nullptr);
  ~DataPort();
  DataPort(const DataPort&) = delete;

  // Never waits. A mark has 24 bits.
  void send(ShardId to, Bytes payload, std::uint32_t mark = 0);
  // Short ones are written where they go from, if there is room: then send_room() follows, else send(). Null: none.
  std::byte* room(ShardId to, std::size_t bytes);
  void send_room(ShardId to, std::size_t bytes, std::uint32_t mark);
  // The next one of that shard where it lies, and so to be copied before took(); if it is there, or comes very soon,
  // has that length and that mark. Null: wait() for it, or take() it.
  const std::byte* come(ShardId from, std::size_t bytes, std::uint32_t mark);
  void took(ShardId from);
  // The next one of that shard, if it is there. Throws ContentsDiffer where it has another mark.
  std::optional<Bytes> take(ShardId from, std::uint32_t mark = 0);
  // Calls `meanwhile` between looks, which may itself receive messages; sleeps when there are none.
  Bytes wait(ShardId from, FunctionRef<void()> meanwhile, std::uint32_t mark = 0);
  // Until `done`, in the same way: for collectives inside of an operation.
  void wait_until(FunctionRef<bool()> done, FunctionRef<void()> meanwhile);

  Collectives& collectives() { return collectives_; }
  ShardId self() const { return collectives_.self(); }
  std::size_t shards() const { return collectives_.shards(); }
  // A collective of the caller's that belongs to no call: each shard starts them in one order.
  CollectiveKey next_collective() { return {Purpose::data, ++collectives_started_, 0}; }
  const Counts& counts() const { return counts_; }

  static constexpr std::int64_t sleep_nanoseconds = 5'000'000;

 private:
  struct Come {
    Bytes payload;
    std::uint32_t mark;
  };
  struct Peer {
    std::uint64_t sent = 0, taken = 0;
    bool has_next = false;  // what is to be taken is there
    Come next{};
    Transport::LineTo line{};             // to it, where that stays
    const ContentLine* last = nullptr;    // the last line to it
    std::map<std::uint64_t, Come> later;  // by number: it came before those in front of it
  };
  void put(ShardMessage message);
  static void find_next(Peer& peer);

  Collectives& collectives_;
  Idle* const idle_;
  const std::uint32_t network_;
  const int looks_;
  std::vector<Peer> peers_;  // by shard
  struct {
    Peer* to = nullptr;
    Transport::LineTo by{};
  } room_;                       // the last one
  ContentLine* come_ = nullptr;  // where the last come() is
  std::uint64_t collectives_started_ = 0;
  Counts counts_;
};

}  // namespace taskspec
