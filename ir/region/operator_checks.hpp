// What the operators of partitions have in common: checks of what they are handed, in words, and tables of pieces.
#pragma once
#include "ir/base/diag.hpp"
#include "ir/region/operators.hpp"
#include "ir/region/piece_form.hpp"

namespace taskspec {

// Throws Error E1003 where the two belong to different regions.
void check_same_root(const RegionForest& forest, RegionId a, RegionId b, Span span);
void check_same_colours(const RegionForest& forest, PartitionId p, PartitionId q, Span span);
// E1003 unless the values are integers.
void check_integers(const IndexValues& values, Span span);
// Numbers of the colours whose pieces are kept here: all, or this member's share (ir/region/piece_sharing.hpp). A table
// of a single piece, a space by itself, everybody has.
Run own_colours(const RegionForest& forest, const Rect& colours);
// A partition that keeps these pieces, of its own colours. `made_of`: key of all that it was made of, where it is
// shared; members that were told something else differ in it (PieceForm::made_of).
PartitionId add_table(RegionForest& forest, const Space& parent, const Rect& colours, std::vector<IndexSpace> pieces,
                      const std::string& made_of, Span span);
// One of which only the operator is known (ir/region/forms/open.hpp).
PartitionId add_open(RegionForest& forest, const Space& parent, const Rect& colours, PieceOrigin origin, bool disjoint,
                     Span span);
bool is_open(const RegionForest& forest, PartitionId p);
Rect colours_of(std::int64_t pieces);

}  // namespace taskspec
