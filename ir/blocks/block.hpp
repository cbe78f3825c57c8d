// The block record: everything the system knows about one kind of Task IR block, written once in
// stdlib/blocks/<block>.cpp. Checker, files, exact engine, quantiser, chip and manual read it there; a block touches
// two files.
//
//   constinit const BlockDef record = BlockFields{.name = "CC", .number = 11, .kind = BlockKind::axon, ...};
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/diag.hpp"
#include "ir/blocks/shape.hpp"
#include "ir/types/precision.hpp"

namespace taskspec {

struct TaskBlock;

enum class BlockKind : std::uint8_t {
  input,    // INPUT: what comes from outside
  output,   // OUTPUT
  storage,  // SI, SIC, ...: values on their way
  data,     // SW, SB, ...: static, part of the program; or computed, by an edge
  axon,     // sums of products
  soma,     // what is done with a sum: compare, look up, fire
  control,  // SWITCH, predicates
};

// A cluster of a block, by its role. The positions of clusters (BlockPort::cluster) count those that are absent, too; a
// repeated one takes as many positions as the block has branches.
struct ClusterDef {
  std::string_view name;            // as a text writes it: conv.weight
  std::span<const BlockAxis> axes;  // of the block's shape, in order of data
  bool optional = false;
  bool repeated = false;  // CADD: input, input2, ...; SWITCH: output, output2, ...; only the first of a list
  bool windowed = false;  // its y and x are what the windows read: iy, ix (read_extent of block_graph.hpp)
  bool state = false;     // the block leaves new contents in the storage that feeds it
  // Optional ones: whether the block has it. Null: where an edge fills it.
  bool (*present)(const TaskBlock& block) = nullptr;
  std::span<const Precision> precisions = {};  // that it may hold; none: BlockDef::precisions says so, or any
  // Instead of axes: a length that attributes give, as of a table; or extents.
  std::int64_t (*length)(const TaskBlock& block) = nullptr;
  Extents (*extents)(const TaskBlock& block) = nullptr;
  // Of a control block: its contents decide which of the other clusters must have come (BlockControl).
  bool chooses = false;
};

// A parameter. Names in a text are small, in files as the schema has them.
struct BlockAttributeDef {
  std::string_view name;   // "stride_x"
  std::string_view label;  // "STRIDE_X"
  int number = 0;          // in files
  std::int64_t standard = 0;
  std::int64_t least = INT32_MIN, most = INT32_MAX;
  std::string_view doc;
  std::span<const std::string_view> words = {};  // that a text may write instead of 0, 1, ...
};

// A pair of precisions that a compute block takes: what its data input holds, and what it makes.
struct BlockPrecisions {
  Precision in;
  Precision out;
};

struct BlockNumerics;  // ir/blocks/numerics.hpp: how it computes: ordered, fast, bounds
struct BlockControl;   // ir/blocks/numerics.hpp: which inputs it waits for
struct BlockCost;      // ir/blocks/cost.hpp: bytes, multiply-adds, cycles
struct BlockRewrites;  // ir/blocks/rewrites.hpp: splitter
struct BlockReverse;   // ir/blocks/reverse.hpp: gradients
struct LoopNest;       // ir/blocks/loop_nest.hpp

struct BlockFields {
  std::string_view name;  // "CC2D", as texts and files have it
  int number = 0;         // in files
  BlockKind kind = BlockKind::storage;
  std::string_view other_name = {};  // SO is OUTPUT
  std::string_view doc;              // one sentence, then the formula, shapes, precisions
  std::string_view example;          // a runnable program with // expect lines
  std::span<const BlockAxis> axes;   // that its shape has; kernel axes may be left out where they are 1
  std::span<const ClusterDef> in = {}, out = {};
  std::span<const BlockAttributeDef* const> attributes = {};
  std::span<const std::string_view> feeds = {};  // storage: the compute blocks that may read it; none: any of them
  std::span<const BlockPrecisions> precisions = {};
  // Bytes that it keeps for itself from one time step to the next, beside the storages that it writes back; null: none.
  std::int64_t (*memory)(const TaskBlock& block) = nullptr;
  // What records cannot say by tables: kernel with strides and extents, attributes that go together.
  void (*check)(const TaskBlock& block, Diags& diags) = nullptr;
  const BlockNumerics* numerics = nullptr;
  const BlockControl* control = nullptr;  // none: it waits for all of its inputs, and gives all of its outputs
  const BlockCost* cost = nullptr;
  const BlockRewrites* rewrites = nullptr;
  const BlockReverse* reverse = nullptr;
  LoopNest (*nest)(const TaskBlock& block) = nullptr;  // its sum as loops; null: it is none
};

struct BlockDef : BlockFields {
  // An incomplete record does not compile.
  consteval BlockDef(BlockFields fields) : BlockFields(fields) {
    if (name.empty() || doc.empty() || example.empty()) throw "a block needs name, doc and example";
    if (axes.empty()) throw "a block needs the axes of its shape";
    if (computes() && !numerics) throw "a compute block needs numerics";
    if (computes() && !rewrites) throw "a compute block needs a splitter";
    if (computes() && precisions.empty()) throw "a compute block needs its pairs of precisions";
    if (computes() && (in.empty() || out.empty())) throw "a compute block needs clusters";
    if (computes() && !reverse) throw "a compute block needs a reverse, or why not";
    if (!cost) throw "a block needs its bytes and cycles";
  }
  constexpr bool computes() const {
    return kind == BlockKind::axon || kind == BlockKind::soma || kind == BlockKind::control;
  }
  const BlockAttributeDef* find_attribute(std::string_view attribute) const;
  bool holds() const { return kind == BlockKind::storage || kind == BlockKind::data; }
};

class BlockTable {
 public:
  BlockTable() = default;
  BlockTable(std::span<const BlockDef* const> blocks, std::span<const BlockAttributeDef* const> attributes)
      : blocks_(blocks), attributes_(attributes) {}
  const BlockDef* find(std::string_view name) const;  // SO is OUTPUT
  const BlockDef* find(int number) const;
  std::span<const BlockDef* const> all() const { return blocks_; }  // by number
  // Of any block: files attach some to blocks that do nothing with them.
  const BlockAttributeDef* attribute(std::string_view name_or_label) const;
  const BlockAttributeDef* attribute(int number) const;
  std::span<const BlockAttributeDef* const> attributes() const { return attributes_; }  // by number

 private:
  std::span<const BlockDef* const> blocks_;
  std::span<const BlockAttributeDef* const> attributes_;
};

}  // namespace taskspec
