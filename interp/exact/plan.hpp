// What the exact engine makes of a block graph before it runs: where every value lies, and how each cluster is filled.
#pragma once
#include <memory>
#include <vector>

#include "interp/exact/engine.hpp"
#include "ir/blocks/index_map.hpp"

namespace taskspec {

// What an edge brings into a cluster.
struct ExactFeed {
  BlockEdgeId edge;
  BlockId source;
  std::uint16_t port = 0;                 // of its output clusters
  std::size_t offset = 0;                 // where its values begin
  Precision precision = Precision::i32;   // of what comes
  IndexMap map = IndexMap::identity({});  // from the source, or from what was kept of it, to the part of the target
  Box part;                               // of the target's cluster
  std::size_t bytes = 0;                  // of that part, in the source's precision
  bool is_whole = true;                   // that part is all of it
  std::int32_t delay = 0;
  IndexMap kept_map = IndexMap::identity({});  // delayed: from the source to what is kept
  std::vector<Array> kept;                     // of the last `delay` steps; step t lies at t % delay
  Array first;                                 // before there is one
};

// A cluster of a block that reads, as it lies before the block's turn.
struct ExactCluster {
  ArrayType type;
  ValueRange range;
  std::vector<ExactFeed> feeds;
  const std::byte* alias = nullptr;  // the source's own bytes, where nothing has to be moved
  Array values;                      // else
  bool is_done = false;              // filled once and for all
  bool is_there() const { return !feeds.empty(); }
};

// Where a block's new state goes when the step ends.
struct ExactState {
  std::size_t cluster = 0;
  BlockId storage;
  Array made;
  IndexMap back = IndexMap::identity({});  // from the cluster to the storage
};

// What lets blocks run: they stand still unless it fires.
struct ExactTrigger {
  ExactCluster cluster;  // of what comes
  bool asked = false;    // in this step
  bool fired = false;
};

struct ExactBlock {
  const TaskBlock* block = nullptr;
  Precision precision = Precision::i32;  // that its values have: in rabbit mode storage keeps what comes
  ArrayType type;                        // of its values
  ValueRange range;
  std::vector<ExactCluster> in;
  Array values;                      // of its own
  const std::byte* bytes = nullptr;  // its values: its own, or another block's
  bool is_fixed = false;             // data that nothing changes
  std::unique_ptr<BlockRunner> runner;
  std::vector<const std::byte*> in_bytes;
  std::vector<std::byte*> state_bytes;
  std::vector<ExactState> states;
  std::vector<std::size_t> triggers;          // of ExactPlan; none: it runs when all has come
  std::vector<std::uint8_t> gives = {1};      // by output cluster: is there a value now?
  std::vector<std::uint8_t> arrived, wanted;  // by input cluster
  bool ran = true;                            // in this step
  bool is_steady = false;  // its values are there without anything coming: data, states, what is delayed
  bool is_held = false;    // it may stand still, and keeps what it made last
  BlockRow row;
};

struct ExactPlan {
  std::shared_ptr<const BlockGraph> graph;
  ExactOptions options;
  std::vector<BlockId> order, inputs, outputs;
  std::vector<ExactBlock> blocks;
  std::vector<ExactTrigger> triggers;
  bool is_controlled = false;       // there are triggers or switches
  std::vector<std::byte> room;      // of the runners, one at a time
  std::byte* scratch = nullptr;     // in it, aligned
  std::vector<std::byte> gathered;  // a part on its way into a cluster
};

Result<ExactPlan> plan_exactly(std::shared_ptr<const BlockGraph> graph, const ExactOptions& options);

}  // namespace taskspec
