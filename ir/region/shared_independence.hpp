// Whether points of a launch are in one another's way, where several run the program: each member looks at its share of
// the points, and at its share of each region, where all that was said of it meets. Nobody looks at all points.
//
//   const SharedVerdict verdict = check_together(forest, domain, uses, {.across = {{0, 1}}, .within = {}}, sharing);
#pragma once
#include "ir/region/independence.hpp"
#include "ir/region/piece_sharing.hpp"

namespace taskspec {

// Uses by number, the first one at most the second.
struct UsePair {
  std::size_t first, second;
};

// Those of which no formula says that they are apart: at two different points of a launch, and at one and the same.
struct UsePairs {
  std::vector<UsePair> across, within;
};

struct SharedVerdict {
  bool has_conflict = false;  // as all members found
  std::size_t looked_at = 0;  // by this one: runs of pieces
};

// By all members in one order.
SharedVerdict check_together(const RegionForest& forest, const Rect& domain, std::span<const LaunchUse> uses,
                             const UsePairs& pairs, PieceSharing& sharing);

}  // namespace taskspec
