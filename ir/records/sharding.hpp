// How the call of an op may be taken apart: which axes of its tensors can be split into blocks, each computed by
// itself. What a planner of shards reads; a rule, or the stated reason why there is none.
//
//   y = a + b, f32[8, 3] and f32[3]     {.out = {0}, .in = {0, -1}}  rows of y need those rows of a, and all of b
//                                       {.out = {1}, .in = {1, 0}}
//   y = x.sum(0), f32[8, 3]             {.out = {-1}, .in = {0}, .sums = true}   parts of rows give parts of the sum
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/records/kernel.hpp"

namespace taskspec {

// One way to split a call into blocks along one axis.
struct Split {
  static constexpr int whole = -1;  // not split: every block reads, or gives, all of it
  std::vector<int> in, out;         // the axis of each tensor that is split with the others
  bool sums = false;                // the blocks give parts that are added up
  friend bool operator==(const Split&, const Split&) = default;
};

struct Sharding {
  std::vector<Split> (*splits)(const OpInstance&) = nullptr;
  std::string_view why_none;  // the reason, when there is none

  constexpr Sharding() = default;
  constexpr Sharding(std::vector<Split> (*s)(const OpInstance&)) : splits(s) {}
  static constexpr Sharding none(std::string_view reason) {
    Sharding s;
    s.why_none = reason;
    return s;
  }
};

}  // namespace taskspec
