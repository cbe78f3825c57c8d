// The replicas of one program in this process, a shard each where a part of it runs on shards. The text is run by all
// of them; effects reach the world from the first one alone. Outside of runs on shards they share nothing, and come to
// the same.
//
//   Replicas replicas(start);                       // start(k): runs the program once more, as replica k
//   Replicas::Part part = replicas.join(0, 4, span);      // each `run e on mpi`, by each replica
#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "interp/mpi/shard_failure.hpp"
#include "interp/mpi/shard_waits.hpp"
#include "interp/shards/ranks/watchdog.hpp"
#include "ir/base/hash.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

// For how many seconds.
struct ShardPatience {
  double silence = 30;   // a rank may say nothing, or all wait
  double computing = 0;  // a shard may compute between two calls; 0: as long as it likes
};

// What the shards of one run share in one process: their transports, and that it failed.
class ShardGroup {
 public:
  // As many shards as are asked for, over the ranks of mpirun where there are some. Throws Error E6002.
  // Where nothing goes on for longer than `patience`, the watchdog ends all ranks.
  static std::shared_ptr<ShardGroup> open(std::size_t shards, Span span, ShardPatience patience = {});
  static std::shared_ptr<ShardGroup> alone();

  std::size_t shards() const { return network().layout().shards; }
  std::vector<ShardId> here() const { return network().layout().here(); }
  RankNetwork& network() { return group_ ? group_->network() : *alone_; }
  const RankNetwork& network() const { return const_cast<ShardGroup&>(*this).network(); }
  RankGroup* ranks() { return group_.get(); }  // null: alone
  // False: it has failed before that call.
  bool fail(Diags diags, std::uint64_t at = 0) {
    return failure.set(std::move(diags), at, [this] { network().wake_all(); });
  }
  // At once, with the reason that is known, if there is one: this is what came of it.
  void give_up(const Diags& why) { fail(failure.is_set() ? failure.diags() : why); }
  void ended(ShardId shard);  // the last one that is here says so to other ranks
  // Nobody here needs what joins it to other ranks any more.
  bool is_over() const { return is_closed_ || failure.is_reached(0) || network().layout().ranks == 1; }

  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  ShardFailure failure;
  ShardWaits waits;                              // of those that are here
  std::atomic<const Sources*> sources{nullptr};  // of the program

 private:
  std::optional<Diags> overdue(double seconds) const;

  std::unique_ptr<RankGroup> group_;
  std::unique_ptr<RankNetwork> alone_;
  std::atomic<std::size_t> ended_{0};
  std::atomic<bool> is_closed_{false};
  std::unique_ptr<Watchdog> watchdog_;
};

inline bool is_define(const Source& source) { return source.path().starts_with("-D "); }

class Replicas {
 public:
  using Start = std::function<void(std::size_t number)>;
  explicit Replicas(Start start) : start_(std::move(start)) {}
  // The first replica has ended: the others have, or do so now.
  ~Replicas();

  struct Part {
    std::size_t run = 0;  // of the program, counted by each replica
    std::shared_ptr<ShardGroup> group;
    ShardId shard;
    std::size_t shards = 1;
    bool is_alone = false;  // the run has fewer shards: it is repeated by itself, with the same outcome
  };
  Part join(std::size_t replica, std::size_t shards, Span span, ShardPatience patience = {});
  // Its part of the run is done.
  void finished(std::size_t replica, std::size_t run);
  // It goes on behind a run that stood inside of another one, also where that failed.
  void came_out(std::size_t replica, std::size_t run);
  // It comes to no further run. Those that it was to take part in fail: nobody is to wait for it.
  void left(std::size_t replica);
  // What a run reports, for those that were no part of it.
  void publish(std::size_t run, std::vector<Value> report);
  std::vector<Value> report_of(std::size_t run);
  const std::atomic<bool>& ended() const { return ended_; }
  // Of the texts of the program without what -D puts in their place; found once.
  const Hash128& program_hash(const Sources& sources);

 private:
  struct Run {
    std::shared_ptr<ShardGroup> group;
    std::optional<std::vector<Value>> report;
    std::set<std::size_t> finished;  // replicas
  };
  void fail_without(std::size_t replica, Run& run);
  static bool has_parted(std::size_t replica, const Run& run);
  void set_inside(std::size_t replica, std::size_t number, bool inside);
  const Start start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Run> runs_;        // by their order in the program
  std::vector<std::size_t> joined_ = {0};  // by replica: how many runs it came to
  std::set<std::size_t> left_;
  std::vector<std::thread> threads_;
  std::atomic<bool> ended_{false};
  std::optional<Hash128> program_hash_;
};

}  // namespace taskspec
