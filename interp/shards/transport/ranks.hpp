// Shards of one process, as threads, and by a port of MPI those of other processes. Messages between shards of a
// process are moved; the others become bytes. Without a port all shards are here.
//
//   RankNetwork network({.shards = 4, .ranks = 1, .rank = 0}, nullptr);
//   network.at(ShardId(2)).send(...)     // each end is used by the thread of its shard
//
// Of the shards of a process that wait, one looks at MPI for all of them, and the rest sleep; who stops looking passes
// that on. Many shards on few cores do not spin.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "interp/shards/transport/mpi.hpp"
#include "interp/shards/transport/rank_layout.hpp"
#include "interp/shards/transport/transport.hpp"

namespace taskspec {

class RankNetwork;

// MPI is initialised once for a process and serves one network after the other, of which some may overlap: a shard that
// is done with one goes on to the next, and a run may stand inside of another one. All ranks begin them in one order,
// so they are told apart by number, and what comes for a later one waits here. They end in whatever order.
struct MpiLine {
  std::unique_ptr<MpiPort> port;
  std::mutex mutex;                              // one call of MPI at a time; of all below
  std::uint32_t networks = 0;                    // begun so far
  std::atomic<std::uint32_t> open_networks = 0;  // not finished: others count on this process
  std::map<std::uint32_t, RankNetwork*> here;    // by number
  struct Early {
    int tag;
    Bytes bytes;
  };
  std::deque<Early> early;
  std::deque<Bytes> beside;    // what other ranks said outside of networks, for whoever takes it
  std::set<std::size_t> gone;  // ranks that are at their end: whoever waits for their shards does so in vain

  // With the mutex held.
  bool look();
  void say_beside(std::size_t rank, Bytes bytes);
  // To all others: this process needs that network no more; 0: it ends now.
  void say_end(std::uint32_t network);
  bool is_over(std::uint32_t network) const;
  void take(int tag, Bytes bytes);
};

class RankNetwork {
 public:
  RankNetwork(const RankLayout& layout, MpiLine* line);
  ~RankNetwork();

  const RankLayout& layout() const { return layout_; }
  Transport& at(ShardId shard);  // one that is here
  void lose(ShardId shard);      // its thread has ended early: all others here hear of it

  // What a rank says to another, beside the shards. Told on the thread that looks, with the network locked.
  void send_to_rank(std::size_t rank, Bytes bytes);
  void on_rank_message(std::function<void(Bytes)> heard);
  void look();  // takes what has come from other ranks: for who watches while all shards compute
  void wake_all();

  // All ranks have come to this, and nothing is under way. Called by one thread, when the shards are done.
  void finish();
  [[noreturn]] void abort(int status);  // of all ranks

 private:
  friend struct MpiLine;
  class End;
  std::mutex& line_mutex() { return line_ ? line_->mutex : alone_; }
  bool look_locked();
  void take(int tag, Bytes bytes);
  void miss(std::size_t rank);
  ContentLine* line_to_rank(ShardId shard) const;
  ContentLine* line_from_rank(ShardId shard) const;
  bool have_all_ended() const;
  bool try_to_lead(End& end);
  void stop_leading(End& end);
  void leave(End& end);

  const RankLayout layout_;
  const bool has_cores_for_all_;  // one for each shard: who waits need not give way at once
  MpiLine* const line_;
  std::uint32_t number_ = 0;
  bool is_finished_ = false;                // with the mutex of the line
  std::vector<std::unique_ptr<End>> ends_;  // by shard; null: on another rank
  std::mutex alone_;                        // in place of that of the line
  std::function<void(Bytes)> heard_;        // with one of them
  std::set<std::size_t> ended_;             // other ranks, by what they said; likewise
  std::mutex lead_mutex_;                   // of what follows
  bool is_led_ = false;
  std::vector<End*> waiting_;  // to lead
};

}  // namespace taskspec
