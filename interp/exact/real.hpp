// Runs a block graph in real numbers: the reverses of block graphs (ir/blocks/reverse.hpp). Blocks of floats compute
// their formula (BlockReverse::compute) and are rounded to their precision; blocks of integers round and saturate as a
// chip does, as long as no sum saturates on its way. Plain loops: it is there for gradients, not for speed.
//
//   Result<RealEngine> engine = RealEngine::make(reversed.graph, blocks);
//   std::vector<Array> gradients = engine->run({x, dy});        // of f32, by order of OUTPUT blocks
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/blocks/block_graph.hpp"
#include "ir/blocks/index_map.hpp"

namespace taskspec {

class RealEngine {
 public:
  // Errors of check_blocks; E4035: a block without a formula, a delay, a trigger.
  static Result<RealEngine> make(std::shared_ptr<const BlockGraph> graph, const BlockTable& blocks);

  // Storages and INPUT blocks without data and without an edge that fills them, states too: in order of the graph. Each
  // array of any precision, with as many elements.
  const std::vector<BlockId>& inputs() const { return inputs_; }
  std::vector<Array> run(std::span<const Array> inputs);
  std::span<const double> values(BlockId block) const { return values_[block.index()]; }

 private:
  struct Feed {
    BlockId source, target;
    std::size_t cluster = 0;
    std::vector<std::int64_t> from, to;  // places of the source (-1: a hole) and of the target's cluster
  };
  void run_block(BlockId id);

  std::shared_ptr<const BlockGraph> graph_;
  std::vector<BlockId> order_, inputs_, outputs_;
  std::vector<std::vector<Feed>> feeds_;  // by target
  std::vector<std::vector<double>> values_;
};

}  // namespace taskspec
