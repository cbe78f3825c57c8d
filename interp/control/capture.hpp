// What a structured node (if, loop, call of a fn inside a graph) takes along from the frame it stands in:
// host values as they are, tensors replaced by the positions of the node's inputs. A body restores the
// frame from it.
#pragma once

#include "interp/control/facts.hpp"
#include "interp/control/frame.hpp"
#include "interp/control/objects.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec {

// Input `position` of the node, standing where a tensor stood.
class InputSlot final : public Object {
 public:
  explicit InputSlot(std::size_t p) : position(p) {}
  std::size_t position;
  std::string text() const override { return "<input " + std::to_string(position) + ">"; }
};

// `value` with every tensor in it (also inside lists, tuples, invocations and function values) replaced by what
// `replace` gives. Agents with slots are refused (E1009): their state would leave the node unseen.
Value replace_tensors(const Value& value, FunctionRef<bool(const Value&)> is_tensor,
                      FunctionRef<Value(const Value&)> replace, Span span);

// An agent for functions that use no slots of it, such as its pure fns; other values as they are.
Value without_slots(const Value& value);

// Calls `visit` for every function inside a value: in lists, captures, both sides of a composite.
void each_function(const Value& value, FunctionRef<void(FunctionId)> visit);

// The node's arguments: values, variables, parameters, extents, self, in this order.
std::vector<Value> capture_frame(const Frame& frame, const FreeUse& use, FunctionRef<Value(const Value&)> capture);
void restore_frame(Frame& frame, const FreeUse& use, const std::vector<Value>& arguments,
                   FunctionRef<Value(const Value&)> restore);

}  // namespace taskspec
