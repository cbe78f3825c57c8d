#include "interp/shards/data/movement.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "ir/base/hash.hpp"

namespace taskspec {
namespace {

// 24 bits of it travel with each message.
constexpr std::uint32_t mark_bits = (std::uint32_t{1} << 24) - 1;

void add(Hasher& hash, const Intervals& runs) { hash.add(runs.runs().size()).bytes(std::as_bytes(runs.runs())); }

std::size_t bytes_of(const Intervals& runs) { return runs.runs().size() * (sizeof(Run) + sizeof(std::int64_t)); }

}  // namespace

void fold_by_shard(FoldMovement& movement, ShardId self) {
  const auto append = [](std::vector<Run>& to, const Intervals& runs) {
    to.insert(to.end(), runs.runs().begin(), runs.runs().end());
  };
  for (FoldMovement::Outgoing& out : movement.send) {
    std::vector<Run> runs;
    for (const FoldMovement::Slice& slice : out.slices) append(runs, slice.runs);
    out.together = Intervals::of(std::move(runs));
  }
  std::map<ShardId, std::vector<Run>> come;
  std::vector<FoldMovement::Step> own, steps;
  for (FoldMovement::Step& step : movement.steps) {
    if (step.from == self)
      own.push_back(std::move(step));
    else
      append(come[step.from], step.runs);
  }
  const auto take_own = [&] { std::ranges::move(std::exchange(own, {}), std::back_inserter(steps)); };
  for (auto& [from, runs] : come) {
    if (self < from) take_own();
    steps.push_back({FoldMovement::all_points, from, Intervals::of(std::move(runs))});
  }
  take_own();
  movement.steps = std::move(steps);
}

std::uint32_t mark_of(const Intervals& runs) { return next_mark(0, 0, runs); }

std::uint32_t next_mark(std::uint32_t mark, std::int64_t point, const Intervals& runs) {
  const std::uint64_t hash = hash64(std::as_bytes(runs.runs()));
  std::uint64_t mixed = (std::uint64_t{mark} ^ static_cast<std::uint64_t>(point) << 24 ^ hash) * 0x9E3779B97F4A7C15;
  mixed ^= mixed >> 29;
  return static_cast<std::uint32_t>(mixed) & mark_bits;
}

void seal(Movement& movement, ShardId self) {
  Hasher hash;
  hash.add(std::string_view("copies")).add(self.value);
  for (std::vector<Movement::Part>* parts : {&movement.send, &movement.receive}) {
    hash.add(parts->size());
    for (Movement::Part& part : *parts) {
      part.mark = mark_of(part.runs);
      add(hash.add(part.peer.value), part.runs);
    }
  }
  hash.add(movement.fills.size());
  for (const Movement::Fill& fill : movement.fills) add(hash.add(fill.number), fill.runs);
  movement.id = hash.digest().low;
}

void seal(FoldMovement& movement, ShardId self) {
  Hasher hash;
  hash.add(std::string_view("contributions")).add(self.value).add(movement.send.size());
  for (FoldMovement::Outgoing& out : movement.send) {
    out.mark = 0;
    hash.add(out.peer.value).add(out.slices.size());
    for (const FoldMovement::Slice& slice : out.slices) {
      out.mark = next_mark(out.mark, slice.point, slice.runs);
      add(hash.add(static_cast<std::uint64_t>(slice.point)), slice.runs);
    }
    add(hash, out.together);
    if (!out.together.empty()) out.mark = next_mark(0, FoldMovement::all_points, out.together);
  }
  movement.marks.assign(movement.receive_from.size(), 0);
  for (const FoldMovement::Step& step : movement.steps) {
    add(hash.add(static_cast<std::uint64_t>(step.point)).add(step.from.value), step.runs);
    for (std::size_t i = 0; i < movement.marks.size(); ++i)
      if (movement.receive_from[i] == step.from)
        movement.marks[i] = next_mark(movement.marks[i], step.point, step.runs);
  }
  movement.id = hash.digest().low;
}

std::size_t bytes(const Movement& movement) {
  std::size_t bytes = sizeof movement;
  for (const std::vector<Movement::Part>* parts : {&movement.send, &movement.receive})
    for (const Movement::Part& part : *parts) bytes += sizeof part + bytes_of(part.runs);
  for (const Movement::Fill& fill : movement.fills) bytes += sizeof fill + bytes_of(fill.runs);
  return bytes;
}

std::size_t bytes(const FoldMovement& movement) {
  std::size_t bytes = sizeof movement + movement.receive_from.size() * (sizeof(ShardId) + sizeof(std::uint32_t));
  for (const FoldMovement::Outgoing& out : movement.send) {
    bytes += sizeof out + bytes_of(out.together);
    for (const FoldMovement::Slice& slice : out.slices) bytes += sizeof slice + bytes_of(slice.runs);
  }
  for (const FoldMovement::Step& step : movement.steps) bytes += sizeof step + bytes_of(step.runs);
  return bytes;
}

}  // namespace taskspec
