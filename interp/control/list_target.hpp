// The target of a task body whose ops are written down (op_lists.hpp): its tensors are values of the list.
#pragma once
#include <map>

#include "interp/control/target.hpp"
#include "ir/graph/op_list.hpp"

namespace taskspec {

// A number or bool of host code.
bool is_host_number(const Type& type);
// Something in it is not known yet: a number, or an extent of a written type.
bool is_open_value(const Value& value);

class ListTarget : public Target {
 public:
  // What its parameters are, tensors and numbers; `symbol` and what follows is free for those.
  ListTarget(std::vector<Type> inputs, std::uint32_t symbol, std::size_t longest = 4096)
      : inputs_(inputs.size()), types_(std::move(inputs)), symbol_(symbol), longest_(longest) {}
  Value input(std::size_t position, const Parameter& parameter) const;
  Value tensor(std::size_t position) const;  // an input
  // The body is that of a fn: the next call is its own.
  void calls_body() { outside_ = 1; }
  // Fills in what is inside of a list; `outputs` are values of this target or arrays.
  void finish(OpList& list, const std::vector<Value>& outputs);

  bool is_tensor(const Value& value) const override;
  Type type_of(const Value& value) const override;
  void op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) override;
  TaskResult task(Interpreter& interpreter, const TaskCall& call) override;
  bool holds_open(std::span<const Value> values) const override;
  Value number(const Frame& frame, const Call& call, std::span<const Value> operands) override;
  Value place(const std::string&, const Value& initial) override { return initial; }
  bool decide(const Value& value, Span span) override;
  Array receive(const Value& value, Span span) override;
  ScopeId open_scope(ScopeId outer, std::string_view, FunctionId, Span site) override;
  void close_scope(ScopeId) override { calls_.pop_back(); }
  Value constant(Array array) override { return Value(std::move(array)); }

 protected:
  std::size_t inputs() const { return inputs_; }
  static std::size_t position_of(const Value& value);  // of a tensor that is no array: inputs, then what lines make

 private:
  static constexpr std::size_t first_constant = 1ULL << 31;  // before it is known how many results there are
  ValueId value_of(const Value& value);
  Value beside_tensors(const Value& number, Precision precision);
  void place_numbers(const Frame& frame, const Call& call, std::span<Value> operands, const Type& made);

  const std::size_t inputs_;
  std::vector<Type> types_;  // of inputs and of what lines make, in order of appearance
  const std::uint32_t symbol_;
  const std::size_t longest_;  // list, in ops
  std::vector<std::pair<Value, Type>> constants_;
  std::map<std::pair<const Object*, Precision>, std::size_t> numbers_;  // among them
  std::vector<OpList::Line> lines_;
  std::vector<Span> calls_;  // of fns under way
  std::size_t outside_ = 0;  // of these: around the body
};

}  // namespace taskspec
