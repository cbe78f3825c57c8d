// The sums, products and comparisons of blocks as loop nests.
#include <algorithm>

#include "ir/blocks/loop_nest.hpp"
#include "ir/blocks/windows.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::block_parts {

namespace {

// Loops in their order, outputs first; each axis that the block has is one.
class NestMaker {
 public:
  explicit NestMaker(const TaskBlock& block) : block_(block) {
    for (const BlockAxis axis : {y, x, f})
      if (block.shape[axis] != 0) add(axis);
    nest.outer = nest.loops.size();
    nest.precision = block.precision;
    nest.out = {0, value_type(block).extents, {}};
  }
  void reduce_over(std::initializer_list<BlockAxis> axes) {
    for (const BlockAxis axis : axes)
      if (block_.shape[axis] != 0) add(axis);
  }

  AffineIndex loop(BlockAxis axis) const {
    AffineIndex index{0, std::vector<std::int64_t>(nest.loops.size())};
    const auto found = std::ranges::find(axes_, axis);
    if (found != axes_.end()) index.factors[static_cast<std::size_t>(found - axes_.begin())] = 1;
    return index;
  }

  // A cluster, read at the loops of its axes; of a windowed one at the places of the windows.
  NestAccess read(std::size_t cluster) const {
    const ClusterDef& def = block_.in_cluster(cluster);
    NestAccess access{cluster, cluster_extents(block_, def), {}};
    for (const BlockAxis axis : def.axes) {
      if (block_.shape[axis] == 0) continue;
      access.indices.push_back(def.windowed && (axis == y || axis == x) ? window(axis) : loop(axis));
    }
    return access;
  }

  void begin_with_bias(std::size_t cluster) {
    if (block_.bias == BiasKind::vector) nest.bias = read(cluster);
    if (block_.bias == BiasKind::constant && block_.def->find_attribute("constant_b"))
      nest.start = block_.attribute("constant_b");
  }

  LoopNest finish() {
    for (const BlockAxis axis : {y, x, f})
      if (block_.shape[axis] != 0) nest.out.indices.push_back(loop(axis));
    return std::move(nest);
  }

  LoopNest nest;

 private:
  void add(BlockAxis axis) {
    axes_.push_back(axis);
    nest.loops.push_back(block_.shape[axis]);
  }

  AffineIndex window(BlockAxis axis) const {
    const BlockWindow w = window_of(block_, axis);
    AffineIndex index = loop(axis);
    for (std::int64_t& factor : index.factors) factor *= w.stride;
    const auto tap = std::ranges::find(axes_, axis == y ? ky : kx);
    if (tap != axes_.end()) index.factors[static_cast<std::size_t>(tap - axes_.begin())] = w.dilation;
    index.offset = -w.before;
    return index;
  }

  const TaskBlock& block_;
  std::vector<BlockAxis> axes_;
};

}  // namespace

LoopNest nest_of_windows(const TaskBlock& block) {
  NestMaker made(block);
  made.reduce_over({r, ky, kx});
  made.begin_with_bias(2);
  made.nest.terms = {{1, {made.read(0), made.read(1)}}};
  return made.finish();
}

LoopNest nest_of_sums(const TaskBlock& block) {
  NestMaker made(block);
  made.begin_with_bias(block.branches);
  for (std::size_t k = 0; k < block.branches; ++k) made.nest.terms.push_back({1, {made.read(k)}});
  return made.finish();
}

LoopNest nest_of_window_sums(const TaskBlock& block) {
  NestMaker made(block);
  made.reduce_over({ky, kx});
  made.begin_with_bias(1);
  made.nest.terms = {{1, {made.read(0)}}};
  return made.finish();
}

LoopNest nest_of_products(const TaskBlock& block) {
  NestMaker made(block);
  made.begin_with_bias(2);
  made.nest.terms = {{1, {made.read(0), made.read(1)}}};
  return made.finish();
}

LoopNest nest_of_constant_products(const TaskBlock& block) {
  NestMaker made(block);
  made.begin_with_bias(1);
  made.nest.terms = {{block.attribute("constant_a"), {made.read(0)}}};
  return made.finish();
}

namespace {

// Without the conversion, which is no loop: of a block whose output holds what its input does.
LoopNest nest_of_compare(const TaskBlock& block, NestReduce reduce) {
  NestMaker made(block);
  made.reduce_over({ky, kx});
  made.nest.reduce = reduce;
  made.nest.start = block.attribute("cmp");
  made.nest.terms = {{1, {made.read(0)}}};
  return made.finish();
}

}  // namespace

LoopNest nest_of_most(const TaskBlock& block) { return nest_of_compare(block, NestReduce::most); }
LoopNest nest_of_least(const TaskBlock& block) { return nest_of_compare(block, NestReduce::least); }

}  // namespace taskspec::block_parts
