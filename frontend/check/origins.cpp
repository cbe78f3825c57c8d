#include "frontend/check/origins.hpp"

#include <algorithm>

namespace taskspec::checking {

bool holds_function(const Type& type) {
  if (type.is(Type::Kind::function)) return true;
  bool container = type.is(Type::Kind::list) || type.is(Type::Kind::tuple);
  return container && std::any_of(type.parts.begin(), type.parts.end(), holds_function);
}

bool holds_callable(const Type& type) {
  if (type.is(Type::Kind::function) || type.is(Type::Kind::task)) return true;
  bool container = type.is(Type::Kind::list) || type.is(Type::Kind::tuple);
  return container && std::any_of(type.parts.begin(), type.parts.end(), holds_callable);
}

std::set<FunctionId> Origins::functions() const {
  std::set<FunctionId> functions;
  for (const Made& origin : made) functions.insert(world_.program[origin.in][origin.call].callee);
  return functions;
}

// `own`: parameters met here are those of the function that was asked about.
void Origins::follow(FunctionId in, CallId id, bool own) {
  const Function& function = world_.program[in];
  if (!id.valid() || !seen_.insert({in, id}).second) return;
  const Call& call = function[id];
  if (call.form == Form::function || call.form == Form::member || call.form == Form::closure)
    made.insert({in, id});
  else if (call.form == Form::parameter && own)
    parameters.insert(call.index);
  else if (call.form == Form::variable)
    follow_written(in, call.variable, own);
  else if (call.form == Form::global)
    follow_written(world_.program.modules[call.module.index()].top_level, call.variable, false);
  else if (call.form == Form::call)
    follow_given(call.callee, givers(call.callee).returns, false);
  else
    for (CallId part : call.in)
      if (part.valid() && holds_callable(function[part].type)) follow(in, part, own);
}

void Origins::follow_written(FunctionId in, VariableId variable, bool own) {
  const auto& writes = givers(in).variables;
  if (variable.index() < writes.size()) follow_given(in, writes[variable.index()], own);
}

void Origins::follow_given(FunctionId in, const std::vector<CallId>& calls, bool own) {
  for (CallId call : calls)
    if (const Call& giver = world_.program[in][call]; !giver.in.empty()) follow(in, giver.in[0], own);
}

const Givers& Origins::givers(FunctionId id) {
  world_.info(id).givers.find(world_.program[id]);
  return world_.info(id).givers;
}

}  // namespace taskspec::checking
