#include "stdlib/ops/splits.hpp"

namespace taskspec {

std::vector<Split> pointwise_splits(const OpInstance& call) {
  const Extents& out = call.out[0].extents;
  std::vector<Split> splits;
  for (std::size_t axis = 0; axis < out.size(); ++axis) {
    Split split;
    split.out = {static_cast<int>(axis)};
    const std::size_t from_right = out.size() - axis;
    for (const ArrayType& in : call.in) {
      const bool there = in.extents.size() >= from_right;
      const std::size_t at = there ? in.extents.size() - from_right : 0;
      split.in.push_back(there && in.extents[at] == out[axis] ? static_cast<int>(at) : Split::whole);
    }
    if (out[axis] > 1) splits.push_back(std::move(split));
  }
  return splits;
}

namespace {

std::vector<Split> reduction_splits(const OpInstance& call, bool adds) {
  std::vector<Split> splits;
  const bool is_number = call.out[0].extents.empty();  // of all axes
  for (std::size_t d = 0; d < call.in[0].extents.size(); ++d) {
    const int axis = static_cast<int>(d);
    const bool kept = !is_number && call.out[0].extents[d] == call.in[0].extents[d];
    if (call.in[0].extents[d] < 2 || (!kept && !adds)) continue;
    splits.push_back({{axis}, {kept ? axis : Split::whole}, !kept});
  }
  return splits;
}

}  // namespace

std::vector<Split> kept_splits(const OpInstance& call) { return reduction_splits(call, false); }
std::vector<Split> summed_splits(const OpInstance& call) { return reduction_splits(call, true); }

}  // namespace taskspec
