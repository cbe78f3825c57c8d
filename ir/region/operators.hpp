// The operators that make partitions: of a region or piece, of the contents of a field, of other partitions. Pieces
// of `blocks halo shrink` and of `& | -` between them are formulas: 10^12 pieces take no memory. Others are runs.
//
//   PartitionId owned = blocks(forest, cells, Point::of(4));
//   PartitionId interior = intersect(forest, owned, shrink(forest, cells, 1));
//   PartitionId ghost = halo(forest, owned, 1, HaloShape::box);
//
// Bad input throws Error in words: E1003 (a rank, a count, another region, a periodic halo in no rectangle), E5003 (an
// index that names no point), E5008 (more pieces than can be kept).
#pragma once
#include <cstddef>

#include "ir/region/forest.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {

// The contents of an index field: one integer for each point of its root region, in row-major order; or of those that
// this member answers for (ir/region/piece_sharing.hpp), one behind the other: those of all members are all.
struct IndexValues {
  const std::byte* base = nullptr;
  Precision precision = Precision::i64;
  std::string name;  // "wires.a", for messages
  PieceOrigin::Field field = {};
  bool known = true;                // false: the graph is only looked at; the partition has its operator and no pieces
  const Intervals* held = nullptr;  // null: of all points
  std::int64_t operator[](std::int64_t linear) const;
};

// Piece c of n along an axis of N points begins at c*N/n, rounded down. Of a space without rectangle: by the number of
// its points, and one count only. One count for a space of higher rank cuts its first axis.
PartitionId blocks(RegionForest& forest, const Space& space, const Point& counts, Span span = {});
// Along the first axis (or by points, as above): piece c ends where the weights up to it end, rounded down.
PartitionId by_weight(RegionForest& forest, const Space& space, std::span<const double> weights, Span span = {});
// The points of `space` whose value is the colour; those with another one are in no piece.
PartitionId by_field(RegionForest& forest, const Space& space, const IndexValues& values, std::int64_t pieces,
                     Span span = {});
// From a host function: the runs of each piece, over the row-major index of the root; they may overlap and be empty.
// Where tables are shared out, a function that has a name is asked by each member for the pieces that it keeps, and
// members that ask functions of different names make different partitions. One without a name may do more than to say
// runs: everybody asks it for every piece.
PartitionId cover(RegionForest& forest, const Space& space, std::int64_t pieces,
                  FunctionRef<std::vector<Run>(std::int64_t colour)> runs_of, Span span = {},
                  std::string_view name = {});
PartitionId cover(RegionForest& forest, const Space& space, const std::vector<std::vector<Run>>& pieces,
                  Span span = {});

enum class HaloShape : std::uint8_t { box, star };
// Each piece and its k neighbours along every axis (box: along several at once too), clipped to what p is of.
PartitionId halo(RegionForest& forest, PartitionId p, std::int64_t k, HaloShape shape, Span span = {});
// The same where what p is of has no ends: its first points are the neighbours of its last ones. It is a rectangle.
PartitionId periodic_halo(RegionForest& forest, PartitionId p, std::int64_t k, HaloShape shape, Span span = {});
// The points whose k neighbours (box) are all in `space`.
Space shrink(RegionForest& forest, const Space& space, std::int64_t k, Span span = {});

// The points of `target` that the values name in each piece of p; with two fields: the ranges first..last.
PartitionId image(RegionForest& forest, const Space& target, PartitionId p, const IndexValues& values, Span span = {});
PartitionId image(RegionForest& forest, const Space& target, PartitionId p, const IndexValues& first,
                  const IndexValues& last, Span span = {});
// The points of `source` whose value lies in each piece of p. A value that names no point lies in none.
PartitionId preimage(RegionForest& forest, PartitionId p, const Space& source, const IndexValues& values,
                     Span span = {});

// Pieces p[c] & q[d] with the colour (c, d).
PartitionId cross(RegionForest& forest, PartitionId p, PartitionId q, Span span = {});
// Piece by piece, of equal colours; with a space: every piece.
PartitionId intersect(RegionForest& forest, PartitionId p, PartitionId q, Span span = {});
PartitionId unite(RegionForest& forest, PartitionId p, PartitionId q, Span span = {});
PartitionId subtract(RegionForest& forest, PartitionId p, PartitionId q, Span span = {});
PartitionId intersect(RegionForest& forest, PartitionId p, const Space& space, Span span = {});
PartitionId unite(RegionForest& forest, PartitionId p, const Space& space, Span span = {});
PartitionId subtract(RegionForest& forest, PartitionId p, const Space& space, Span span = {});
// Of two spaces: the piece of a partition of one colour.
Space intersect(RegionForest& forest, const Space& a, const Space& b, Span span = {});
Space unite(RegionForest& forest, const Space& a, const Space& b, Span span = {});
Space subtract(RegionForest& forest, const Space& a, const Space& b, Span span = {});

}  // namespace taskspec
