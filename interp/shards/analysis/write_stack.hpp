// Who holds the contents of a lane, symbolically: the newest write that took a point has its value. Kept by the coarse
// stage on every shard alike, whatever the size of a launch; copy plans ask it.
//
//   WriteStack stack;                       // all zero
//   stack.write(forest, keys, fill_key, 3, WriteStack::Source::fill);        // by operation 3
//   stack.write(forest, keys, key, 17);     // a launch: what its pieces take comes from its points
//   for (const WriteStack::Entry& entry : stack.entries()) ...      // newest first; the last one has every point
#pragma once
#include <vector>

#include "interp/shards/analysis/operation.hpp"

namespace taskspec {

class WriteStack {
 public:
  enum class Source : std::uint8_t { zero, fill, file, launch };
  struct Entry {
    Source source = Source::zero;
    KeyId key;             // whose pieces have it; none: every point
    std::uint64_t op = 0;  // that wrote
  };
  struct Contribution {  // waits to be applied
    KeyId key;
    ReduceOp op = ReduceOp::sum;
    std::uint64_t number = 0;
  };
  static constexpr std::size_t deepest = 16;  // above it the contents are to be copied into one form

  WriteStack() : entries_(1) {}

  // An entry below one that is known to contain it goes.
  void write(const RegionForest& forest, const KeyTable& keys, KeyId key, std::uint64_t op,
             Source source = Source::launch);
  void contribute(KeyId key, ReduceOp op, std::uint64_t number) { pending_.push_back({key, op, number}); }
  // The contributions have been applied to what they were added to.
  void applied() { pending_.clear(), holders_.clear(); }
  // Readers of that key have fetched what is there. False: they had it already, and nothing is to be copied.
  bool fetch(KeyId key);

  const std::vector<Entry>& entries() const { return entries_; }  // newest first
  const std::vector<Contribution>& pending() const { return pending_; }
  bool is_too_deep() const { return entries_.size() > deepest; }

 private:
  std::vector<Entry> entries_;
  std::vector<KeyId> holders_;
  std::vector<Contribution> pending_;
};

}  // namespace taskspec
