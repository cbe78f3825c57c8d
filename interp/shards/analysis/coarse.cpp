#include "interp/shards/analysis/coarse.hpp"

#include <algorithm>
#include <optional>

namespace taskspec {
namespace {

void put_in_order(std::vector<std::uint64_t>& numbers) {
  if (numbers.size() < 2) return;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

struct CoarseStage::Lane {
  Lane(const RegionForest& forest, RegionId root) : tree(forest, root) {}
  LaneTree tree;
  // What the present operation found here.
  std::uint64_t op = 0;
  bool is_cross = false, is_local = false, is_by_more = false, is_forced = false;
  std::optional<Space> scope;  // of the fence
};

CoarseStage::CoarseStage(const RegionForest& forest, KeyTable& keys, Elides elides, Elides more)
    : forest_(forest), keys_(keys), elides_(std::move(elides)), more_(std::move(more)) {}
CoarseStage::~CoarseStage() = default;

bool CoarseStage::elides(const RegionForest& forest, const UseKey& earlier, const UseKey& later) {
  const PointSharding &a = earlier.sharding, &b = later.sharding;
  if (a.kind == PointSharding::Kind::owner && a == b) return true;
  return earlier.is_alike(later) && is_point_by_point(forest, later);
}

CoarseStage::Lane& CoarseStage::lane(RegionId root, std::uint32_t field) {
  if (lanes_.size() <= root.index()) lanes_.resize(root.index() + 1);
  auto& fields = lanes_[root.index()];
  if (fields.size() <= field) fields.resize(field + 1);
  std::unique_ptr<Lane>& slot = fields[field];
  if (!slot) slot = std::make_unique<Lane>(forest_, root);
  return *slot;
}

CoarseResult CoarseStage::analyse(const Operation& op) {
  CoarseResult result;
  ++counts_.steps;
  work_.clear();
  touches_.clear();
  for (const LaunchUse& use : op.uses) {
    const KeyId key = keys_.of(op, use);
    use.fields.each([&](std::uint32_t field) {
      Lane& at = lane(use.space.root, field);
      touches_.push_back({&use, key, &at, at.tree.place(use)});
    });
  }
  for (const Touch& touch : touches_) collect(op, touch, result);
  for (Lane* lane : work_)
    if (lane->is_cross || lane->is_forced) enter_fence(op.number, *lane, result);
  for (const Touch& touch : touches_)
    if (touch.use->privilege != Privilege::in && touch.use->privilege != Privilege::reduce) prune(touch, result);
  for (const Touch& touch : touches_) enter(op, touch, result);
  count(op, result);
  std::erase(result.local, op.number);
  for (auto* numbers : {&result.local, &result.fences, &result.arrives_after, &result.arrives_after_fences})
    put_in_order(*numbers);
  return result;
}

void CoarseStage::collect(const Operation& op, const Touch& touch, CoarseResult& result) {
  Lane& lane = *touch.lane;
  if (lane.op != op.number) {
    lane.op = op.number;
    lane.is_cross = lane.is_local = lane.is_by_more = lane.is_forced = false;
    lane.scope.reset();
    work_.push_back(&lane);
  }
  const std::uint64_t touched_before = lane.tree.touched();
  auto widen = [&](const Space& to) {
    if (!lane.scope)
      lane.scope = lane.tree.bound(touch.place);
    else if (*lane.scope == lane.tree.bound(0))
      return;
    lane.scope = forest_.common_ancestor(*lane.scope, to);
  };
  lane.tree.each_that_may_meet(touch.place, [&](LaneTree::Place at, LaneTree::Entry& entry) {
    if (entry.is_fence) {
      result.fences.push_back(entry.op);
      return;
    }
    if (hazard(entry.privilege, entry.reduce, touch.use->privilege, touch.use->op) == Hazard::none) return;
    const UseKey &earlier = keys_[entry.key], &later = keys_[touch.key];
    const bool is_local = op.by_owners || (!earlier.by_owners && elides_(forest_, earlier, later));
    if (is_local || (more_ && !earlier.by_owners && more_(forest_, earlier, later))) {
      result.local.push_back(entry.op);
      lane.is_local = true;
      lane.is_by_more = lane.is_by_more || !is_local;
    } else {
      lane.is_cross = true;
      widen(lane.tree.bound(at));
      widen(lane.tree.bound(touch.place));
    }
  });
  if (lane.tree.at(touch.place).size() >= longest_list) {
    lane.is_forced = true;
    widen(lane.tree.bound(touch.place));
  }
  counts_.touched += lane.tree.touched() - touched_before;
}

// It stands for all that is under its scope: who comes later finds it in their place.
void CoarseStage::enter_fence(std::uint64_t op, Lane& lane, CoarseResult& result) {
  const LaneTree::Place place = lane.tree.place(*lane.scope);
  lane.tree.remove_under(place, [&](const LaneTree::Entry& entry) {
    (entry.is_fence ? result.arrives_after_fences : result.arrives_after).push_back(entry.op);
    return true;
  });
  lane.tree.add(place, {.op = op, .key = {}, .is_fence = true});
  result.has_fence = true;
  result.fences.push_back(op);
}

// A write waits for every older user below what it is of, and whatever may meet one of these may meet it.
void CoarseStage::prune(const Touch& touch, CoarseResult& result) {
  LaneTree& tree = touch.lane->tree;
  tree.remove_under(tree.bounding(touch.place), [&](const LaneTree::Entry& entry) {
    if (entry.is_fence) return false;
    result.local.push_back(entry.op);
    return true;
  });
}

void CoarseStage::enter(const Operation& op, const Touch& touch, CoarseResult& result) {
  LaneTree& tree = touch.lane->tree;
  if (touch.use->privilege == Privilege::in)
    for (LaneTree::Entry& entry : tree.at(touch.place))
      if (!entry.is_fence && entry.privilege == Privilege::in && entry.key == touch.key) {
        // Equal reads are one entry: the later one stands behind the earlier.
        result.local.push_back(entry.op);
        entry.op = op.number;
        return;
      }
  tree.add(touch.place,
           {.op = op.number, .key = touch.key, .privilege = touch.use->privilege, .reduce = touch.use->op});
}

void CoarseStage::count(const Operation& op, const CoarseResult& result) {
  counts_.collectives += result.has_fence;
  for (const Lane* lane : work_) {
    counts_.forced += lane->is_forced && !lane->is_cross;
    if (!op.is_counted)
      counts_.other_fences += lane->is_cross;
    else if (lane->is_cross)
      ++counts_.fences;
    else if (lane->is_local)
      ++(lane->is_by_more ? counts_.elided_more : counts_.elided);
  }
}

void CoarseStage::each_entry(LaneKey of, FunctionRef<void(LaneTree::Place, const LaneTree::Entry&)> visit) {
  lane(of.root, of.field).tree.each(visit);
}

void CoarseStage::replace(LaneKey of, std::span<const std::pair<LaneTree::Place, LaneTree::Entry>> entries,
                          std::uint64_t fence) {
  LaneTree& tree = lane(of.root, of.field).tree;
  tree.clear();
  tree.add(0, {.op = fence, .key = {}, .is_fence = true});
  // Of older fences one at a place tells as much as several, and the first one is at the region itself.
  for (const auto& [place, entry] : entries) {
    const auto is_fence = [](const LaneTree::Entry& known) { return known.is_fence; };
    if (!entry.is_fence || std::ranges::none_of(tree.at(place), is_fence)) tree.add(place, entry);
  }
}

void CoarseStage::count_replayed(std::uint64_t fences, std::uint64_t elided, std::uint64_t elided_more) {
  counts_.fences += fences;
  counts_.elided += elided;
  counts_.elided_more += elided_more;
}

void CoarseStage::count_exit_fence() {
  ++counts_.other_fences;
  ++counts_.collectives;
}

void CoarseStage::forget(RegionId root) {
  if (root.index() < lanes_.size()) lanes_[root.index()].clear();
}

void CoarseStage::forget(RegionId root, PartitionId partition) {
  if (root.index() >= lanes_.size()) return;
  for (const auto& lane : lanes_[root.index()])
    if (lane) lane->tree.forget(partition);
}

bool CoarseStage::names(RegionId root, PartitionId partition) const {
  return root.index() < lanes_.size() && std::ranges::any_of(lanes_[root.index()], [&](const auto& lane) {
           return lane && lane->tree.has_entries(partition);
         });
}

const LaneTree* CoarseStage::tree(LaneKey of) const {
  if (of.root.index() >= lanes_.size() || of.field >= lanes_[of.root.index()].size()) return nullptr;
  const auto& lane = lanes_[of.root.index()][of.field];
  return lane ? &lane->tree : nullptr;
}

void CoarseStage::force(RegionId root, std::uint64_t fence) {
  if (root.index() >= lanes_.size()) return;
  for (std::uint32_t field = 0; field < lanes_[root.index()].size(); ++field)
    if (lanes_[root.index()][field]) replace({root, field}, {}, fence);
  ++counts_.forced;
  ++counts_.other_fences;
  ++counts_.collectives;
}

std::size_t CoarseStage::bytes() const {
  std::size_t bytes = 0;
  for (const auto& fields : lanes_)
    for (const auto& lane : fields)
      if (lane) bytes += sizeof(Lane) + lane->tree.bytes();
  return bytes;
}

}  // namespace taskspec
