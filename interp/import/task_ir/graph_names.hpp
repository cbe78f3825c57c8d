// What reading and writing share: numbers of precisions, extents of messages, which clusters of a block a file lists.
#pragma once
#include <optional>
#include <vector>

#include "interp/import/task_ir/task_ir.pb.h"
#include "ir/blocks/block_graph.hpp"

namespace taskspec::task_ir {

std::optional<Precision> precision_of(int number);
std::optional<tianjic_ir::Precision> number_of(Precision precision);

// 0 and -1 are "absent" in files; ours is 0.
std::int64_t extent_of(const tianjic_ir::Shape& shape, BlockAxis axis);
void set_extent(tianjic_ir::Shape& shape, BlockAxis axis, std::int64_t extent);
BlockShape block_shape(const tianjic_ir::Shape& shape);

// The axes of the extents of a cluster, one by one.
std::vector<BlockAxis> axes_of(const TaskBlock& block, const ClusterDef& cluster);

// The positions of input clusters that its attributes let a block have.
std::vector<std::size_t> possible_clusters(const TaskBlock& block);

// Those of them that a file has for a block, in its order, if it has `count` of them; none: it cannot
// have so many. Those that are optional without a rule of their own are the last to be missed.
std::optional<std::vector<std::size_t>> listed_clusters(const TaskBlock& block, std::size_t count);

}  // namespace taskspec::task_ir
