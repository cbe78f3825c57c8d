// Where function values come from and where they go: through variables, lists, results and parameters.
//
//   let f = a.step;  var l = [f, half];  l[0](x)      // the origins of l[0]: the member a.step, the function half
#pragma once
#include <set>

#include "frontend/check/world.hpp"

namespace taskspec::checking {

bool holds_function(const Type& type);  // an fn as a value, also in lists and tuples
bool holds_callable(const Type& type);  // or a task or graph

// Where a function value may come from, inside one function.
class Origins {
 public:
  struct Made {  // a function, member or closure, by the call that makes a value of it
    FunctionId in;
    CallId call;
    friend auto operator<=>(const Made&, const Made&) = default;
  };

  Origins(World& world, FunctionId in) : world_(world), in_(in) {}

  std::set<Made> made;
  std::set<std::uint32_t> parameters;  // of the function that is asked about
  std::set<FunctionId> functions() const;

  void follow(CallId value) { follow(in_, value, true); }
  void follow(VariableId variable) { follow_written(in_, variable, true); }

 private:
  void follow(FunctionId in, CallId id, bool own);
  void follow_written(FunctionId in, VariableId variable, bool own);
  void follow_given(FunctionId in, const std::vector<CallId>& calls, bool own);
  const Givers& givers(FunctionId id);

  World& world_;
  FunctionId in_;
  std::set<Made> seen_;
};

// Calls `visit(function, parameter)` for what takes this operand of a call: the callee, a closure that captures it, the
// members of an agent that has it as a parameter.
template <class Visit>
void each_receiver(const Program& program, const Call& call, std::size_t operand, const Visit& visit) {
  if (call.form == Form::closure) visit(call.callee, operand);  // captures come first
  if (call.form == Form::agent)
    for (FunctionId member : program[call.agent].members) visit(member, operand);
  if (call.form != Form::call && call.form != Form::invoke) return;
  const Function& callee = program[call.callee];
  std::size_t next = callee.agent.valid() ? 1 : 0;
  for (std::size_t k = 0; k < callee.parameters.size(); ++k)
    if (callee.parameters[k].role == Role::declared && next++ == operand) return visit(call.callee, k);
}

}  // namespace taskspec::checking
