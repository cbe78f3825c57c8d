// The gradient of an op: its reverse, made of calls of other ops.
//
//   .gradient = {+[](GradientBuilder& g) { g.add(0, g.emit(op_mul, {g.upstream(), g.input(0)})); }, {.inputs = 1}}
#pragma once
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/records/kernel.hpp"

namespace taskspec {

// Builds the reverse of one call out of other ops. A Var is an array in the builder's world: a node of a
// graph, or a number in a test.
class GradientBuilder {
 public:
  using Var = std::uint32_t;
  virtual ~GradientBuilder() = default;
  virtual const OpInstance& call() const = 0;  // the forward call
  virtual Var input(std::size_t i) = 0;        // tensor operand i of the forward call
  virtual Var output(std::size_t i = 0) = 0;
  // False where nothing that counts depends on output i: its upstream would be 0. A reverse of several outputs asks,
  // that of one is not built then.
  virtual bool has_upstream(std::size_t i) const = 0;
  virtual Var upstream(std::size_t i = 0) = 0;  // d loss / d output i, of the shape and precision of that output
  // Tensor operands and host operands are given in the op's declared order.
  virtual Var emit(const OpDef& op, const std::vector<std::variant<Var, Value>>& operands) = 0;
  virtual const ArrayType& type(Var v) = 0;
  // Contributes to d loss / d input. Of a place the input is its old version; its new one is the output of that name.
  virtual void add(std::size_t input, Var gradient) = 0;
};

// The tensors of the forward call that its reverse reads, a bit for each; what no reverse reads need not be kept.
struct ReverseReads {
  static constexpr std::uint32_t all = UINT32_MAX;
  std::uint32_t inputs = 0, outputs = 0;
  friend bool operator==(const ReverseReads&, const ReverseReads&) = default;
};

struct Gradient {
  void (*build)(GradientBuilder&) = nullptr;
  ReverseReads reads;
  std::string_view why_none;  // the reason, when there is none

  constexpr Gradient() = default;
  constexpr Gradient(void (*b)(GradientBuilder&), ReverseReads r = {}) : build(b), reads(r) {}
  static constexpr Gradient none(std::string_view reason) {
    Gradient g;
    g.why_none = reason;
    return g;
  }
};

}  // namespace taskspec
