// The targets inside task bodies. ImmediateTarget computes each op at once on arrays; TraceTarget writes the
// ops down as a straight list, for bodies whose control does not depend on data.
#pragma once
#include "interp/control/target.hpp"
#include "ir/backend.hpp"

namespace taskspec {

// One op on known values, on the calling thread: its outputs. Throws Error when the kernel reports a fault.
List compute(const OpDef& op, std::span<const Value> operands, const Type& type);

class ImmediateTarget final : public Target {
 public:
  bool is_tensor(const Value& value) const override { return value.is_array(); }
  Type type_of(const Value& tensor) const override { return tensor.array().type().type(); }
  List op(const Frame& frame, const Call& call, std::span<const Value> operands, const Type& type) override;
  TaskResult task(Interpreter& interpreter, const TaskCall& call) override;
  Value place(const std::string&, const Value& initial) override { return initial; }
  bool decide(const Value& tensor, Span) override { return tensor.array().integer(0) != 0; }
  Array receive(const Value& tensor, Span) override { return tensor.array(); }
  Value constant(Array array) override { return Value(std::move(array)); }
  // Agents made here are told apart by a graph that is looked at and uses several of them.
  std::shared_ptr<const void> home() const override {
    if (!home_) home_ = std::make_shared<char>();
    return home_;
  }
  InstanceId instance(const Agent&) override { return InstanceId(agents_++); }

 private:
  mutable std::shared_ptr<const void> home_;
  std::size_t agents_ = 0;
};

// Thrown when a body is not a straight list after all.
struct NotTraceable {};

class TraceTarget final : public Target {
 public:
  explicit TraceTarget(std::vector<ArrayType> inputs);
  Value input(std::size_t position) const;
  // The finished list; `outputs` are values of this target or arrays.
  BodyTrace finish(const std::vector<Value>& outputs);

  bool is_tensor(const Value& value) const override;
  Type type_of(const Value& tensor) const override;
  List op(const Frame& frame, const Call& call, std::span<const Value> operands, const Type& type) override;
  TaskResult task(Interpreter& interpreter, const TaskCall& call) override;
  Value place(const std::string&, const Value& initial) override { return initial; }
  bool decide(const Value& tensor, Span) override;
  Array receive(const Value&, Span) override { throw NotTraceable{}; }
  Value constant(Array array) override { return Value(std::move(array)); }

 private:
  std::uint32_t position(const Value& value);
  static constexpr std::size_t longest = 4096;  // ops; longer bodies run step by step
  std::size_t inputs_;
  std::vector<ArrayType> types_;  // of inputs and results of steps, in order of appearance
  std::vector<Array> constants_;
  std::vector<BodyTrace::Step> steps_;  // values: inputs and results; constants from `first_constant` on
  static constexpr std::uint32_t first_constant = 1u << 31;
};

}  // namespace taskspec
