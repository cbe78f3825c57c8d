#include "stdlib/ops/splits.hpp"

#include <algorithm>

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

std::vector<Split> same_bytes_splits(const OpInstance& call) {
  const Extents &in = call.in[0].extents, &out = call.out[0].extents;
  std::vector<Split> splits;
  std::size_t from = 0, to = 0;
  std::int64_t before = 1, made = 1;  // elements along the axes so far
  while (from < in.size() && to < out.size()) {
    const bool meet = before == made;
    if (meet && in[from] > 1 && out[to] > 1) splits.push_back({{static_cast<int>(from)}, {static_cast<int>(to)}});
    const bool both = meet && in[from] > 1 && out[to] > 1;
    const bool next_in = both || before < made || (meet && in[from] <= 1), next_out = both || !next_in;
    if (next_in) before *= std::max<std::int64_t>(in[from++], 1);
    if (next_out) made *= std::max<std::int64_t>(out[to++], 1);
  }
  return splits;
}

std::vector<Split> splits_beside(const OpInstance& call, const std::vector<std::size_t>& axes) {
  std::vector<Split> splits;
  for (std::size_t d = 0; d < call.in[0].extents.size(); ++d) {
    if (call.in[0].extents[d] < 2 || std::ranges::find(axes, d) != axes.end()) continue;
    const int axis = static_cast<int>(d);
    Split split{std::vector<int>(call.in.size(), Split::whole), std::vector<int>(call.out.size(), axis)};
    split.in[0] = axis;
    splits.push_back(std::move(split));
  }
  return splits;
}

std::vector<Split> written_at(int operand, std::vector<Split> splits) {
  for (Split& split : splits) split.extent = operand;
  return splits;
}

}  // namespace taskspec
