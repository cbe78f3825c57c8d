// The gradient of an op: its reverse, made of calls of other ops.
#pragma once
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/kernel.hpp"

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
  virtual Var upstream(std::size_t i = 0) = 0;  // d loss / d output i
  // Calls an op by name; tensor operands and host operands are given in the op's declared order.
  virtual Var emit(std::string_view op, const std::vector<std::variant<Var, Value>>& operands) = 0;
  virtual const ArrayType& type(Var v) = 0;
  virtual void add(std::size_t input, Var gradient) = 0;  // contributes to d loss / d input
};

struct Gradient {
  void (*build)(GradientBuilder&) = nullptr;
  std::string_view why_none;  // the reason, when there is none

  constexpr Gradient() = default;
  constexpr Gradient(void (*b)(GradientBuilder&)) : build(b) {}
  static constexpr Gradient none(std::string_view reason) {
    Gradient g;
    g.why_none = reason;
    return g;
  }
};

}  // namespace taskspec
