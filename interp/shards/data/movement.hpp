// What one operation moves of one field, seen from one shard: which elements go to whom and come from whom. Runs are
// over the row-major index of the root region. Made once for a configuration, and shared.
//
//   Movement{.id = ..., .send = {{ShardId(1), 15..16}}, .receive = {{ShardId(1), 16..17}}}
//
// What all points of a fill got is sent by nobody: each shard fills in what it needs, when it does.
#pragma once
#include <cstdint>
#include <vector>

#include "interp/shards/message.hpp"
#include "ir/region/intervals.hpp"

namespace taskspec {

// Elements are copied: they have there, afterwards, what they have here.
struct Movement {
  struct Part {
    ShardId peer;
    Intervals runs;
    std::uint32_t mark = 0;  // of the runs: both ends have the same
  };
  struct Fill {
    std::uint32_t number;  // of the fill, among those that the lane still knows (DataState::contents)
    Intervals runs;
  };
  std::uint64_t id = 0;             // equal content, equal id (on one shard)
  std::vector<Part> send, receive;  // ascending by peer; never self, never without runs
  std::vector<Fill> fills = {};     // ascending by number; none without runs

  bool empty() const { return send.empty() && receive.empty() && fills.empty(); }
};

// The contributions of one `reduce` use: each point has folded its own into a buffer over its piece. Whoever is the
// home of an element adds them up there, in the order of the points of the launch, whoever sent them.
struct FoldMovement {
  struct Slice {
    std::int64_t point;  // linear number in the domain of the launch
    Intervals runs;      // inside the piece of that point
  };
  struct Outgoing {
    ShardId peer;
    std::vector<Slice> slices;  // of own points, ascending
    std::uint32_t mark = 0;
    Intervals together{};  // not empty: one contribution for each of these goes, to which the slices are added up here
  };
  static constexpr std::int64_t all_points = -1;  // of a shard: what they come to together
  struct Step {
    std::int64_t point;
    ShardId from;  // self: the own buffer
    Intervals runs;
  };
  std::uint64_t id = 0;
  std::vector<Outgoing> send;
  std::vector<ShardId> receive_from;  // ascending; who sends to this shard
  std::vector<std::uint32_t> marks;   // of what they send
  std::vector<Step> steps;            // ascending by point: the order in which elements whose home is here are folded

  bool empty() const { return send.empty() && steps.empty(); }
};

// Each shard first adds up what its own points contribute to the elements of another one, and sends that: fewer bytes
// where several of them contribute to one element. At the home shards follow one another in place of points, so bits
// depend on which points are together on a shard.
void fold_by_shard(FoldMovement& movement, ShardId self);

// Sums that both ends make of what they are to send and to receive.
std::uint32_t mark_of(const Intervals& runs);
std::uint32_t next_mark(std::uint32_t mark, std::int64_t point, const Intervals& runs);  // of a list of slices, from 0
// Fills in marks and the id. The id is made of the content alone.
void seal(Movement& movement, ShardId self);
void seal(FoldMovement& movement, ShardId self);

std::size_t bytes(const Movement& movement);
std::size_t bytes(const FoldMovement& movement);

}  // namespace taskspec
