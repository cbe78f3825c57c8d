#include "interp/shards/control/deletion.hpp"

#include <algorithm>

#include "ir/base/hash.hpp"

namespace taskspec {
namespace {

struct Summary {
  std::uint64_t count = 0;
  Hash128 hash{};
  friend bool operator==(const Summary&, const Summary&) = default;
};

Summary summary_of(ByteView bytes) {
  ByteReader in(bytes);
  Summary made{in.get<std::uint64_t>(), {}};
  made.hash.low = in.get<std::uint64_t>();
  made.hash.high = in.get<std::uint64_t>();
  return made;
}

}  // namespace

std::vector<std::uint64_t> AgreedDeletions::agreed(std::uint64_t calls) {
  std::vector<std::uint64_t> found;
  std::ranges::set_intersection(common_, told_, std::back_inserter(found));
  for (const std::uint64_t made : found) queue_.erase(made);
  counts_.agreed += found.size();
  if (counts_.polls > 0) wait_ = found.empty() ? std::min(wait_ + 1, longest_wait) : least_wait;
  next_ = calls + (std::uint64_t{1} << wait_);
  compare();
  return found;
}

void AgreedDeletions::compare() {
  ++counts_.polls;
  is_asking_ = true;
  told_ = queue_;
  common_.clear();
  Hasher hasher;
  for (const std::uint64_t made : told_) hasher.add(made);
  const Hash128 hash = hasher.digest();
  Bytes own;
  ByteWriter(own).put(std::uint64_t{told_.size()}).put(hash.low).put(hash.high);
  collectives_.all_gather({Purpose::value, counts_.polls, 3}, std::move(own),
                          [this](const std::vector<Bytes>& of_shards) { compared(of_shards); });
}

// All shards see the same here, and go on alike.
void AgreedDeletions::compared(std::span<const Bytes> of_shards) {
  bool are_equal = true, has_none = false;
  const Summary first = summary_of(of_shards[0]);
  for (const Bytes& of_shard : of_shards) {
    const Summary summary = summary_of(of_shard);
    are_equal = are_equal && summary == first;
    has_none = has_none || summary.count == 0;
  }
  if (!are_equal && !has_none) return tell();
  if (are_equal) common_ = told_;
  is_asking_ = false;
}

void AgreedDeletions::tell() {
  ++counts_.told;
  Bytes own;
  ByteWriter out(own);
  std::size_t left = most_told;
  for (auto made = told_.begin(); made != told_.end() && left > 0; ++made, --left) out.put(*made);
  collectives_.all_gather({Purpose::value, counts_.polls, 4}, std::move(own), [this](const std::vector<Bytes>& lists) {
    for (std::size_t shard = 0; shard < lists.size(); ++shard) {
      std::set<std::uint64_t> list, both;
      ByteReader in(lists[shard]);
      while (in.left() > 0) list.insert(in.get<std::uint64_t>());
      if (shard == 0) common_ = list;
      std::ranges::set_intersection(common_, list, std::inserter(both, both.end()));
      common_ = std::move(both);
    }
    is_asking_ = false;
  });
}

}  // namespace taskspec
