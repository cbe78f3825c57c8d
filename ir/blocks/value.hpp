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

// What a run of the graph, one time step, is given: its inputs, then the contents of blocks that come with each run,
// then the bytes in which it remembers the rest of the steps before, if there are any; and what it makes: its outputs,
// then the new contents of those blocks that it writes back, then those bytes.
struct BlockCall {
  std::vector<BlockId> inputs, given, outputs, written;
  std::int64_t memory = 0;  // bytes; zeros in front of the first step
};
BlockCall call_of(const BlockGraph& graph);
inline constexpr std::string_view memory_name = "memory";  // of its slot: no text has a block of it

// The bytes, by what lies in them: how many steps there were, then per delayed edge its last values, then what blocks
// keep for themselves (BlockDef::memory), then what those made last that do not run in each step.
struct BlockMemory {
  std::int64_t bytes = 0;
  std::vector<std::pair<BlockEdgeId, std::int64_t>> delays;  // where they begin
  std::vector<std::pair<BlockId, std::int64_t>> blocks;
  std::vector<std::pair<BlockId, std::int64_t>> held;  // values of blocks that do not run in each step
};
BlockMemory memory_of(const BlockGraph& graph);

}  // namespace taskspec
