// What a trace compares when it is entered: for each lane that it touches, the lists of the coarse stage and the exact
// users, with operations counted back from the entry, so that the same turn of a loop has the same signature.
//
//   coarse   place, fence or not, key, privilege, and how far back, where that is within the length of the trace
//   exact    key, privilege, how far back; older ones by number, as edges from them are the same in each execution, and
//            only those behind which not all has been written that the trace takes
//
// Of the exact users only those count that some use of the trace must be held against.
#pragma once
#include <span>

#include "interp/shards/analysis/exact_lists.hpp"

namespace taskspec {

struct SignatureItem {
  static constexpr std::uint32_t long_ago = UINT32_MAX;
  std::uint32_t lane = 0;
  bool is_exact = false, is_fence = false;
  std::uint32_t place = 0;
  KeyId key;
  Privilege privilege{};
  ReduceOp reduce{};
  std::uint32_t at = 0;  // in an execution of the same length just before
  OperationRun old{};    // exact, long ago
  friend auto operator<=>(const SignatureItem&, const SignatureItem&) = default;
};
using TraceSignature = std::vector<SignatureItem>;  // ascending, each once

// A lane as it stands, by numbers of operations.
struct LaneState {
  std::vector<std::pair<LaneTree::Place, LaneTree::Entry>> coarse;
  ExactLists::Users exact;
};

// How a trace uses a lane.
struct LaneUse {
  KeyId key;
  Privilege privilege{};
  ReduceOp reduce{};
};

// `before`: the numbers of the last operations, as many as the trace has.
void add_to_signature(TraceSignature& signature, std::uint32_t lane, const LaneState& state,
                      std::span<const LaneUse> uses, std::span<const std::uint64_t> before);
void put_in_order(TraceSignature& signature);

// The first entry that only one of them has, in words: "Cell.state: the template has a write of owned, 3 operations
// back, and there is none". Empty: there is none.
struct SignatureDifference {
  std::string why;
  std::size_t back = 0;  // how many operations before the entry; 0: none of the last ones
};
SignatureDifference first_difference(const TraceSignature& present, const TraceSignature& of_template,
                                     std::span<const LaneKey> lanes, std::size_t length, const RegionForest& forest,
                                     const KeyTable& keys);

}  // namespace taskspec
