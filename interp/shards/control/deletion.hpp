// Which data may be deleted: what the programs of all shards name no more. Finalisers say so on each shard in their own
// time; that a shard has said it is no call, and nobody waits for it. At call numbers that all shards have alike they
// compare what has been said so far, and what all have is deleted at the next such number, as calls that all make
// there.
//
//   deletions.dropped(12);                                   // by a finaliser: what call 12 made
//   if (deletions.is_due(log.last()))                        // between two calls
//     for (std::uint64_t made : deletions.agreed(log.last())) ...     // ascending; the same on every shard
//
// Numbers come after 2^b calls: b is 3, one more each time that nothing was agreed on, up to 12, and 3 again. Told are
// a count and a hash; where these differ, and each has something, the oldest ones themselves.
#pragma once
#include <set>

#include "interp/shards/collectives/collectives.hpp"

namespace taskspec {

class AgreedDeletions {
 public:
  static constexpr unsigned least_wait = 3, longest_wait = 12;  // b
  static constexpr std::size_t most_told = 1024;                // of those that differ
  struct Counts {
    std::uint64_t polls = 0, agreed = 0, told = 0;
  };

  explicit AgreedDeletions(Collectives& collectives) : collectives_(collectives) {}
  AgreedDeletions(const AgreedDeletions&) = delete;

  // By the call that made it. At any time, by the thread of the shard.
  void dropped(std::uint64_t made) { queue_.insert(made); }
  // A program may come to what it had dropped, where that is found again: at one place on all shards.
  void named_again(std::uint64_t made) {
    queue_.erase(made);
    told_.erase(made);
  }

  bool is_due(std::uint64_t calls) const { return calls >= next_; }
  bool is_known() const { return !is_asking_; }  // what was compared before; turns of the collectives bring it about
  // At a number of calls that is due and where it is known.
  std::vector<std::uint64_t> agreed(std::uint64_t calls);

  unsigned wait() const { return wait_; }
  const Counts& counts() const { return counts_; }

 private:
  void compare();
  void compared(std::span<const Bytes> of_shards);
  void tell();

  Collectives& collectives_;
  std::set<std::uint64_t> queue_;  // dropped here
  std::set<std::uint64_t>
      told_;  // of them, those that were there at the last number, as far as nobody named them since
  std::set<std::uint64_t> common_;  // of them, what all shards had
  std::uint64_t next_ = std::uint64_t{1} << least_wait;
  unsigned wait_ = least_wait;
  bool is_asking_ = false;
  Counts counts_;
};

}  // namespace taskspec
