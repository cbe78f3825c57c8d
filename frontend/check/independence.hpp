// Do the points of a launch get in each other's way? What the text alone tells, before the program runs: pieces of one
// partition that two points take. What takes the points of the region to see is found when it runs (ir/region).
//
//   launch w(p[i / 2]) for i in 0..4      // E3101: points 0 and 1 both write p[0]
#pragma once
#include <span>

#include "frontend/check/body.hpp"
#include "ir/region/rect.hpp"

namespace taskspec::checking {

struct PieceArgument {
  const ast::Expr* expr;
  const Parameter* parameter;  // a view
};

// False where it refused one. `point` is null for a plain call; `domain` as far as it is known: points from the first
// one on.
bool points_are_apart(Body& body, const ast::Pattern* point, const Rect& domain,
                      std::span<const PieceArgument> arguments);

}  // namespace taskspec::checking
