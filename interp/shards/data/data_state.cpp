#include "interp/shards/data/data_state.hpp"

#include <algorithm>

#include "interp/shards/data/own_plans.hpp"
#include "interp/shards/data/table_plans.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

// What a step finds in a lane decides what moves, and how the lane is then.
struct DataState::Decision {
  std::uint32_t next = 0;  // state
  std::shared_ptr<const Movement> movement{};
  std::shared_ptr<const FoldMovement> fold{};
  std::shared_ptr<const TotalShare> total{};
};

// Of one region: all states that its lanes have been in, and what each step made of them. State 0: all is everywhere.
struct DataState::Tree {
  struct State {
    LaneStack stack;
    std::optional<OwnPlans::Homes> homes{};  // own ones, when somebody asks
  };

  Tree(const RegionForest& forest, const KeyTable& keys, RegionId root, std::size_t shards, ShardId self,
       std::uint64_t& touched)
      : own(forest, root, shards, self,
            [&, shards, self](KeyId key) -> const KeyPoints& {
              std::unique_ptr<KeyPoints>& slot = points[key.value];
              if (!slot) slot = std::make_unique<KeyPoints>(forest, keys[key], shards, self, touched);
              return *slot;
            }),
        all(forest, keys, root, shards, self) {
    (void)state({});
  }

  std::uint32_t state(LaneStack stack) {
    const std::uint64_t hash = hash64(std::as_bytes(std::span(stack)));
    const auto [begin, end] = by_hash.equal_range(hash);
    for (auto known = begin; known != end; ++known)
      if (states.at(known->second).stack == stack) return known->second;
    states.emplace(next_state, State{std::move(stack)});
    by_hash.emplace(hash, next_state);
    return next_state++;
  }
  std::vector<const LaneStep*> stack(std::uint32_t state) const {
    std::vector<const LaneStep*> found;
    for (const LaneStepId id : states.at(state).stack) found.push_back(&steps[id]);
    return found;
  }
  const OwnPlans::Homes& homes(std::uint32_t at) {
    State& state = states.at(at);
    if (!state.homes) state.homes = own.own_homes(stack(at));
    return *state.homes;
  }
  HomeTable table(std::uint32_t at) {
    HomeTable table = all.first();
    const std::vector<const LaneStep*> newest_first = stack(at);
    for (auto step = newest_first.rbegin(); step != newest_first.rend(); ++step) all.apply(table, **step);
    return table;
  }
  std::uint32_t& lane(std::uint32_t field) {
    if (lanes.size() <= field) lanes.resize(field + 1);
    return lanes[field];
  }
  std::uint32_t state_of(HomeTable table) {
    LaneStep step{.kind = LaneStep::Kind::table};
    step.table = std::make_shared<const HomeTable>(std::move(table));
    return state({steps.of(step)});
  }
  void forget(PartitionId partition, const KeyTable& keys);

  void hold(RegionForest& forest, PartitionId partition) {
    if (!partition.valid() || std::find(held.begin(), held.end(), partition) != held.end()) return;
    forest.hold(partition);
    held.push_back(partition);
  }

  std::uint64_t serial = 0;  // of the region
  std::vector<PartitionId> held;
  LaneSteps steps;
  std::unordered_map<std::uint32_t, State> states;  // a number is not given again
  std::uint32_t next_state = 0;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash;
  std::unordered_map<std::uint64_t, Decision> decisions;                 // by state and step
  std::vector<std::uint32_t> lanes;                                      // their present states, by field
  std::vector<std::vector<Value>> contents;                              // by field, then by number of a fill - 1
  std::unordered_map<std::uint32_t, std::unique_ptr<KeyPoints>> points;  // by key
  OwnPlans own;
  TablePlans all;
};

DataState::DataState(RegionForest& forest, const KeyTable& keys, std::size_t shards, ShardId self, Plans plans,
                     Folds folds)
    : forest_(forest), keys_(keys), shards_(shards), self_(self), plans_(plans), folds_(folds) {}
DataState::~DataState() = default;

DataState::Tree& DataState::tree(RegionId root) {
  if (trees_.size() <= root.index()) trees_.resize(root.index() + 1);
  std::unique_ptr<Tree>& slot = trees_[root.index()];
  if (slot && slot->serial != forest_.serial(root)) slot.reset();  // another region with that id
  if (!slot) {
    slot = std::make_unique<Tree>(forest_, keys_, root, shards_, self_, counts_.touched);
    slot->serial = forest_.serial(root);
  }
  return *slot;
}

std::uint32_t& DataState::state_of(LaneKey lane) { return tree(lane.root).lane(lane.field); }

std::uint32_t DataState::state(LaneKey lane) { return state_of(lane); }

void DataState::set_state(LaneKey lane, std::uint32_t state) {
  Tree& tree = this->tree(lane.root);
  if (state >= tree.next_state) bug("a lane is set to a state that nobody knows");
  tree.lane(lane.field) = state;
}

const DataState::Decision& DataState::decide(LaneKey lane, const LaneStep& step) {
  const AllocationMeter::Part counted(meter_);
  Tree& tree = this->tree(lane.root);
  const std::uint32_t at = state_of(lane);
  const std::uint64_t found = std::uint64_t{at} << 32 | tree.steps.of(step);
  auto known = tree.decisions.find(found);
  if (known == tree.decisions.end()) {
    ++counts_.made;
    known = tree.decisions.emplace(found, made(tree, at, step)).first;
  } else {
    ++counts_.reused;
  }
  tree.lanes[lane.field] = known->second.next;
  return known->second;
}

DataState::Decision DataState::made(Tree& tree, std::uint32_t at, const LaneStep& step) {
  const bool is_fold = step.kind == LaneStep::Kind::reduce;
  Movement movement;
  FoldMovement fold;
  Decision made;
  if (step.has_key()) {
    tree.hold(forest_, keys_[step.key].use.partition);
    tree.hold(forest_, keys_[step.key].use.space.partition);
  } else {
    tree.hold(forest_, step.space.partition);
  }
  if (step.kind == LaneStep::Kind::total) {
    const Intervals own = answers_for(tree, at, step);
    const IndexSpace points = forest_.points(step.space);
    return {.next = at, .total = std::make_shared<TotalShare>(points.as_intervals(forest_.root(step.space)), own)};
  }
  if (step.kind == LaneStep::Kind::answer) {
    made.next = at;
    movement = plans_ == Plans::all ? tree.all.fills(tree.table(at), step) : tree.own.fills(tree.stack(at), step.space);
  } else if (plans_ == Plans::all) {
    HomeTable table = tree.table(at);
    if (is_fold)
      fold = tree.all.fold(table, step);
    else if (step.holds())
      movement = tree.all.move(table, step);
    else
      tree.all.apply(table, step);
    made.next = tree.state_of(std::move(table));
  } else {
    made.next = tree.state(pushed(tree.states.at(at).stack, tree.steps.of(step), tree.steps, forest_, keys_));
    const std::vector<const LaneStep*> stack = tree.stack(at);
    if (is_fold)
      fold = tree.own.reduce(stack, tree.homes(made.next), step.key);
    else if (step.kind == LaneStep::Kind::read)
      movement = tree.own.read(stack, tree.homes(at), step.key);
    else if (step.kind == LaneStep::Kind::gather)
      movement = tree.own.gather(stack, tree.homes(at), step.space);
    else if (step.kind == LaneStep::Kind::collect)
      movement = tree.own.collect(stack, tree.homes(at), step.space, step.to);
    if (tree.states.at(made.next).stack.size() > deepest_stack) {
      made.next = tree.state_of(tree.table(made.next));
      tree.all.forget();
    }
  }
  if (!movement.empty()) {
    seal(movement, self_);
    made.movement = std::make_shared<const Movement>(std::move(movement));
  }
  if (!fold.empty()) {
    if (folds_ == Folds::shard) fold_by_shard(fold, self_);
    seal(fold, self_);
    made.fold = std::make_shared<const FoldMovement>(std::move(fold));
  }
  return made;
}

Intervals DataState::answers_for(Tree& tree, std::uint32_t at, const LaneStep& step) {
  return plans_ == Plans::all ? tree.all.answers_for(tree.table(at), step)
                              : tree.own.answers_for(tree.stack(at), tree.homes(at), step.space);
}

Intervals DataState::answers_for(LaneKey lane, const Space& space) {
  Tree& tree = this->tree(lane.root);
  tree.hold(forest_, space.partition);
  return answers_for(tree, state_of(lane), {.kind = LaneStep::Kind::total, .space = space});
}

std::shared_ptr<const Movement> DataState::read(LaneKey lane, KeyId key) {
  if (keys_[key].by_owners) return nullptr;  // each shard reads what it holds
  return decide(lane, {.kind = LaneStep::Kind::read, .key = key}).movement;
}
void DataState::write(LaneKey lane, KeyId key) { (void)decide(lane, {.kind = LaneStep::Kind::write, .key = key}); }
void DataState::everywhere(LaneKey lane, const Space& space) {
  (void)decide(lane, {.kind = LaneStep::Kind::everywhere, .space = space});
}

void DataState::fill(LaneKey lane, const Space& space, Value contents) {
  Tree& tree = this->tree(lane.root);
  LaneStep step{.kind = LaneStep::Kind::everywhere, .space = space};
  // What is left of earlier ones keeps its number.
  LaneStack left = pushed(tree.states.at(state_of(lane)).stack, tree.steps.of(step), tree.steps, forest_, keys_);
  step.fill = free_fill(left, tree.steps);
  (void)decide(lane, step);
  if (tree.contents.size() <= lane.field) tree.contents.resize(lane.field + 1);
  std::vector<Value>& known = tree.contents[lane.field];
  if (known.size() < step.fill) known.resize(step.fill);
  known[step.fill - 1] = std::move(contents);
}

const Value& DataState::contents(LaneKey lane, std::uint32_t number) {
  return tree(lane.root).contents.at(lane.field).at(number - 1);
}

std::shared_ptr<const Movement> DataState::fills(LaneKey lane, const Space& space) {
  return decide(lane, {.kind = LaneStep::Kind::answer, .space = space}).movement;
}

std::shared_ptr<const Movement> DataState::gather(LaneKey lane, const Space& space) {
  return decide(lane, {.kind = LaneStep::Kind::gather, .space = space}).movement;
}
std::shared_ptr<const Movement> DataState::collect(LaneKey lane, const Space& space, ShardId to) {
  return decide(lane, {.kind = LaneStep::Kind::collect, .space = space, .to = to}).movement;
}
std::shared_ptr<const FoldMovement> DataState::reduce(LaneKey lane, KeyId key) {
  return decide(lane, {.kind = LaneStep::Kind::reduce, .key = key}).fold;
}

std::shared_ptr<const TotalShare> DataState::total(LaneKey lane, const Space& space) {
  return decide(lane, {.kind = LaneStep::Kind::total, .space = space}).total;
}

// ---- what goes ------------------------------------------------------------------------------------

void DataState::forget(RegionId root) {
  if (root.index() < trees_.size()) trees_[root.index()].reset();
}

void DataState::forget(PartitionId partition) {
  const RegionId root = forest_[partition].parent.root;
  if (root.index() >= trees_.size() || !trees_[root.index()]) return;
  trees_[root.index()]->forget(partition, keys_);
  if (std::erase(trees_[root.index()]->held, partition) > 0) forest_.release(partition, [](PartitionId) {});
}

bool DataState::names(PartitionId partition) const {
  const RegionId root = forest_[partition].parent.root;
  if (root.index() >= trees_.size() || !trees_[root.index()]) return false;
  const Tree& tree = *trees_[root.index()];
  return std::ranges::any_of(tree.lanes, [&](std::uint32_t state) {
    return std::ranges::any_of(tree.states.at(state).stack,
                               [&](LaneStepId id) { return taskspec::names(tree.steps[id], partition, keys_); });
  });
}

std::uint32_t DataState::holds(PartitionId partition) const {
  const RegionId root = forest_[partition].parent.root;
  if (root.index() >= trees_.size() || !trees_[root.index()]) return 0;
  return static_cast<std::uint32_t>(std::ranges::count(trees_[root.index()]->held, partition));
}

void DataState::Tree::forget(PartitionId partition, const KeyTable& keys) {
  auto is_named = [&](LaneStepId id) { return taskspec::names(steps[id], partition, keys); };
  auto is_touched = [&](std::uint32_t state) {
    const auto known = states.find(state);
    return known != states.end() && std::ranges::any_of(known->second.stack, is_named);
  };
  for (std::uint32_t& lane : lanes)
    if (is_touched(lane)) lane = state_of(table(lane));
  std::erase_if(decisions, [&](const auto& decision) {
    return is_named(static_cast<LaneStepId>(decision.first)) ||
           is_touched(static_cast<std::uint32_t>(decision.first >> 32)) || is_touched(decision.second.next);
  });
  std::erase_if(by_hash, [&](const auto& known) { return is_touched(known.second); });
  std::erase_if(states, [&](const auto& known) { return std::ranges::any_of(known.second.stack, is_named); });
  std::erase_if(points, [&](const auto& known) {
    return taskspec::names({.kind = LaneStep::Kind::read, .key = KeyId(known.first)}, partition, keys);
  });
  all.forget();
}

std::size_t DataState::bytes() const {
  std::size_t bytes = sizeof *this;
  for (const auto& tree : trees_) {
    if (!tree) continue;
    bytes += sizeof *tree + tree->steps.bytes() + tree->all.bytes();
    for (const auto& [number, state] : tree->states) {
      bytes += sizeof state + state.stack.capacity() * sizeof(LaneStepId);
      if (!state.homes) continue;
      for (const IndexSpace& home : *state.homes) bytes += sizeof home + home.intervals().runs().size() * 24;
    }
    for (const auto& [key, points] : tree->points) bytes += points->bytes();
    for (const auto& [found, decision] : tree->decisions) {
      bytes += sizeof decision;
      if (decision.movement) bytes += taskspec::bytes(*decision.movement);
      if (decision.fold) bytes += taskspec::bytes(*decision.fold);
      if (decision.total) bytes += decision.total->bytes();
    }
  }
  return bytes;
}

}  // namespace taskspec
