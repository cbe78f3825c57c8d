// May the points of a launch run at once? Within one argument and across arguments no point may write what another one
// uses; within one point two arguments may be the same only where neither writes.
//
//   launch w(p[i / 2]) for i in 0..4      // w writes: points 0 and 1 both write p[0]
//
// By formula for identity and affine projections on disjoint partitions, whatever the size of the domain; else by
// points, in O(points * log pieces), up to the first conflict; of several who share tables of pieces out each looks at
// its share of the points (ir/region/shared_independence.hpp), and all call it in one order.
#pragma once
#include "ir/base/diag.hpp"
#include "ir/region/interference.hpp"
#include "ir/region/projection.hpp"

namespace taskspec {

struct LaunchUse {
  Space space;            // a fixed one, for every point, where `partition` is none
  PartitionId partition;  // else partition[projection(point)]
  Projection projection;
  FieldMask fields;
  Privilege privilege = Privilege::in;
  ReduceOp op = ReduceOp::sum;
  std::string name;  // of the partition or region, as the text calls it

  Space at(const Point& point) const {
    return partition.valid() ? Space{space.root, partition, projection(point)} : space;
  }
};

struct Conflict {
  Point first, second;  // of the launch; equal: within one point (E1403)
  std::size_t first_use = 0, second_use = 0;
  Point shared;  // an element of the root that both have
  bool within_point() const { return first == second; }
};

// Throws Error E5003 for a colour beyond the partition, E1003 where a projection has another rank than the colours.
std::optional<Conflict> conflict(const RegionForest& forest, const Rect& domain, std::span<const LaunchUse> uses,
                                 Span span = {});
// E3101 "points 0 and 1 both write p[0]; a group must be independent", or E1403.
Diag diagnostic(const RegionForest& forest, std::span<const LaunchUse> uses, const Conflict& conflict, Span span);
// What the points of a launch take one of: the pieces of a partition, the elements of a map.
struct TakenOf {
  std::string name;  // as the text calls it
  Rect all;          // colours, points
  bool is_map = false;
  Span made = {};  // where the text makes them
};
// E5003: "point 3 of the launch takes p[7], which is beyond the partition: its colours are 0..4".
Error beyond(const TakenOf& of, const Point& point, const Point& taken, Span span);
// Throws that for the first point of the domain whose image lies outside.
void require_inside(const Projection& projection, const Rect& domain, const TakenOf& of, Span span);
// Every colour that the domain takes is one of the partition: throws Error E5003 naming point and colour. conflict()
// does so too.
void check_colours(const RegionForest& forest, const Rect& domain, const LaunchUse& use, Span span);

}  // namespace taskspec
