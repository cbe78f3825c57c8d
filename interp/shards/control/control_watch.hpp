// Sees to it that all shards make the same calls: hashes of calls are compared while the program goes on, and where
// they differ the first call that does is searched for and named.
//
//   ControlWatch watch(collectives, log, {.level = ControlWatch::Level::batch});
//   watch.called();                          // after each call that the log was told of
//   watch.release(number, [] { ... });       // a receive or an effect: when all calls up to it were found equal
//   watch.ended();                           // the program makes no more calls
//   if (watch.difference()) throw Error(diagnostic(*watch.difference(), sources));
//
// A check is an all-reduce of (last call, its hash, all equal); as hashes are chained, equality there is equality up to
// there. Who hears of a check that it has not begun joins in from its log, or as soon as it has come so far: so every
// shard answers while its program waits. Who is far ahead of the last check waits for it, and while a search goes on
// nobody makes calls: so the first call that differs is always among those that are kept. Off: nothing is hashed for
// it; messages still tell at which call of which kind their sender stood, and at the end all that is still kept is
// compared.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "interp/shards/collectives/collectives.hpp"
#include "interp/shards/control/call_log.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

// The first call that is not the same everywhere.
struct Difference {
  struct Group {  // of shards that did the same
    std::vector<std::uint32_t> shards;
    bool has_ended = false;  // the program ended before the call
    CallKind kind{};
    std::string name;
    std::string value;  // of the argument
    Span span;
  };
  std::uint64_t call = 0;
  std::string argument;         // none: another kind of call, or none at all
  std::vector<Group> groups;    // those with shard 0 first
  bool may_be_earlier = false;  // calls before it are no longer kept
};
// E6001 "control determinism violated at call 17 'launch stencil' (3.task:22): shards {0,1,3} domain 0..4, shard {2}
// domain 0..5".
Diag diagnostic(const Difference& difference, const Sources* sources);

class ControlWatch {
 public:
  enum class Level : std::uint8_t { off, batch, every };
  struct Options {
    Level level = Level::batch;
    std::uint64_t batch = 64;   // calls between two checks,
    std::uint64_t later = 512;  // and of a program that has made `many` calls
    std::uint64_t many = 4096;  // a multiple of both
  };
  struct Counts {
    std::uint64_t hashes = 0, checks = 0, searches = 0, rounds_of_search = 0;
  };

  // `collectives` must outlive it, and tell it of messages as long as it lives. The log is hashed unless the level is
  // off.
  ControlWatch(Collectives& collectives, CallLog& log, const Options& options);

  void called() {
    if (log_.last() >= next_) compare_at(log_.last());
  }
  // Once all calls up to `number` are known to be equal; at once where nothing is hashed. Never after a difference.
  void release(std::uint64_t number, std::function<void()> released);
  void ended();
  // Tells the next shard how far this one is: now and then, by whoever watches the time.
  void beat();

  bool is_done() const { return is_done_; }  // all have ended, and alike
  // Another call might now take the place of one that is still to be compared, or searched for.
  bool is_far_ahead() const { return is_searching_ || (log_.is_hashed() && log_.last() - checked_ >= most_ahead); }
  bool is_searching() const { return is_searching_; }  // calls that are made now take the place of searched ones
  const Difference* difference() const { return found_ ? &*found_ : nullptr; }
  std::uint64_t checked() const { return checked_; }
  Counts counts() const {
    Counts counts = counts_;
    counts.hashes = log_.is_hashed() ? log_.last() : 0;
    return counts;
  }

 private:
  struct Waiting {
    std::uint64_t number;
    std::function<void()> released;
  };
  // The next one behind that call: the same on every shard.
  std::uint64_t end_of_batch(std::uint64_t number) const;
  void find_next();  // whenever what next_ is found from has changed
  void compare_at(std::uint64_t number);
  void check(std::uint64_t number);
  void join(std::uint64_t number);
  void checked_up_to(std::uint64_t number);
  void hear(const ShardMessage& message);
  void compare(const CallStamp& stamp);
  void alarm(std::uint64_t call);
  void search();
  void narrow(std::uint64_t low, std::uint64_t high, std::uint8_t part);
  void show(std::uint64_t call, std::uint8_t part);

  Collectives& collectives_;
  CallLog& log_;
  const Options options_;
  Counts counts_;
  std::uint64_t checked_ = 0;
  std::uint64_t batch_end_;            // of the calls that are made now
  std::uint64_t next_ = 0;             // the least call at which there is something to do
  std::set<std::uint64_t> begun_;      // checks
  std::set<std::uint64_t> asked_for_;  // that others began, beyond what was called here
  std::deque<Waiting> waiting_;
  std::deque<CallStamp> ahead_;    // seen on messages of shards that are further
  std::uint64_t alarm_ = no_call;  // the least call at which a difference was seen
  bool has_ended_ = false, is_done_ = false, is_searching_ = false;
  // Of the search: the calls that all shards still have, and their chain of hashes.
  std::uint64_t window_first_ = 0;
  std::vector<Hash128> chain_;
  std::optional<Difference> found_;

  static constexpr std::uint64_t most_ahead = CallLog::kept / 4 * 3;  // of what was found equal
  static constexpr std::uint64_t no_call = UINT64_MAX;
  static constexpr std::uint64_t end_check = UINT64_MAX;  // the number of the check of those that have ended
};

}  // namespace taskspec
