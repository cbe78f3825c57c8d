// The straight-line form of one or more consecutive tasks of a chain: their op lists put together, values of one task
// going straight into the next.
//
//   FusedBody body;
//   auto x = body.input(type, bytes);  auto y = body.append(list, {x});  body.output(y[0], other_bytes);
#pragma once
#include <span>

#include "ir/plan/backend.hpp"

namespace taskspec {

struct FusedOp {
  OpInstance instance;
  std::vector<std::uint32_t> in, out;  // values
  std::uint32_t task = 0;
  Span span = {};                                        // where its task comes to it; none: that of the task
  std::shared_ptr<const std::string> in_task = nullptr;  // as OpList::Line::task
  std::shared_ptr<const Kernel> number = nullptr;        // makes one of others, as host code does: no op of the table
  Sharing sharing() const { return number ? Sharing::none : instance.op->sharing; }
  Fusion fusion() const { return number ? Fusion::opaque : instance.op->fusion; }
};

struct FusedOperand {
  std::uint32_t value = 0;
  std::uint32_t bytes = 0;  // operands with equal numbers lie in the same bytes
};

struct FusedBody {
  std::vector<ArrayType> values;
  std::vector<std::pair<std::uint32_t, Array>> constants;  // value and what it is
  std::vector<FusedOperand> inputs, outputs;
  std::vector<FusedOp> ops;  // numbers first: they come between no two ops that may be one pass
  std::uint32_t tasks = 0, numbers = 0;

  std::uint32_t value(const ArrayType& type);
  std::uint32_t input(const ArrayType& type, std::uint32_t bytes);
  void output(std::uint32_t value, std::uint32_t bytes) { outputs.push_back({value, bytes}); }
  // Adds the next task, by its list or as one op; gives the values of its outputs. The types of a list must be known.
  std::vector<std::uint32_t> append(const OpList& list, std::span<const std::uint32_t> inputs);
  std::vector<std::uint32_t> append(OpInstance op, std::span<const std::uint32_t> inputs);

 private:
  std::uint32_t number(const Value& number, const Type& type, std::span<const std::uint32_t> inputs);
};

}  // namespace taskspec
