// The reverse of a block graph: a block graph of the same kinds of blocks that computes its gradients, made of what
// the records of its blocks state (BlockFields::reverse): of a convolution one with reflected and permuted weights, of
// a matrix its transpose, of a relu a mask, of a neuron a rectangle around its threshold. Its numbers are floats; it
// runs on the real engine (interp/exact/real.hpp).
//
//   Result<BlockReversed> made = reverse(graph, {});      // made->graph: inputs x, ..., d_y, ...; outputs d_x, d_w,
//   ...
//
// Values of the graph that the reverse reads are computed again in it, as the graph computes them: in floats without
// rounding, or, fake-quantised, in the integers of a chip, whose steps gradients pass as if there were none.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/blocks/block_graph.hpp"

namespace taskspec {

struct BlockReverseOptions {
  bool fake_quant = false;
  std::int64_t window = 1;  // of neurons: potentials this near to the threshold have the slope 1 / (2 window)
  // Blocks whose gradients are wanted: inputs and data; empty: all inputs and weights and biases.
  std::vector<std::string> wanted;
};

struct BlockReversed {
  BlockGraph graph;
  // Names of its inputs: those of the graph, states among them, in order of its blocks; then "d_" and the name of each
  // of its outputs, then "next_" and the name of each state that a neuron writes: the gradient of what it leaves there,
  // zeros behind the last step.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  // "d_" and the name of each wanted block; of states, too
};

// E4035: blocks without a reverse, all of them.
Result<BlockReversed> reverse(const BlockGraph& graph, const BlockTable& blocks, const BlockReverseOptions& options);

// What a record's `make` sees: its block, as it stands in the graph that is made, and what it appends to that.
class ReverseMaker {
 public:
  ReverseMaker(BlockGraph& graph, const BlockTable& table, const BlockReverseOptions& options, BlockId block,
               BlockId upstream);

  const TaskBlock& block() const { return graph_[block_]; }
  const BlockReverseOptions& options() const { return options_; }
  BlockId upstream() const { return upstream_; }  // SI: the gradient of the output
  BlockId next() const { return next_; }          // SI: of the state it leaves behind; only of neurons
  void set_next(BlockId next) { next_ = next; }

  // A block of floats, its name made from that of the forward block.
  BlockId add(std::string_view kind, const BlockShape& shape,
              std::vector<std::pair<std::string_view, std::int64_t>> attributes = {});
  // Storage of this kind and shape with the contents of an input cluster of the forward block.
  BlockId contents(std::size_t cluster, std::string_view kind, const BlockShape& shape);
  BlockId output(std::string_view kind, const BlockShape& shape);  // the same of its output
  // Everything of the one becomes everything of the other, or parts of them.
  BlockEdge& edge(BlockId from, BlockId to, std::string_view cluster,
                  std::vector<std::pair<std::string_view, std::vector<std::int64_t>>> moves = {});
  BlockId kept(BlockId computed, std::string_view kind = "SI");  // in a new storage
  BlockId constant(std::int64_t f, double value);                // SB [f]
  void set_constant_bias(BlockId block) { graph_.blocks[block.index()].bias = BiasKind::constant; }
  // The gradient of an input cluster, storage with as many places.
  void give(std::size_t cluster, BlockId gradient) { given_[cluster] = gradient; }
  std::optional<BlockId> given(std::size_t cluster) const { return given_[cluster]; }
  const TaskBlock& at(BlockId id) const { return graph_[id]; }

 private:
  BlockGraph& graph_;
  const BlockTable& table_;
  const BlockReverseOptions& options_;
  BlockId block_, upstream_, next_;
  std::vector<std::optional<BlockId>> given_;
};

// What a record says of gradients.
struct RealArgs {
  std::span<const std::vector<double>> in;  // by cluster; empty: absent
  std::vector<double>& out;
  std::span<std::vector<double>> states = {};  // by cluster: new contents of states
};
struct BlockReverse {
  // Appends the blocks that compute the gradients of its inputs; returns why this one has none, empty: it has.
  std::string (*make)(ReverseMaker& to) = nullptr;
  std::string_view why_not = {};  // there is no `make`
  // Its formula in real numbers. Of a block of an integer precision the result is rounded as a chip rounds it.
  void (*compute)(const TaskBlock& block, const RealArgs& args) = nullptr;
  // What changes in the forward block, before its numbers may become floats; `in` is what its data input held.
  void (*as_real)(TaskBlock& block, Precision in) = nullptr;
};

// Rearrangements that take what has come out of these back to where it came from, zeros where it came from nowhere.
// None: some place was copied to several (scale), or their record knows no way back.
std::optional<std::vector<Rearrangement>> transposed(std::span<const Rearrangement> moves, const Extents& source,
                                                     const Extents& target);

}  // namespace taskspec
