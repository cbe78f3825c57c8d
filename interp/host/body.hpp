// The straight-line form of one or more consecutive tasks of a chain: their traces put together, values of
// one task going straight into the next.
//
//   Body body;
//   auto x = body.input(type, bytes);  auto y = body.append(trace, {x});  body.output(y[0], other_bytes);
#pragma once
#include <span>

#include "ir/backend.hpp"

namespace taskspec {

struct BodyOp {
  OpInstance instance;
  std::vector<std::uint32_t> in, out;  // values
  std::uint32_t task = 0;
};

struct BodyOperand {
  std::uint32_t value = 0;
  std::uint32_t bytes = 0;  // operands with equal numbers lie in the same bytes
};

struct Body {
  std::vector<ArrayType> values;
  std::vector<std::pair<std::uint32_t, Array>> constants;  // value and what it is
  std::vector<BodyOperand> inputs, outputs;
  std::vector<BodyOp> ops;
  std::uint32_t tasks = 0;

  std::uint32_t value(const ArrayType& type);
  std::uint32_t input(const ArrayType& type, std::uint32_t bytes);
  void output(std::uint32_t value, std::uint32_t bytes) { outputs.push_back({value, bytes}); }
  // Adds the next task; gives the values of its outputs.
  std::vector<std::uint32_t> append(const BodyTrace& trace, std::span<const std::uint32_t> inputs);
};

// The trace of a node that is one op.
BodyTrace trace_of(OpInstance instance);

}  // namespace taskspec
