// What a structured node (if, loop, call of a fn inside a graph) takes along from the frame it stands in:
// host values as they are, tensors replaced by the positions of the node's inputs. A body restores the
// frame from it.
#pragma once
#include <map>

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

// Values made anew for the body of a node, or out of its inputs: every tensor in them (also inside lists, tuples,
// invocations and function values) becomes what `replace` gives. An agent with slots is one thing, however many values
// hold it: it becomes one copy, whose slots are replaced as well, after `meets` saw the agent itself.
class Rebuilding {
 public:
  Rebuilding(FunctionRef<bool(const Value&)> is_tensor, FunctionRef<Value(const Value&)> replace,
             FunctionRef<void(Agent&)> meets)
      : is_tensor_(is_tensor), replace_(replace), meets_(meets) {}
  Value operator()(const Value& value);
  // Those with slots so far, in order.
  struct Copied {
    Agent* agent;
    Value copy;
  };
  const std::vector<Copied>& agents() const { return agents_; }

 private:
  Value copy_of(Agent& agent);

  FunctionRef<bool(const Value&)> is_tensor_;
  FunctionRef<Value(const Value&)> replace_;
  FunctionRef<void(Agent&)> meets_;
  std::vector<Copied> agents_;
  std::map<const Agent*, Value> copies_;
};

// An agent for functions that use no slots of it, such as its pure fns; other values as they are.
Value without_slots(const Value& value);
// Whether an agent with slots is in it: in lists, bound to function values, in what another agent was made with or
// holds.
bool holds_slots(const Value& value);

// Calls `visit` for every agent inside a value, those that function values are bound to and other agents were made with
// or hold, too; some several times.
void each_agent(const Value& value, FunctionRef<void(Agent&)> visit);

// Calls `visit` for every function inside a value: in lists, captures, both sides of a composite.
void each_function(const Value& value, FunctionRef<void(FunctionId)> visit);

// The node's arguments: values, variables, parameters, extents, how many agents were made before where the node makes
// some, self, in this order.
std::vector<Value> capture_frame(const Frame& frame, const FreeUse& use, FunctionRef<Value(const Value&)> capture);
void restore_frame(Frame& frame, const FreeUse& use, const std::vector<Value>& arguments,
                   FunctionRef<Value(const Value&)> restore);

// Tensors that the body leaves, as captured and as restored: those that are slots of the frame's own agent are left in
// the agent, where the block uses it.
std::vector<VariableId> written_of(const Frame& frame, const FreeUse& use);
// Host values that it changes: no outputs of the node.
std::vector<VariableId> counted_of(const Frame& frame, const FreeUse& use);

}  // namespace taskspec
