// What a dimension is, read off a multiple of it.
//
//   task fold(in x: f32[2 * H]) ...        // of f32[6]: solved_for(H, 2*H, 6) is 3
#pragma once
#include "ir/types/dim.hpp"

namespace taskspec {

// What `symbol` is where `extent` is `given`: 3 for H of 2*H + 1 and 7; E5004 for 8, and where it were negative.
// Nothing where `extent` is not a multiple of the symbol plus something without it.
std::optional<Dim> solved_for(const Symbol& symbol, const Dim& extent, const Dim& given);

}  // namespace taskspec
