// The block graph: the level between a network and a many-core chip. Blocks hold or compute values of one sample,
// laid out (y, x, f); edges carry boxes of them from a cluster of one block to a cluster of another, rearranged on the
// way. Made by the checker of an `ir` declaration, by importers, by lowering and by quantisation; run by the exact
// engine and by chips.
//
//   img  : SI i8 [y: 28, x: 28, f: 1]            TaskBlock
//   img -> pad | reflect(axis: "x")              BlockEdge
//
// What is well formed: check_blocks (ir/blocks/check.hpp).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/ids.hpp"
#include "ir/base/source.hpp"
#include "ir/blocks/block.hpp"
#include "ir/blocks/rearrange.hpp"

namespace taskspec {

struct BlockTag;
struct BlockEdgeTag;
using BlockId = Id<BlockTag>;          // position in BlockGraph::blocks
using BlockEdgeId = Id<BlockEdgeTag>;  // position in BlockGraph::edges

struct BlockAttribute {
  const BlockAttributeDef* def = nullptr;
  std::int64_t value = 0;
  friend bool operator==(const BlockAttribute&, const BlockAttribute&) = default;
};

enum class BiasKind : std::uint8_t { none, vector, constant };  // 0, 1, 2 in files

struct TaskBlock {
  const BlockDef* def = nullptr;
  std::string name;                      // unique in its graph; blocks of files are b<number>
  Precision precision = Precision::i32;  // of what it holds or makes
  BlockShape shape;
  std::vector<BlockAttribute> attributes;  // those that were given
  BiasKind bias = BiasKind::none;
  std::uint16_t branches = 1;  // clusters that its repeated one stands for
  std::optional<Array> data;   // static contents, and the first value of states
  std::int32_t number = -1;    // in a file: unique, neither dense nor ordered
  // What files carry for the mapper, and nobody computes with.
  std::optional<bool> is_virtual;
  std::optional<std::int32_t> major_task, pipeline, socket;
  Span span;

  std::int64_t attribute(std::string_view name) const;  // as given, else its standard value
  bool has(std::string_view attribute) const;           // was it given?
  void set(const BlockAttributeDef& attribute, std::int64_t value);

  std::size_t in_clusters() const;  // positions of clusters, absent ones too
  const ClusterDef& in_cluster(std::size_t position) const;
  std::string in_cluster_name(std::size_t position) const;  // "input2"
  // For a repeated one any number is found, up to 65535; `branches` says how many there are.
  std::optional<std::size_t> in_cluster_named(std::string_view name) const;

  // The same of its outputs; a repeated one has as many as its attribute `outputs` says.
  std::size_t out_clusters() const;
  const ClusterDef& out_cluster(std::size_t position) const { return def->out[def->out[0].repeated ? 0 : position]; }
  std::string out_cluster_name(std::size_t position) const;  // "output2"
  std::optional<std::size_t> out_cluster_named(std::string_view name) const;
};

struct BlockPort {
  BlockId block;
  std::uint16_t cluster = 0;  // of its inputs or outputs
  Box box;                    // the part that the edge carries
};

struct BlockEdge {
  BlockPort from, to;
  std::vector<Rearrangement> moves;
  std::int32_t delay = 0;        // the value of so many time steps ago
  std::optional<Array> initial;  // before there is one; none: zeros
  // It carries no values: the groups of its target run only in steps in which what comes is not 0 (triggered_by).
  bool trigger = false;
  std::int32_t number = -1;  // in a file
  Span span;
};

struct BlockGroup {
  std::int32_t number = 0;  // in a file
  std::vector<BlockId> blocks;
  std::optional<double> approx;  // error that rewrites of it may make
  std::string metric;
};

struct BlockTestConfig {  // of a file
  std::optional<std::int64_t> random_seed;
  std::optional<std::string> name;
  std::optional<std::int32_t> mode;
};

struct BlockGraph {
  std::string name;
  std::vector<TaskBlock> blocks;
  std::vector<BlockEdge> edges;
  std::vector<BlockGroup> groups;
  std::optional<BlockTestConfig> test;

  const TaskBlock& operator[](BlockId id) const { return blocks[id.index()]; }
  // Parameters in order: input blocks, and storage without data or edge that fills it, states excepted, which begin
  // with zeros. Outputs in order.
  std::vector<BlockId> inputs() const;
  std::vector<BlockId> outputs() const;
  std::vector<BlockEdgeId> into(BlockId block, std::size_t cluster) const;  // no triggers
  std::vector<BlockEdgeId> out_of(BlockId block) const;
  bool is_state(BlockId block) const;  // storage in which a block leaves new contents after each step
  // So that each comes behind what it reads without delay, else in order of place. Error E3002 with the path of a
  // cycle.
  Result<std::vector<BlockId>> order() const;
};

// What runs only when this edge, a trigger, fires: the blocks of the groups of its target; one of no group alone.
std::vector<BlockId> triggered_by(const BlockGraph& graph, const BlockEdge& edge);
// Blocks that may not run in a step, and keep what they made last: triggered ones, and those behind a control block
// that does not give all of its outputs. By position.
std::vector<bool> held_blocks(const BlockGraph& graph);

// Of a cluster of a block: which extents its array has.
Extents cluster_extents(const TaskBlock& block, const ClusterDef& cluster);
// The type of what a block holds or makes.
ArrayType value_type(const TaskBlock& block);
// Rows (BlockAxis::y) or columns (x) that the windows of a block read: iy, ix, or what its outputs need at least.
std::int64_t read_extent(const TaskBlock& block, BlockAxis axis);

}  // namespace taskspec
