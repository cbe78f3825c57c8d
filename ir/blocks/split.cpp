#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/blocks/cut_out.hpp"
#include "ir/blocks/windows.hpp"

namespace taskspec {

namespace {

// Rows or columns that a part reads, and the zeros around them.
struct PartWindow {
  std::int64_t begin = 0, size = 0, before = 0, after = 0;
  bool is_possible = true;  // not: it would read nothing but zeros around the input
};

PartWindow part_window(const BlockWindow& whole, std::int64_t begin, std::int64_t outputs) {
  const std::int64_t first = begin * whole.stride - whole.before;
  const std::int64_t end = (begin + outputs - 1) * whole.stride - whole.before + whole.reach();
  PartWindow part;
  part.is_possible = first < whole.in && end > 0;
  part.begin = std::clamp<std::int64_t>(first, 0, whole.in - 1);
  part.size = std::clamp(end, part.begin + 1, whole.in) - part.begin;
  part.before = std::max<std::int64_t>(0, part.begin - first);
  part.after = std::max<std::int64_t>(0, end - (part.begin + part.size));
  return part;
}

void set_attribute(TaskBlock& block, std::string_view name, std::int64_t value) {
  const BlockAttributeDef* attribute = block.def->find_attribute(name);
  if (attribute && (block.has(name) || value != attribute->standard)) block.set(*attribute, value);
}

class Cutter {
 public:
  Cutter(const TaskBlock& block, BlockAxis axis) : block_(block), axis_(axis), window_(window_of(block, axis)) {}

  BlockPart part(std::int64_t begin, std::int64_t size) const {
    BlockPart made{.block = block_, .in = {}, .out = {}};
    made.block.shape[axis_] = size;
    const bool is_window = axis_ == BlockAxis::y || axis_ == BlockAxis::x;
    const PartWindow reads = is_window ? part_window(window_, begin, size) : PartWindow{};
    if (is_window) fit_window(made.block, reads);
    if (axis_ == BlockAxis::r && begin > 0) made.block.bias = BiasKind::none;
    for (std::size_t i = 0; i < block_.in_clusters(); ++i) {
      const ClusterDef& cluster = block_.in_cluster(i);
      const bool by_window = is_window && cluster.windowed;
      made.in.push_back(box(cluster, by_window ? reads.begin : begin, by_window ? reads.size : size));
    }
    made.out = axis_ == BlockAxis::r ? whole(value_type(block_).extents) : box(block_.def->out[0], begin, size);
    if (block_.def->rewrites->adjust) block_.def->rewrites->adjust(made.block, axis_, begin);
    return made;
  }

  bool is_possible(std::int64_t begin, std::int64_t size) const {
    return (axis_ != BlockAxis::y && axis_ != BlockAxis::x) || part_window(window_, begin, size).is_possible;
  }

 private:
  void fit_window(TaskBlock& block, const PartWindow& reads) const {
    const bool is_y = axis_ == BlockAxis::y;
    if (std::any_of(block.def->in.begin(), block.def->in.end(), [](const ClusterDef& c) { return c.windowed; }))
      (is_y ? block.shape.iy : block.shape.ix) = reads.size;
    set_attribute(block, is_y ? "pad_up" : "pad_left", reads.before);
    set_attribute(block, is_y ? "pad_down" : "pad_right", reads.after);
  }

  // Of a cluster: the part along the axis, if it has that.
  Box box(const ClusterDef& cluster, std::int64_t begin, std::int64_t size) const {
    Box all = whole(cluster_extents(block_, cluster));
    if (cluster.length || cluster.extents) return all;
    std::size_t place = 0;
    for (BlockAxis axis : cluster.axes) {
      if (axis == axis_ && block_.shape[axis] != 0) {
        all.position[place] = begin;
        all.size[place] = size;
      }
      place += block_.shape[axis] != 0 ? 1 : 0;
    }
    return all;
  }

  const TaskBlock& block_;
  BlockAxis axis_;
  BlockWindow window_;
};

Diags refusal(const TaskBlock& block, BlockAxis axis, const std::string& why) {
  Diags diags;
  diags.error("E4002", block.span,
              fmt::format("{} '{}' cannot be cut along {}: {}", block.def->name, block.name, text(axis), why));
  return diags;
}

// Empty: it may be cut along the axis.
std::string reason_against(const TaskBlock& block, BlockAxis axis) {
  const BlockRewrites* rules = block.def->rewrites;
  if (!rules || std::find(rules->axes.begin(), rules->axes.end(), axis) == rules->axes.end() || block.shape[axis] == 0)
    return "its outputs have no such parts";
  return rules->refuses ? rules->refuses(block, axis) : "";
}

constexpr std::string_view in_padding = "a part would lie in the padding";

}  // namespace

Result<std::vector<BlockPart>> split(const TaskBlock& block, BlockAxis axis, const Extents& sizes) {
  if (const std::string why = reason_against(block, axis); !why.empty()) return refusal(block, axis, why);
  const bool are_there = std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size > 0; });
  if (!are_there || std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != block.shape[axis])
    return refusal(block, axis, fmt::format("the parts do not add up to {}", block.shape[axis]));
  const Cutter cutter(block, axis);
  std::vector<BlockPart> parts;
  std::int64_t begin = 0;
  for (std::int64_t size : sizes) {
    if (!cutter.is_possible(begin, size)) return refusal(block, axis, std::string(in_padding));
    parts.push_back(cutter.part(begin, size));
    begin += size;
  }
  return parts;
}

Result<BlockPart> cut_out(const TaskBlock& block, BlockAxis axis, std::int64_t begin, std::int64_t end) {
  if (const std::string why = reason_against(block, axis); !why.empty()) return refusal(block, axis, why);
  const Cutter cutter(block, axis);
  const std::int64_t extent = block.shape[axis];
  if ((begin > 0 && !cutter.is_possible(0, begin)) || !cutter.is_possible(begin, end - begin) ||
      (end < extent && !cutter.is_possible(end, extent - end)))
    return refusal(block, axis, std::string(in_padding));
  return cutter.part(begin, end - begin);
}

}  // namespace taskspec
