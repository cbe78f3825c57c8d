// Random programs of independent launches over a grown forest: fixed spaces and partitions, every kind of projection
// and of sharding, and again and again the pieces of an earlier launch.
//
//   GrownForest grown(seed);
//   for (const Operation& op : random_program(grown, 14)) engine.issue(op);
#pragma once
#include "tests/shards/operations.hpp"
#include "tests/unit/random_regions.hpp"

namespace taskspec {

// Other fields, and another thing to do with them.
inline void choose(GrownForest& grown, LaunchUse& use) {
  use.fields = {};
  for (const std::uint32_t field : {0u, 1u})
    if (grown.number(0, 2) > 0) use.fields.add(field);
  use.privilege = static_cast<Privilege>(grown.number(0, 3));
  use.op = static_cast<ReduceOp>(grown.number(0, 1));
}

inline std::vector<Operation> random_program(GrownForest& grown, std::size_t count) {
  std::vector<Operation> ops;
  const auto shardings = [&]() -> PointSharding {
    switch (grown.number(0, 4)) {
      case 0:
        return PointSharding::cyclic();
      case 1:
        return PointSharding::owner(ShardId(0));
      case 2: {
        const auto a = grown.number(0, 3);
        return PointSharding::of(
            [a](std::int64_t point, std::int64_t, std::int64_t shards) { return (point + a) % shards; },
            {static_cast<std::uint64_t>(a), 5});
      }
      default:
        return PointSharding::block();
    }
  };
  for (int tries = 0; ops.size() < count && tries < 300; ++tries) {
    Operation op{.number = ops.size() + 1, .sharding = shardings()};
    if (!ops.empty() && grown.number(0, 1)) {
      // The same pieces again, in another way: equal keys are what loops are made of.
      const Operation& earlier = ops[grown.pick(ops.size())];
      op.domain = earlier.domain;
      op.uses = earlier.uses;
      if (grown.number(0, 2)) op.sharding = earlier.sharding;
      for (LaunchUse& use : op.uses) choose(grown, use);
      if (!conflict(grown.forest, op.domain, op.uses)) ops.push_back(op);
      continue;
    }
    const GrownPartition& first = grown.nodes[grown.pick(grown.nodes.size())];
    op.domain = grown.number(0, 3) ? grown.forest[first.id].colours : Rect::of({grown.number(1, 5)});
    bool fits = op.domain.size() <= 8;
    for (std::int64_t k = grown.number(1, 2); k > 0 && fits; --k) {
      LaunchUse use;
      const GrownPartition& node = k == 1 ? first : grown.nodes[grown.pick(grown.nodes.size())];
      const Rect& colours = grown.forest[node.id].colours;
      if (grown.number(0, 5) == 0) {
        use.space = grown.spaces[grown.pick(grown.spaces.size())].first;
      } else {
        use.space = {grown.forest[node.id].parent.root};
        use.partition = node.id;
        if (op.domain.rank == colours.rank && grown.number(0, 2)) {
          use.projection = Projection::identity(colours.rank);
        } else if (grown.number(0, 1)) {
          const std::int64_t halves = grown.number(1, 2);
          use.projection = Projection::of(
              op.domain.rank, colours.rank,
              [halves, colours](const Point& p) {
                Point colour{{}, colours.rank};
                for (std::size_t axis = 0; axis < colours.rank; ++axis)
                  colour.at[axis] = p.at[0] / halves % std::max<std::int64_t>(colours.extent(axis), 1);
                return colour;
              },
              static_cast<std::uint64_t>(halves));
        } else {
          std::array<std::array<std::int64_t, 4>, 4> factors{};
          std::array<std::int64_t, 4> offsets{};
          for (std::size_t row = 0; row < colours.rank; ++row) {
            factors[row][0] = grown.number(-1, 1);
            offsets[row] = grown.number(0, 2);
          }
          use.projection = Projection::affine(op.domain.rank, colours.rank, factors, offsets);
        }
        each_point(op.domain, [&](const Point& p) { return fits = fits && colours.contains(use.projection(p)); });
      }
      choose(grown, use);
      use.name = "p";
      op.uses.push_back(use);
    }
    if (fits && !conflict(grown.forest, op.domain, op.uses)) ops.push_back(op);
  }
  return ops;
}

// A smaller partition of the same colours, if this one can be made so.
inline PartitionId smaller(GrownForest& grown, PartitionId of) {
  const RegionId root = grown.forest[of].parent.root;
  const Space space = grown.spaces[grown.pick(grown.spaces.size())].first;
  const PartitionId other = grown.nodes[grown.pick(grown.nodes.size())].id;
  try {
    switch (grown.number(0, 2)) {
      case 0:
        return space.root == root ? intersect(grown.forest, of, space) : of;
      case 1:
        return space.root == root ? subtract(grown.forest, of, space) : of;
      default:
        return grown.forest[other].colours == grown.forest[of].colours && grown.forest[other].parent.root == root
                   ? intersect(grown.forest, of, other)
                   : of;
    }
  } catch (const Error&) {
    return of;
  }
}

// Some of these operations become relatives of earlier ones: launches a little further on, over fewer points, over
// smaller pieces of the same colours.
inline void make_relatives(GrownForest& grown, std::vector<Operation>& ops) {
  for (std::size_t at = 1; at < ops.size(); ++at) {
    if (grown.number(0, 3) == 0) continue;
    Operation op = ops[grown.pick(at)];
    op.number = ops[at].number;
    const std::int64_t by = grown.number(-2, 2);
    op.domain.lo[0] += by, op.domain.hi[0] += by;
    if (grown.number(0, 2) == 0 && op.domain.extent(0) > 1) ++(grown.number(0, 1) ? op.domain.lo : op.domain.hi)[0];
    bool fits = !op.domain.empty() && op.domain.size() <= 8;
    for (LaunchUse& use : op.uses) {
      choose(grown, use);
      if (!use.partition.valid()) continue;
      Projection& f = use.projection;
      const std::int64_t shift = grown.number(0, 4) ? by : 0;
      if (f.kind == Projection::Kind::identity)
        for (std::size_t row = 0; row < f.out; ++row) f.factors[row].fill(0), f.factors[row][row] = 1;
      if (f.kind != Projection::Kind::function) {
        for (std::size_t row = 0; row < f.out; ++row) f.offsets[row] -= f.factors[row][0] * shift;
        f = Projection::affine(f.in, f.out, f.factors, f.offsets);
      }
      if (grown.number(0, 1)) use.partition = smaller(grown, use.partition);
      const Rect& colours = grown.forest[use.partition].colours;
      each_point(op.domain, [&](const Point& p) { return fits = fits && colours.contains(f(p)); });
    }
    if (fits && !conflict(grown.forest, op.domain, op.uses)) ops[at] = op;
  }
}

}  // namespace taskspec
