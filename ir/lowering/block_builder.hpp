// What the lowering of an op appends blocks to. A rule says what its op is: a product with weights, a sum, a maximum
// over windows, a function of single numbers, a movement. Which blocks that takes, their storage, edges, scales, cuts
// and proofs are the builder's.
//
//   .lower = +[](BlockBuilder& b, const OpInstance& call) { b.rectify(); }                      relu
//   b.multiply_in({.input = 0, .weights = w, .bias = bias, .channel = 1, .rows = 2, .columns = 3, ...})    conv2d
//
// Operands are counted as the tensors of the call; `fixed` ones are known. Whatever cannot be: refuse().
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/blocks/numerics.hpp"
#include "ir/lowering/gather.hpp"
#include "ir/lowering/lower.hpp"

namespace taskspec {

inline constexpr std::size_t no_axis = SIZE_MAX;

// How a tensor lies in blocks: its axes that are y, x and f there. Other ones have extent 1.
struct BlockLayout {
  std::size_t y = no_axis, x = no_axis, f = no_axis;
  friend bool operator==(const BlockLayout&, const BlockLayout&) = default;
};

struct WindowSide {
  std::int64_t kernel = 1, stride = 1, before = 0, after = 0, dilation = 1;
};

// A product with weights [outputs, inputs of a group, ky, kx] over windows. Axes are those of the operand.
struct WeightedSum {
  std::size_t input = 0;
  Array weights;
  std::optional<Array> bias;
  BlockLayout layout;
  BlockLayout result;  // of the output
  WindowSide y = {}, x = {};
  std::int64_t groups = 1;
};

struct NeuronSettings {
  std::int64_t threshold = 0, leak = 0, reset = 0, dv = 0, refractory = 0, vr = 0, vl = -(1 << 27), vinit = 0;
  std::optional<std::int64_t> decay;
};

class BlockBuilder {
 public:
  class State;  // of a whole graph: state.hpp
  BlockBuilder(State& state, const OpList& list, const OpList::Line& line);
  ~BlockBuilder();

  const OpInstance& call() const { return call_; }
  bool in_integers() const;
  bool is_fixed(std::size_t input) const;
  Array fixed(std::size_t input) const;  // as f64 on the quantised road, else as it is
  // Ends the rule: E4011 with the reason and the nearest thing that works.
  [[noreturn]] void refuse(std::string reason, std::string help = "") const;

  void move();  // what its kernel does to places, it does to numbers
  void map();   // a function of the one operand that is not fixed, element by element
  void pass(std::size_t input = 0);
  void keeps(std::size_t output, std::size_t input);  // a place that stays as it was
  void weigh(const WeightedSum& sum);
  void add(double sign);  // operand 0 + sign * operand 1, with broadcasting of fixed ones
  void multiply();        // operand 0 * operand 1
  // operand * factor + shift, one of each for every index along the axis, or one for all (no_axis).
  void affine(std::size_t axis, const std::vector<double>& factor, const std::vector<double>& shift,
              std::size_t input = 0);
  void rectify();  // relu
  void bound(std::optional<double> least, std::optional<double> most);
  void window_maximum(const BlockLayout& layout, const WindowSide& y, const WindowSide& x);
  void window_sum(const BlockLayout& layout, const WindowSide& y, const WindowSide& x, bool is_mean);
  void reduce(const std::vector<std::size_t>& axes, bool is_mean);
  void reduce_maximum(const std::vector<std::size_t>& axes);
  void matrix_product();  // of two tensors, either of which may be fixed
  void convert(Precision to);
  void shift_right(std::int64_t bits);
  void look_up(std::size_t table, std::size_t input);
  void fire(std::size_t current, std::size_t potential, const NeuronSettings& settings);
  // A call of a graph: its blocks as they are. With borders, one sample's tensors become integers by their scales: each
  // has the block of the graph in `block`; such tensors are inputs and outputs of the list.
  void splice(const BlockGraph& graph);
  void splice(const BlockGraph& graph, std::span<const LoweredPort> inputs, std::span<const LoweredPort> outputs);
  void leave_to_host(std::string_view why_not_here);  // where nothing follows it; else refused

 private:
  void vector_product();
  struct Impl;
  State& state_;
  const OpList& list_;
  const OpList::Line& line_;
  OpInstance call_;
};

}  // namespace taskspec
