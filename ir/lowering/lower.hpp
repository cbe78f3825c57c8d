// Lowering: an op list of tensors becomes a graph of Task IR blocks, op by op as their records say.
//
//   y = relu(conv2d(x, w, b))     x -> SIC i8 -> CC (weights SW, bias SB) -> SI i32 -> CCMPB (cmp: 0) -> OUTPUT
//
// Two roads. Integers (i8, i32) are computed as they stand, and proven to be what the host computes: that wraps around,
// blocks saturate. Floats need scales (scales.hpp): `quantize` has them.
//
//   Result<LoweredGraph> made = lower(list, {.blocks = table, .known = weights});
//
// All that has no blocks is said at once: E4011 why an op has none, E4012 where a sum may leave 32 bits.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/blocks/block_graph.hpp"
#include "ir/graph/op_list.hpp"
#include "ir/lowering/scales.hpp"

namespace taskspec {

struct LowerOptions {
  const BlockTable& blocks;
  std::vector<std::optional<Array>> known = {};  // by input of the list: its contents, which never change
  Scales* scales = nullptr;                      // none: integers
  std::string name = {};                         // of the graph; none: that of the list
  bool gives_known = false;                      // an output that is known before the graph runs is no error
  bool leaves_last = true;                       // a last softmax or argmax is left out, for the host
};

// A tensor at the border of a block graph: axis k of it is axis `axes[k]` of the block, SIZE_MAX: an extent of 1.
struct LoweredPort {
  std::string name;  // of its block
  ArrayType tensor;  // of the list
  double scale = 1;  // number = integer / scale
  Precision precision = Precision::i8;
  Extents extents;  // of the block
  std::vector<std::size_t> axes;
  BlockId block = {};  // INPUT or OUTPUT
  ValueId value = {};  // of the list
};

// How the sum of a layer became 8 bits, for reports.
struct LoweredLayer {
  ValueId value;
  std::string name;      // of the block that sums
  double scale = 1;      // of the result
  double sum_scale = 1;  // of the sum
  int cut = -1;          // n of 4^n; -1: a table, -2: not cut
};

// What goes on from step to step: a storage that a block writes back, or, without one, what delayed edges and blocks
// remember by themselves.
struct LoweredState {
  ValueId before, after;  // of the list: as it was, which is known; as the step leaves it
  BlockId storage;
  LoweredPort port;
};

struct LoweredGraph {
  BlockGraph graph;
  std::vector<LoweredPort> inputs, outputs;  // in the order of the list, without those that are known
  std::vector<LoweredState> states;
  std::vector<std::pair<ValueId, Array>> known;  // outputs that no block makes
  std::vector<LoweredLayer> layers;
  struct Held {  // a tensor that some compute block makes
    ValueId value;
    LoweredPort port;
    BlockId block;
    bool is_whole = false;  // as the block makes it
  };
  std::vector<Held> held;
  std::vector<std::string> notes;  // what is left to the host
};

Result<LoweredGraph> lower(const OpList& list, const LowerOptions& options);

// Between a tensor and the integers of its block: where each lies is worked out once.
class PortCrossing {
 public:
  explicit PortCrossing(const LoweredPort& port);
  ArrayType block() const { return {precision_, extents_}; }
  const ArrayType& tensor() const { return tensor_; }
  void in(const Array& tensor, Array& integers) const;  // clamp(floor(x * scale + 1/2)); NaN is 0
  void out(const Array& integers, Array& tensor) const;

 private:
  ArrayType tensor_;
  Precision precision_;
  Extents extents_;
  double scale_;
  std::vector<std::int64_t> places_;  // in the tensor, by element of the block
};

// A tensor as the integers of its block, and back.
Array to_block(const LoweredPort& port, const Array& tensor);
Array from_block(const LoweredPort& port, const Array& integers);
std::vector<double> in_block_order(const LoweredPort& port, const Array& tensor);

}  // namespace taskspec
