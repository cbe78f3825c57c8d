// Collectives over single messages: barrier, all-reduce, broadcast, reduce, all-gather, exchange. Any number of them is
// in flight at once, each known by purpose and number, which all shards must agree on; they may start in another order
// on each shard. Results do not depend on the order in which messages come.
//
//   Collectives collectives(transport);
//   collectives.barrier({Purpose::fence, 17}, [] { ... });
//   for (;;) collectives.poll();        // or take() for messages that somebody else received
//
// Barrier and all-reduce: dissemination. Broadcast and reduce: a binomial tree. All-gather: Bruck's. Each has
// ceil(log2 shards) rounds, exchange one. With one shard all end at once.
// D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization" (IJPP 1988); J. Bruck et al.,
// "Efficient algorithms for all-to-all communications in multiport message-passing systems" (IEEE TPDS 1997).
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "interp/shards/transport/transport.hpp"

namespace taskspec {

struct CollectiveKey {
  Purpose purpose{};
  std::uint64_t number = 0;
  std::uint8_t part = 0;  // of one that needs several
  friend auto operator<=>(const CollectiveKey&, const CollectiveKey&) = default;
};

class Collectives {
 public:
  using Combine = std::function<void(Bytes& into, ByteView other)>;
  using Ended = std::function<void()>;
  using Got = std::function<void(Bytes)>;
  using GotAll = std::function<void(std::vector<Bytes>)>;  // by shard
  struct Counts {
    std::uint64_t started = 0, rounds = 0, messages = 0, bytes = 0;
  };

  explicit Collectives(Transport& transport);
  ~Collectives();

  void barrier(CollectiveKey key, Ended ended, const CallStamp& stamp = {});
  // `combine` commutes, and a value combined twice changes nothing: least, greatest, "all are equal".
  void all_reduce(CollectiveKey key, Bytes own, Combine combine, Got got, const CallStamp& stamp = {});
  void broadcast(CollectiveKey key, ShardId root, Bytes own, Got got, const CallStamp& stamp = {});
  // `into` is always of the shards just before those of `other`, counted from the root: so `combine` need not commute.
  // Only the root is told a value; the others have ended when they hear an empty one.
  void reduce(CollectiveKey key, ShardId root, Bytes own, Combine combine, Got got, const CallStamp& stamp = {});
  void all_gather(CollectiveKey key, Bytes own, GotAll got, const CallStamp& stamp = {});
  // `own[k]` goes to shard k.
  void exchange(CollectiveKey key, std::vector<Bytes> own, GotAll got, const CallStamp& stamp = {});

  // Takes all that has come; true if there was something. Messages of other purposes than collectives go to `other`.
  bool poll();
  void take(ShardMessage message);
  // Sends a message that belongs to no collective, with the Lamport time.
  void send(ShardMessage message);
  // Contents that go to another shard, or have come from one, by a line: counted, with the Lamport time.
  std::uint64_t sends_by_line(std::size_t bytes) {
    count(bytes, true);
    return ++time_;
  }
  void takes_from_line(std::uint64_t time) { time_ = std::max(time_, time) + 1; }
  void on_other(std::function<void(const ShardMessage&)> other) { other_ = std::move(other); }
  // Contents (Purpose::data) that belong to no collective go here; what comes before anybody is there is kept.
  void on_data(std::function<void(ShardMessage)> data);
  // Questions about pieces and answers to them (Purpose::pieces) that belong to no collective. Also those alone are
  // taken, where somebody waits for them in the middle of something else: other messages then stay until the next poll.
  void on_pieces(std::function<void(ShardMessage)> pieces) { pieces_ = std::move(pieces); }
  bool poll_pieces();
  void on_failure(std::function<void(const ShardMessage&)> failure) { failure_ = std::move(failure); }
  // Told of each message before it is looked at: who compares stamps.
  void on_message(std::function<void(const ShardMessage&)> seen) { seen_ = std::move(seen); }
  // Told of the first message of a collective that this shard has not started: who joins in what others began.
  void on_early(std::function<void(CollectiveKey, const CallStamp&)> early) { early_ = std::move(early); }

  Transport& transport() { return transport_; }
  ShardId self() const { return transport_.self(); }
  std::size_t shards() const { return transport_.shards(); }
  unsigned rounds() const;  // ceil(log2 shards)
  std::size_t in_flight() const { return running_.size(); }
  const Counts& counts() const { return counts_; }
  // Of contents: of collectives, and of what belongs to none.
  const Counts& contents() const { return contents_; }
  std::uint64_t time() const { return time_; }  // Lamport's
  std::uint64_t tick() { return ++time_; }      // something happened here

 private:
  void count(std::size_t bytes, bool is_contents) {
    ++counts_.messages;
    counts_.bytes += bytes;
    if (!is_contents) return;
    ++contents_.messages;
    contents_.bytes += bytes;
  }
  struct Running;
  using Table = std::map<CollectiveKey, std::unique_ptr<Running>>;

  void start(CollectiveKey key, std::unique_ptr<Running> running);
  Running& known(CollectiveKey key);
  void advance(CollectiveKey key, Running& running);
  void send(CollectiveKey key, const Running& running, std::size_t to, ByteView payload);

  Transport& transport_;
  Table running_;  // and those of which messages came before they were started
  std::function<void(const ShardMessage&)> other_, seen_, failure_;
  std::function<void(ShardMessage)> data_;
  std::function<void(ShardMessage)> pieces_;
  std::vector<ShardMessage> early_data_;
  std::deque<ShardMessage> left_;  // by poll_pieces
  std::function<void(CollectiveKey, const CallStamp&)> early_;
  Counts counts_, contents_;
  std::uint64_t time_ = 0;
};

}  // namespace taskspec
