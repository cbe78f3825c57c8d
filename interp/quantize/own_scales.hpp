// Nets that somebody else has quantised: between their layers numbers go to integers of 8 bits and back. That pair says
// what the scale of a tensor is; blocks need no pair, so it is taken out and the scale is kept.
//
//   %7 = round(%6 / s) as i8 as f32 * s,  %8 = conv2d(%7, ...)        %8 = conv2d(%6, ...), and %6 has the scale 1 / s
//
// A pair is known by what it does to numbers, not by the ops that it is made of.
#pragma once
#include <map>

#include "ir/graph/op_list.hpp"

namespace taskspec {

struct OwnScales {
  OpList list;
  std::map<std::uint32_t, double> scales;  // by value of the list
  std::vector<ValueId> cut_at_zero;        // where integers began at 0: what is below it was lost
  std::vector<std::string> notes;          // of pairs whose scale cannot be kept
};

// `known`: contents of inputs that are the same in each run.
OwnScales take_own_scales(const OpList& list, const std::vector<std::optional<Array>>& known);

}  // namespace taskspec
