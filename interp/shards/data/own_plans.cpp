#include "interp/shards/data/own_plans.hpp"

#include <algorithm>
#include <map>

#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

using Kind = LaneStep::Kind;

// Runs by peer, or by fill, in any order, as parts of a movement.
template <class Part, class Whose>
class PartMaker {
 public:
  explicit PartMaker(const Rect& root) : root_(root) {}
  void add(Whose whose, const IndexSpace& part) {
    part.runs(root_, [&](Run run) { runs_[whose].push_back(run); });
  }
  std::vector<Part> made() {
    std::vector<Part> parts;
    for (auto& [whose, runs] : runs_)
      if (Intervals merged = Intervals::of(std::move(runs)); !merged.empty())
        parts.push_back({whose, std::move(merged)});
    return parts;
  }

 private:
  const Rect& root_;
  std::map<Whose, std::vector<Run>> runs_;
};
using CopyMaker = PartMaker<Movement::Part, ShardId>;
using FillMaker = PartMaker<Movement::Fill, std::uint32_t>;

void append_runs(const Rect& root, const IndexSpace& part, std::vector<Run>& into) {
  part.runs(root, [&](Run run) { into.push_back(run); });
}

}  // namespace

// Of the set, what that shard has not got, by home or by fill. An entry that gave it to the shard ends the search, and
// so does one that changed it.
void OwnPlans::lacks(Stack stack, ShardId shard, IndexSpace set, Emit emit, EmitFill fill) const {
  for (; !stack.empty() && !set.empty(); stack = stack.subspan(1)) {
    const LaneStep& step = *stack.front();
    switch (step.kind) {
      case Kind::write:
      case Kind::reduce: {
        const KeyPoints& points = points_(step.key);
        const IndexSpace all = set;
        points.each_met(all, [&](const IndexSpace& piece, const KeyPoints::Taking& by) {
          const IndexSpace part = intersect(root_, set, piece);
          if (part.empty()) return;
          auto found = [&](const IndexSpace& lacking, ShardId home) {
            if (home != shard) emit(lacking, home);
          };
          if (step.kind == Kind::write)
            found(part, points.first_shard(by));
          else
            find_homes(stack.subspan(1), part, found);
          set = subtract(root_, set, part);
        });
        break;
      }
      case Kind::read: {
        const KeyPoints& points = points_(step.key);
        const IndexSpace all = set;
        points.each_met(all, [&](const IndexSpace& piece, const KeyPoints::Taking& by) {
          if (points.is_taken_by(by, shard)) set = subtract(root_, set, piece);
        });
        break;
      }
      case Kind::collect:
        if (step.to != shard) break;
        [[fallthrough]];
      case Kind::everywhere:
      case Kind::gather: {
        const IndexSpace space = forest_.points(step.space);
        if (step.fill > 0)
          if (const IndexSpace part = intersect(root_, set, space); !part.empty()) fill(part, step.fill);
        set = subtract(root_, set, space);
        break;
      }
      case Kind::total:
      case Kind::answer:
        break;
      case Kind::table: {
        const Intervals left = set.as_intervals(root_) - step.table->valid(shard.index());
        for (std::size_t home = 0; home < shards_ && !left.empty(); ++home)
          if (const Intervals part = left & step.table->home(home); !part.empty() && home != shard.index())
            emit(points_of(part), ShardId(home));
        std::uint32_t number = 0;
        for (const Intervals& filled : step.table->fills()) {
          ++number;
          if (const Intervals part = left & filled; !part.empty()) fill(points_of(part), number);
        }
        return;
      }
    }
  }
}

// Whose each element is, that of the block share where it is everywhere.
void OwnPlans::find_homes(Stack stack, IndexSpace set, Emit emit) const {
  for (; !stack.empty() && !set.empty(); stack = stack.subspan(1)) {
    const LaneStep& step = *stack.front();
    if (step.kind == Kind::write) {
      const KeyPoints& points = points_(step.key);
      const IndexSpace all = set;
      points.each_met(all, [&](const IndexSpace& piece, const KeyPoints::Taking& by) {
        const IndexSpace part = intersect(root_, set, piece);
        if (part.empty()) return;
        emit(part, points.first_shard(by));
        set = subtract(root_, set, part);
      });
    } else if (step.kind == Kind::everywhere) {
      const IndexSpace space = forest_.points(step.space), part = intersect(root_, set, space);
      cut_by_shares(part, emit);
      set = subtract(root_, set, space);
    } else if (step.kind == Kind::table) {
      Intervals left = set.as_intervals(root_);
      for (std::size_t home = 0; home < shards_; ++home) {
        const Intervals part = left & step.table->home(home);
        if (part.empty()) continue;
        emit(points_of(part), ShardId(home));
        left = left - part;
      }
      return cut_by_shares(points_of(left), emit);
    }
  }
  cut_by_shares(set, emit);
}

void OwnPlans::cut_by_shares(const IndexSpace& set, Emit emit) const {
  std::map<std::size_t, std::vector<Run>> by_shard;
  set.runs(root_, [&](Run run) {
    while (run.lo < run.hi) {
      const std::size_t shard = block_home(run.lo, elements_, shards_);
      const std::int64_t end = std::min(run.hi, block_share(elements_, shards_, shard).hi);
      by_shard[shard].push_back({run.lo, end});
      run.lo = end;
    }
  });
  for (auto& [shard, runs] : by_shard) emit(points_of(Intervals::of_sorted(std::move(runs))), ShardId(shard));
}

// ---- what is at home here -------------------------------------------------------------------------

IndexSpace OwnPlans::without_written(Stack steps, IndexSpace set) const {
  for (const LaneStep* step : steps) {
    if (set.empty()) break;
    if (step->kind == Kind::everywhere) set = subtract(root_, set, forest_.points(step->space));
    if (step->kind != Kind::write) continue;
    const IndexSpace all = set;
    points_(step->key).each_met(
        all, [&](const IndexSpace& piece, const KeyPoints::Taking&) { set = subtract(root_, set, piece); });
  }
  return set;
}

// What is everywhere, and did not get a home by earlier contributions.
IndexSpace OwnPlans::free_below(Stack stack, IndexSpace set) const {
  IndexSpace free;
  bool has_free = false;
  for (; !stack.empty() && !set.empty(); stack = stack.subspan(1)) {
    const LaneStep& step = *stack.front();
    if (step.kind == Kind::everywhere) {
      const IndexSpace space = forest_.points(step.space), part = intersect(root_, set, space);
      free = has_free ? unite(root_, free, part) : part;
      has_free = true;
      set = subtract(root_, set, space);
    } else if (step.kind == Kind::write || step.kind == Kind::reduce) {
      const IndexSpace all = set;
      points_(step.key).each_met(
          all, [&](const IndexSpace& piece, const KeyPoints::Taking&) { set = subtract(root_, set, piece); });
    } else if (step.kind == Kind::table) {
      for (std::size_t home = 0; home < shards_; ++home) set = subtract(root_, set, points_of(step.table->home(home)));
    }
  }
  return has_free ? unite(root_, free, set) : set;
}

OwnPlans::Homes OwnPlans::own_homes(Stack stack) const {
  Homes homes;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const LaneStep& step = *stack[i];
    const Stack newer = stack.first(i);
    if (step.kind == Kind::write) add_written(newer, step, homes);
    if (step.kind == Kind::reduce) add_shares(newer, step, stack.subspan(i + 1), homes);
    if (step.kind != Kind::table) continue;
    for (const Run& run : step.table->home(self_.index()).runs())
      if (IndexSpace left = without_written(newer, points_of(Intervals::of_sorted({run}))); !left.empty())
        homes.push_back(std::move(left));
  }
  return homes;
}

void OwnPlans::add_written(Stack newer, const LaneStep& step, Homes& into) const {
  points_(step.key).each_own([&](std::int64_t, const IndexSpace& piece) {
    if (IndexSpace left = without_written(newer, piece); !left.empty()) into.push_back(std::move(left));
  });
}

// Contributions to what was everywhere gave it a home: that of the block share.
void OwnPlans::add_shares(Stack newer, const LaneStep& step, Stack older, Homes& into) const {
  const Run share = block_share(elements_, shards_, self_.index());
  if (share.size() == 0) return;
  IndexSpace left = free_below(older, without_written(newer, points_of(Intervals::of_sorted({share}))));
  const IndexSpace all = left;
  points_(step.key).each_met(all, [&](const IndexSpace& piece, const KeyPoints::Taking&) {
    IndexSpace part = intersect(root_, left, piece);
    if (part.empty()) return;
    left = subtract(root_, left, part);
    into.push_back(std::move(part));
  });
}

// ---- what moves -----------------------------------------------------------------------------------

Movement OwnPlans::read(Stack stack, const Homes& homes, KeyId key) const {
  const KeyPoints& points = points_(key);
  CopyMaker send(root_), receive(root_);
  FillMaker fills(root_);
  points.each_own([&](std::int64_t, const IndexSpace& piece) {
    lacks(
        stack, self_, piece, [&](const IndexSpace& part, ShardId home) { receive.add(home, part); },
        [&](const IndexSpace& part, std::uint32_t number) { fills.add(number, part); });
  });
  for (const IndexSpace& home : homes)
    points.each_met(home, [&](const IndexSpace& piece, const KeyPoints::Taking& by) {
      const IndexSpace wanted = intersect(root_, home, piece);
      points.each_shard(by, [&](ShardId shard) {
        if (shard != self_)
          lacks(stack, shard, wanted, [&](const IndexSpace& part, ShardId) { send.add(shard, part); });
      });
    });
  return {.send = send.made(), .receive = receive.made(), .fills = fills.made()};
}

Movement OwnPlans::gather(Stack stack, const Homes& homes, const Space& space) const {
  const IndexSpace points = forest_.points(space);
  CopyMaker send(root_), receive(root_);
  FillMaker fills(root_);
  lacks(
      stack, self_, points, [&](const IndexSpace& part, ShardId home) { receive.add(home, part); },
      [&](const IndexSpace& part, std::uint32_t number) { fills.add(number, part); });
  for (const IndexSpace& home : homes) {
    const IndexSpace wanted = intersect(root_, home, points);
    for (std::size_t to = 0; to < shards_ && !wanted.empty(); ++to)
      if (to != self_.index())
        lacks(stack, ShardId(to), wanted, [&](const IndexSpace& part, ShardId) { send.add(ShardId(to), part); });
  }
  return {.send = send.made(), .receive = receive.made(), .fills = fills.made()};
}

Movement OwnPlans::collect(Stack stack, const Homes& homes, const Space& space, ShardId to) const {
  const IndexSpace points = forest_.points(space);
  CopyMaker send(root_), receive(root_);
  FillMaker fills(root_);
  if (to == self_) {
    lacks(
        stack, self_, points, [&](const IndexSpace& part, ShardId home) { receive.add(home, part); },
        [&](const IndexSpace& part, std::uint32_t number) { fills.add(number, part); });
  } else {
    for (const IndexSpace& home : homes)
      lacks(stack, to, intersect(root_, home, points), [&](const IndexSpace& part, ShardId) { send.add(to, part); });
  }
  return {.send = send.made(), .receive = receive.made(), .fills = fills.made()};
}

// What is at home here is here: only what is everywhere may be missing.
Movement OwnPlans::fills(Stack stack, const Space& space) const {
  FillMaker fills(root_);
  if (const Run share = block_share(elements_, shards_, self_.index()); share.size() > 0)
    lacks(
        stack, self_, intersect(root_, points_of(Intervals::of_sorted({share})), forest_.points(space)),
        [](const IndexSpace&, ShardId) {},
        [&](const IndexSpace& part, std::uint32_t number) { fills.add(number, part); });
  return {.send = {}, .receive = {}, .fills = fills.made()};
}

FoldMovement OwnPlans::reduce(Stack stack, const Homes& homes, KeyId key) const {
  const KeyPoints& points = points_(key);
  FoldMovement fold;
  std::map<ShardId, std::map<std::int64_t, std::vector<Run>>> out;
  points.each_own_point([&](std::int64_t point, const IndexSpace& piece) {
    find_homes(stack, piece, [&](const IndexSpace& part, ShardId home) {
      if (home != self_) append_runs(root_, part, out[home][point]);
    });
  });
  for (auto& [peer, slices] : out) {
    FoldMovement::Outgoing& made = fold.send.emplace_back();
    made.peer = peer;
    for (auto& [point, runs] : slices) made.slices.push_back({point, Intervals::of(std::move(runs))});
  }
  std::map<std::int64_t, std::vector<Run>> steps;
  for (const IndexSpace& home : homes)
    points.each_met(home, [&](const IndexSpace& piece, const KeyPoints::Taking& by) {
      const IndexSpace part = intersect(root_, home, piece);
      points.each_point(by, [&](std::int64_t point) { append_runs(root_, part, steps[point]); });
    });
  for (auto& [point, runs] : steps) {
    const ShardId from = points.shard(point);
    fold.steps.push_back({point, from, Intervals::of(std::move(runs))});
    if (from != self_) fold.receive_from.push_back(from);
  }
  std::sort(fold.receive_from.begin(), fold.receive_from.end());
  fold.receive_from.erase(std::unique(fold.receive_from.begin(), fold.receive_from.end()), fold.receive_from.end());
  return fold;
}

Intervals OwnPlans::answers_for(Stack stack, const Homes& homes, const Space& space) const {
  const IndexSpace points = forest_.points(space);
  std::vector<Run> runs;
  for (const IndexSpace& home : homes) append_runs(root_, intersect(root_, home, points), runs);
  if (const Run share = block_share(elements_, shards_, self_.index()); share.size() > 0) {
    const IndexSpace part = intersect(root_, points_of(Intervals::of_sorted({share})), points);
    append_runs(root_, free_below(stack, part), runs);
  }
  return Intervals::of(std::move(runs));
}

}  // namespace taskspec
