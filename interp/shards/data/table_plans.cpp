#include "interp/shards/data/table_plans.hpp"

namespace taskspec {
namespace {

void add_fills(Movement& movement, const HomeTable& table, const Intervals& lacking) {
  std::uint32_t number = 0;
  for (const Intervals& filled : table.fills()) {
    ++number;
    if (Intervals runs = lacking & filled; !runs.empty()) movement.fills.push_back({number, std::move(runs)});
  }
}

}  // namespace

const TablePlans::Pieces& TablePlans::pieces(KeyId id) {
  const auto [known, is_new] = pieces_.try_emplace(id.value);
  Pieces& made = known->second;
  if (!is_new) return made;
  const UseKey& key = keys_[id];
  made.by_shard.resize(shards_);
  const std::int64_t size = key.domain.size();
  for (std::int64_t point = 0; point < size; ++point) {
    const Space space = key.use.at(key.domain.point(point));
    const std::size_t shard = key.sharding.shard(point, size, shards_).index();
    made.points.push_back({shard, forest_.points(space).as_intervals(forest_.root(space))});
    made.by_shard[shard] = made.by_shard[shard] | made.points.back().runs;
  }
  return made;
}

std::vector<Intervals> TablePlans::needs(const LaneStep& step) {
  if (step.kind == LaneStep::Kind::read) return pieces(step.key).by_shard;
  std::vector<Intervals> needs(shards_);
  for (std::size_t shard = 0; shard < shards_; ++shard)
    if (step.kind == LaneStep::Kind::gather || ShardId(shard) == step.to) needs[shard] = points(step);
  return needs;
}

Movement TablePlans::move(HomeTable& table, const LaneStep& step) {
  Movement movement;
  const std::vector<Intervals> needs = this->needs(step);
  auto add = [](std::vector<Movement::Part>& parts, std::size_t peer, const Intervals& runs) {
    if (!runs.empty()) parts.push_back({ShardId(peer), runs});
  };
  for (std::size_t to = 0; to < shards_; ++to) {
    const std::vector<Intervals> missing = table.missing(to, needs[to]);
    for (std::size_t from = 0; from < shards_; ++from) {
      if (from == self_.index()) add(movement.send, to, missing[from]);
      if (to == self_.index()) add(movement.receive, from, missing[from]);
    }
  }
  add_fills(movement, table, needs[self_.index()] - table.valid(self_.index()));
  apply(table, step);
  return movement;
}

Movement TablePlans::fills(const HomeTable& table, const LaneStep& step) {
  Movement movement;
  add_fills(movement, table, answers_for(table, step) - table.valid(self_.index()));
  return movement;
}

FoldMovement TablePlans::fold(HomeTable& table, const LaneStep& step) {
  apply(table, step);
  const Pieces& pieces = this->pieces(step.key);
  FoldMovement fold;
  std::vector<bool> sends(shards_);
  for (std::size_t to = 0; to < shards_; ++to) {
    FoldMovement::Outgoing out;
    out.peer = ShardId(to);
    for (std::size_t point = 0; point < pieces.points.size(); ++point) {
      const Pieces::OfPoint& of = pieces.points[point];
      if (to != self_.index() && of.shard != self_.index()) continue;
      const Intervals runs = of.runs & table.home(to);
      if (runs.empty()) continue;
      const auto number = static_cast<std::int64_t>(point);
      if (to != self_.index()) {
        out.slices.push_back({number, runs});
        continue;
      }
      fold.steps.push_back({number, ShardId(of.shard), runs});
      sends[of.shard] = of.shard != self_.index();
    }
    if (!out.slices.empty()) fold.send.push_back(std::move(out));
  }
  for (std::size_t from = 0; from < shards_; ++from)
    if (sends[from]) fold.receive_from.push_back(ShardId(from));
  return fold;
}

Intervals TablePlans::answers_for(const HomeTable& table, const LaneStep& step) {
  const Intervals points = this->points(step);
  Intervals everywhere = Intervals::of_sorted({block_share(forest_[root_].extents.size(), shards_, self_.index())});
  for (std::size_t shard = 0; shard < shards_; ++shard) everywhere = everywhere - table.home(shard);
  return points & (table.home(self_.index()) | everywhere);
}

void TablePlans::apply(HomeTable& table, const LaneStep& step) {
  switch (step.kind) {
    case LaneStep::Kind::write:
      return table.write(pieces(step.key).by_shard);
    case LaneStep::Kind::everywhere:
      return step.fill > 0 ? table.fill(points(step), step.fill) : table.everywhere(points(step));
    case LaneStep::Kind::reduce:
      for (const Intervals& taken : pieces(step.key).by_shard) table.contribute(taken);
      return;
    case LaneStep::Kind::read:
    case LaneStep::Kind::gather:
    case LaneStep::Kind::collect: {
      const std::vector<Intervals> needs = this->needs(step);
      for (std::size_t shard = 0; shard < shards_; ++shard) table.hold(shard, needs[shard]);
      return;
    }
    case LaneStep::Kind::table:
      table = *step.table;
      return;
    case LaneStep::Kind::total:
    case LaneStep::Kind::answer:
      return;
  }
}

std::size_t TablePlans::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [key, pieces] : pieces_) {
    bytes += sizeof pieces;
    for (const Pieces::OfPoint& of : pieces.points)
      bytes += sizeof of + of.runs.runs().size() * (sizeof(Run) + sizeof(std::int64_t));
  }
  return bytes;
}

}  // namespace taskspec
