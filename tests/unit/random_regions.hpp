// Forests of two regions grown by random operators, beside the plain sets of points that their pieces must be.
//
//   GrownForest grown(seed);
//   for (int i = 0; i < 12; ++i) grown.grow();
//   grown.nodes[0].pieces[2]      // the linear indices of the points of that piece
#pragma once
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "ir/region/operators.hpp"

using PointSet = std::set<std::int64_t>;  // linear indices of the root

PointSet both(const PointSet& a, const PointSet& b);
PointSet either(PointSet a, const PointSet& b);
PointSet without(const PointSet& a, const PointSet& b);
PointSet as_set(const taskspec::IndexSpace& points, const taskspec::Rect& root);

struct GrownPartition {
  taskspec::PartitionId id;
  PointSet parent;
  std::vector<PointSet> pieces;  // by the linear index of the colour
};

class GrownForest {
 public:
  explicit GrownForest(std::uint64_t seed);
  void grow();  // one operator more, if it fits

  taskspec::RegionForest forest;
  std::vector<GrownPartition> nodes;
  std::vector<std::pair<taskspec::Space, PointSet>> spaces;  // regions, shrunk ones, and some pieces of each partition

  std::int64_t number(std::int64_t low, std::int64_t high);
  std::size_t pick(std::size_t count);

 private:
  struct Chosen {
    taskspec::Space space;
    PointSet points;
  };
  void take_apart(const Chosen& of);
  void grow_neighbours();
  void grow_by_values(const Chosen& of);
  void grow_sets(const Chosen& of);
  void add(taskspec::PartitionId id, const PointSet& parent, const std::vector<PointSet>& pieces);
  const GrownPartition& node() { return nodes[pick(nodes.size())]; }
  bool same_root(const GrownPartition& p, const GrownPartition& q) const;
  PointSet parent_of(taskspec::PartitionId made, const GrownPartition& p) const;
  std::vector<std::int64_t> numbers(std::int64_t count, std::int64_t low, std::int64_t high);
  std::vector<PointSet> shares(const Chosen& of, const std::vector<std::int64_t>& ends) const;
  std::int64_t things(const Chosen& of) const;
  void add_blocks(const Chosen& of);
  void add_weighted(const Chosen& of);
  void add_cover(const Chosen& of);

  std::mt19937_64 random_;
};
