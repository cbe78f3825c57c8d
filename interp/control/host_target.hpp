// The target of a host program whose tensors live in a graph program: it meets them only as contents that were
// received, and never computes with them.
#pragma once
#include "interp/control/target.hpp"

namespace taskspec {

class HostTarget final : public Target {
 public:
  bool is_tensor(const Value& value) const override { return value.is_array(); }
  Type type_of(const Value& value) const override { return value.array().type().type(); }
  void op(const Frame&, const Call&, std::span<Value>, const Type&, List&) override { bug(stray); }
  TaskResult task(Interpreter&, const TaskCall&) override { bug(stray); }
  Value place(const std::string&, const Value&) override { bug(stray); }
  bool decide(const Value&, Span) override { bug(stray); }
  Array receive(const Value& value, Span) override { return value.array(); }
  Value constant(Array array) override { return Value(std::move(array)); }

 private:
  static constexpr const char* stray = "a tensor operation in a host program";
};

}  // namespace taskspec
