// The target that computes each op at once on arrays: inside of task bodies whose control depends on data, and where
// a program is only looked at.
#pragma once
#include "interp/control/target.hpp"
#include "ir/plan/backend.hpp"

namespace taskspec {

// One op on known values, on the calling thread: its outputs. Throws Error when the kernel reports a fault.
List compute(const OpDef& op, std::span<const Value> operands, const Type& type);
std::vector<Array> compute(const OpInstance& op, std::span<const Array> tensors);

class ImmediateTarget : public Target {
 public:
  bool is_tensor(const Value& value) const override { return value.is_array(); }
  Type type_of(const Value& tensor) const override { return tensor.array().type().type(); }
  void op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) override;
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

}  // namespace taskspec
