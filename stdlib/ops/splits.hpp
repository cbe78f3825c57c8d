// How families of ops can be taken apart along their axes (ir/records/sharding.hpp).
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

// Element by element: each axis of the result, and the same one, counted from the right, of every input that has it.
std::vector<Split> pointwise_splits(const OpInstance& call);

// Of reductions of input 0: the axes that are kept; and those, parts of which add up to the result.
std::vector<Split> kept_splits(const OpInstance& call);
std::vector<Split> summed_splits(const OpInstance& call);

// Rows of input 0 by themselves: the first axis, where inputs and results have at least `rank` of them.
template <int rank>
std::vector<Split> row_splits(const OpInstance& call) {
  if (call.in[0].extents.size() < rank) return {};
  Split rows{std::vector<int>(call.in.size(), Split::whole), std::vector<int>(call.out.size(), 0)};
  rows.in[0] = 0;
  return {rows};
}

// Of the same elements in another shape: an axis of the input and one of the result before which there are as many.
std::vector<Split> same_bytes_splits(const OpInstance& call);

// Of calls that treat all axes but one alike and keep them: every input but the first is whole.
std::vector<Split> splits_beside(const OpInstance& call, const std::vector<std::size_t>& axes);

// The same splits of a call whose operand says how long its result is, one of a type.
std::vector<Split> written_at(int operand, std::vector<Split> splits);

inline constexpr std::string_view numbered_elements =
    "its elements are numbered from the first of the whole tensor, which a block does not know";
inline constexpr std::string_view with_planner = "comes with the planner of shards";

}  // namespace taskspec
