// A block graph as a value of the language: what an `ir` declaration is called with, and what quantisation gives.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/blocks/block_graph.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

class BlockGraphValue final : public Object {
 public:
  explicit BlockGraphValue(std::shared_ptr<const BlockGraph> made) : graph(std::move(made)) {}
  const std::shared_ptr<const BlockGraph> graph;
  std::string text() const override;  // "<ir front: 6 blocks, 5 edges>"
};

// What a run of the graph is given, in this order: its inputs, then the contents of blocks that come with each run; and
// what it makes: its outputs, then the new contents of those blocks that it writes back.
struct BlockCallBlocks {
  std::vector<BlockId> inputs, given, outputs, written;
};
BlockCallBlocks call_blocks(const BlockGraph& graph);

}  // namespace taskspec
