#include "interp/shards/data/data_state.hpp"

#include "interp/shards/data/home_table.hpp"

namespace taskspec {

struct DataState::Step {
  enum class Kind : std::uint8_t { read, write, reduce, everywhere, gather, collect } kind{};
  KeyId key{};
  Space space{};
  ShardId to{};
  friend bool operator==(const Step&, const Step&) = default;
};

// What a step finds in a lane decides what moves, and how the lane is then.
struct DataState::Decision {
  std::uint32_t next = 0;
  std::shared_ptr<const Movement> movement;
  std::shared_ptr<const FoldMovement> fold;
};

// Of one key: what its points take, as lists.
struct KeyPieces {
  std::vector<Intervals> by_shard;
  struct OfPoint {
    std::size_t shard;
    Intervals runs;
  };
  std::vector<OfPoint> points;
};

namespace {

KeyPieces pieces_of(const RegionForest& forest, const UseKey& key, std::size_t shards) {
  KeyPieces made;
  made.by_shard.resize(shards);
  const std::int64_t size = key.domain.size();
  for (std::int64_t point = 0; point < size; ++point) {
    const Space space = key.use.at(key.domain.point(point));
    const std::size_t shard = key.sharding.shard(point, size, shards).index();
    made.points.push_back({shard, forest.points(space).as_intervals(forest.root(space))});
    made.by_shard[shard] = made.by_shard[shard] | made.points.back().runs;
  }
  return made;
}

void add(std::vector<Movement::Part>& parts, std::size_t peer, const Intervals& runs) {
  if (!runs.empty()) parts.push_back({ShardId(peer), runs});
}

}  // namespace

// Of one region: all states that its lanes have been in, and what each step made of them.
struct DataState::Tree {
  std::vector<Step> steps;
  std::vector<HomeTable> states;
  std::unordered_map<std::uint64_t, Decision> decisions;  // by state and step
  std::vector<std::uint32_t> lanes;                       // their present states, by field
  std::unordered_map<std::uint32_t, KeyPieces> pieces;    // by key

  std::uint32_t step(const Step& step) { return position(steps, step); }
  std::uint32_t state(HomeTable state) { return position(states, state); }
  template <class T>
  static std::uint32_t position(std::vector<T>& all, const T& one) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i] == one) return static_cast<std::uint32_t>(i);
    all.push_back(one);
    return static_cast<std::uint32_t>(all.size() - 1);
  }
};

DataState::DataState(const RegionForest& forest, const KeyTable& keys, std::size_t shards, ShardId self, Plans plans)
    : forest_(forest), keys_(keys), shards_(shards), self_(self), plans_(plans) {}
DataState::~DataState() = default;

DataState::Tree& DataState::tree(RegionId root) {
  if (trees_.size() <= root.index()) trees_.resize(root.index() + 1);
  std::unique_ptr<Tree>& slot = trees_[root.index()];
  if (!slot) {
    slot = std::make_unique<Tree>();
    slot->states.emplace_back(forest_[root].extents.size(), shards_);
  }
  return *slot;
}

const DataState::Decision& DataState::decide(Lane lane, const Step& step) {
  Tree& tree = this->tree(lane.root);
  if (tree.lanes.size() <= lane.field) tree.lanes.resize(lane.field + 1);
  std::uint32_t& at = tree.lanes[lane.field];
  const std::uint64_t found = std::uint64_t{at} << 32 | tree.step(step);
  if (const auto known = tree.decisions.find(found); known != tree.decisions.end()) {
    ++counts_.reused;
    at = known->second.next;
    return known->second;
  }
  ++counts_.made;
  HomeTable state = tree.states[at];
  Decision made;
  auto key_pieces = [&]() -> const KeyPieces& {
    const auto known = tree.pieces.find(step.key.value);
    if (known != tree.pieces.end()) return known->second;
    return tree.pieces.emplace(step.key.value, pieces_of(forest_, keys_[step.key], shards_)).first->second;
  };
  auto move = [&](std::span<const Intervals> needs) {
    Movement movement;
    for (std::size_t to = 0; to < shards_; ++to) {
      const std::vector<Intervals> missing = state.missing(to, needs[to]);
      for (std::size_t from = 0; from < shards_; ++from) {
        if (from == self_.index()) add(movement.send, to, missing[from]);
        if (to == self_.index()) add(movement.receive, from, missing[from]);
      }
    }
    for (std::size_t to = 0; to < shards_; ++to) state.hold(to, needs[to]);
    if (movement.empty()) return;
    seal(movement, self_);
    made.movement = std::make_shared<const Movement>(std::move(movement));
  };
  auto points = [&] { return forest_.points(step.space).as_intervals(forest_.root(step.space)); };
  switch (step.kind) {
    case Step::Kind::read:
      move(key_pieces().by_shard);
      break;
    case Step::Kind::write:
      state.write(key_pieces().by_shard);
      break;
    case Step::Kind::everywhere:
      state.everywhere(points());
      break;
    case Step::Kind::gather:
      move(std::vector<Intervals>(shards_, points()));
      break;
    case Step::Kind::collect: {
      std::vector<Intervals> needs(shards_);
      needs[step.to.index()] = points();
      move(needs);
      break;
    }
    case Step::Kind::reduce: {
      const KeyPieces& pieces = key_pieces();
      for (const Intervals& taken : pieces.by_shard) state.contribute(taken);
      FoldMovement fold;
      const std::size_t self = self_.index();
      for (std::size_t to = 0; to < shards_; ++to) {
        FoldMovement::Outgoing out{ShardId(to), {}};
        for (std::size_t point = 0; point < pieces.points.size(); ++point) {
          const auto& of = pieces.points[point];
          if (to != self && of.shard != self) continue;
          const Intervals runs = of.runs & state.home(to);
          if (runs.empty()) continue;
          const auto number = static_cast<std::int64_t>(point);
          if (to == self)
            fold.steps.push_back({number, ShardId(of.shard), runs});
          else
            out.slices.push_back({number, runs});
        }
        if (!out.slices.empty()) fold.send.push_back(std::move(out));
      }
      for (std::size_t from = 0; from < shards_; ++from)
        for (const FoldMovement::Step& step : fold.steps)
          if (step.from == ShardId(from) && from != self) {
            fold.receive_from.push_back(step.from);
            break;
          }
      if (fold.empty()) break;
      seal(fold, self_);
      made.fold = std::make_shared<const FoldMovement>(std::move(fold));
      break;
    }
  }
  made.next = at = tree.state(std::move(state));
  return tree.decisions.emplace(found, std::move(made)).first->second;
}

std::shared_ptr<const Movement> DataState::read(Lane lane, KeyId key) {
  return decide(lane, {.kind = Step::Kind::read, .key = key}).movement;
}
void DataState::write(Lane lane, KeyId key) { (void)decide(lane, {.kind = Step::Kind::write, .key = key}); }
void DataState::everywhere(Lane lane, const Space& space) {
  (void)decide(lane, {.kind = Step::Kind::everywhere, .space = space});
}
std::shared_ptr<const Movement> DataState::gather(Lane lane, const Space& space) {
  return decide(lane, {.kind = Step::Kind::gather, .space = space}).movement;
}
std::shared_ptr<const Movement> DataState::collect(Lane lane, const Space& space, ShardId to) {
  return decide(lane, {.kind = Step::Kind::collect, .space = space, .to = to}).movement;
}
std::shared_ptr<const FoldMovement> DataState::reduce(Lane lane, KeyId key) {
  return decide(lane, {.kind = Step::Kind::reduce, .key = key}).fold;
}

void DataState::forget(RegionId root) {
  if (root.index() < trees_.size()) trees_[root.index()].reset();
}

std::size_t DataState::bytes() const {
  std::size_t bytes = sizeof *this;
  for (const auto& tree : trees_) {
    if (!tree) continue;
    bytes += sizeof *tree;
    for (const HomeTable& state : tree->states) bytes += state.bytes();
    for (const auto& [found, decision] : tree->decisions) {
      bytes += sizeof decision;
      if (decision.movement) bytes += taskspec::bytes(*decision.movement);
      if (decision.fold) bytes += taskspec::bytes(*decision.fold);
    }
  }
  return bytes;
}

}  // namespace taskspec
