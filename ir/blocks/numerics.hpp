// How a compute block computes: a record's answer to "make yourself ready for these operands", and what comes back, a
// runner that is run often. Two worlds of numbers: `chip` saturates after every addition, in the stated order, from the
// bias on; `rabbit` is the reference program, exact, whose shifts count bits and whose overflows give INT_MIN.
//
//   std::unique_ptr<BlockRunner> conv = block.def->numerics->prepare(block, operands, BlockMode::chip);
//   BlockRun run = conv->run({.in = pointers, .out = bytes, .scratch = scratch});      run.ordered, run.saturations
//
// Saturation matters only where a sum leaves 32 bits. A runner proves that none can, |bias| + sum |w| * max|x| < 2^31
// for each output, from weights and proven ranges, or when it runs from the actual input; then fast kernels do the
// work, else the ordered loop.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/blocks/block_graph.hpp"

namespace taskspec {

// `real`: floats, for gradients (interp/exact/real.hpp); no chip has them.
enum class BlockMode : std::uint8_t { chip, rabbit, real };

// What values may be, both ends included.
struct ValueRange {
  std::int64_t least = 0, most = 0;
  std::int64_t magnitude() const { return most > -least ? most : -least; }
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};
ValueRange range_of(Precision precision);                                         // of an integer precision
ValueRange range_of(Precision precision, const std::byte* data, std::int64_t n);  // of what is there; n > 0

// What is known of an input cluster before the block runs.
struct BlockOperand {
  bool there = false;
  ArrayType type;                    // as it lies in memory; in rabbit mode it may be wider than a block says
  ValueRange range;                  // proven
  const std::byte* fixed = nullptr;  // contents that never change; they live as long as the runner
  bool sparse = false;               // its storage says that most of it is zeros
};

struct BlockArgs {
  std::span<const std::byte* const> in;  // by cluster, null: absent
  std::byte* out = nullptr;              // of value_type(block), one after the other where there are several
  std::span<std::byte* const> states =
      {};                        // by cluster: where new contents of states go; they may be the old ones' bytes
  std::byte* scratch = nullptr;  // scratch_bytes(), aligned to 64
  bool force_ordered = false;    // for comparisons of both ways
  // Of control blocks, by output cluster, all of them 1 before: 0 where nothing goes now.
  std::span<std::uint8_t> gives = {};
};

// What a run was like.
struct BlockRun {
  bool ordered = false;          // no proof held
  std::int64_t saturations = 0;  // values that a sum, a conversion or an address had to be cut to
  std::int64_t skipped = 0;      // multiply-adds with a zero that were left out
};

class BlockRunner {
 public:
  virtual ~BlockRunner() = default;
  virtual BlockRun run(const BlockArgs& args) = 0;
  // What it keeps from step to step (BlockDef::memory): as in the beginning; out of memory, and into it.
  virtual void reset() {}
  virtual void remember(const std::byte* /*memory*/) {}
  virtual void save(std::byte* /*memory*/) const {}
  std::size_t scratch_bytes() const { return scratch_; }
  const ValueRange& range() const { return range_; }     // of what it makes, proven
  bool is_proven() const { return reason_.empty(); }     // before any input is there
  const std::string& reason() const { return reason_; }  // why not: the bound that is too large

 protected:
  std::size_t scratch_ = 0;
  ValueRange range_;
  std::string reason_;
};

// Of a block that chooses among its inputs.
struct BlockControl {
  // By cluster: 1 for each input that must have come before the block runs, as the clusters that choose say. They have
  // come. Returns why they make no sense; empty: they do.
  std::string (*wants)(const TaskBlock& block, std::span<const std::byte* const> in, std::span<std::uint8_t> wanted);
};

struct BlockNumerics {
  std::unique_ptr<BlockRunner> (*prepare)(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode);
};

}  // namespace taskspec
