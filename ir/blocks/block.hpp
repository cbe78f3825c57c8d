// The block record: everything the system knows about one kind of Task IR block, written once in
// stdlib/blocks/<block>.cpp. Checker, files, exact engine, quantiser, chip and manual read it there; a block touches two
// files.
//
//   constinit const BlockDef block_cc = BlockFields{.name = "CC", .number = 10, .kind = BlockKind::axon, ...};
#pragma once
#include <cstdint>
#include <span>
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
  data,     // SW, SB, ...: static, part of the program
  axon,     // sums of products
  soma,     // what is done with a sum: compare, look up, fire
  control,  // SWITCH, predicates
};

// A cluster of a block, by its role.
struct ClusterDef {
  std::string_view name;               // as a text writes it: conv.weight
  std::span<const BlockAxis> axes;     // of the block's shape, in order of data
  bool optional = false;
  bool repeated = false;               // CADD: input, input2, ...; only the first of a list of clusters
  std::span<const BlockAxis> windows = {};  // instead of these axes where the block has them: iy, ix for y, x
};

// A parameter. Names in a text are small, in files as the schema has them.
struct BlockAttributeDef {
  std::string_view name;   // "stride_x"
  std::string_view label;  // "STRIDE_X"
  int number = 0;          // in files
  std::int64_t standard = 0;
  std::string_view doc;
};

// A pair of precisions that a compute block takes: what its data input holds, and what it makes.
struct BlockPrecisions {
  Precision in;
  Precision out;
};

struct BlockNumerics;   // ir/blocks/numerics.hpp: how it computes: ordered, fast, bounds
struct BlockCost;       // ir/blocks/cost.hpp: bytes, multiply-adds, cycles
struct BlockRewrites;   // ir/blocks/rewrites.hpp: splitter, reverse

struct BlockFields {
  std::string_view name;  // "CC2D", as texts and files have it
  int number = 0;         // in files
  BlockKind kind = BlockKind::storage;
  std::string_view doc;      // one sentence, then the formula, shapes, precisions
  std::string_view example;  // a runnable program with // expect lines
  std::span<const BlockAxis> axes;         // that its shape has; kernel axes may be left out where they are 1
  std::span<const ClusterDef> in, out;
  std::span<const BlockAttributeDef* const> attributes = {};
  std::span<const std::string_view> feeds = {};  // storage: the blocks that may read it; none: any compute block
  std::span<const BlockPrecisions> precisions = {};
  // What records cannot say by tables: kernel with strides and extents, attributes in bounds.
  void (*check)(const TaskBlock& block, Diags& diags) = nullptr;
  const BlockNumerics* numerics = nullptr;
  const BlockCost* cost = nullptr;
  const BlockRewrites* rewrites = nullptr;
};

struct BlockDef : BlockFields {
  // An incomplete record does not compile.
  consteval BlockDef(BlockFields fields) : BlockFields(fields) {
    if (name.empty() || doc.empty() || example.empty()) throw "a block needs name, doc and example";
    if (axes.empty()) throw "a block needs the axes of its shape";
    if ((kind == BlockKind::axon || kind == BlockKind::soma) && !numerics) throw "a compute block needs numerics";
    if (!cost) throw "a block needs its bytes and cycles";
  }
  bool computes() const { return kind == BlockKind::axon || kind == BlockKind::soma; }
};

class BlockTable {
 public:
  explicit BlockTable(std::span<const BlockDef* const> blocks) : blocks_(blocks) {}
  const BlockDef* find(std::string_view name) const;  // SO is OUTPUT
  const BlockDef* find(int number) const;
  std::span<const BlockDef* const> all() const { return blocks_; }  // by name

 private:
  std::span<const BlockDef* const> blocks_;
};

}  // namespace taskspec
