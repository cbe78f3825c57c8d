#include "interp/cli/net_of_reals.hpp"

#include <algorithm>

namespace taskspec::cli {

namespace {

bool is_real(const Type& type) { return type.is_tensor() && is_float(type.precision); }

bool has_states(const Program& program, AgentId agent) {
  return std::ranges::any_of(program[agent].slots, [&](const Slot& slot) {
    if (slot.kind == SlotKind::state) return true;
    const Type& type = slot.type.is(Type::Kind::list) && !slot.type.parts.empty() ? slot.type.parts[0] : slot.type;
    return slot.kind == SlotKind::layer && type.is(Type::Kind::agent) && has_states(program, type.agent);
  });
}

bool has_same_borders(const Function& a, const Function& b) {  // by their names
  std::vector<const Parameter*> given, taken;
  for (const Parameter& parameter : a.parameters)
    if (parameter.role == Role::declared) given.push_back(&parameter);
  for (const Parameter& parameter : b.parameters)
    if (parameter.role == Role::declared) taken.push_back(&parameter);
  return std::ranges::equal(given, taken, {}, &Parameter::name, &Parameter::name) &&
         std::ranges::equal(a.outputs, b.outputs, {}, &Output::name, &Output::name);
}

// The graph of an agent that this one only hands on to.
FunctionId handed_on_to(const Program& program, const Function& graph) {
  FunctionId found;
  for (const Call& call : graph.calls) {
    if (call.op || call.builtin) return {};
    if (!call.callee.valid()) continue;
    const Function& callee = program[call.callee];
    if (callee.kind != FunctionKind::graph || !callee.agent.valid()) continue;
    if (found.valid()) return {};
    found = call.callee;
  }
  return found.valid() && has_same_borders(graph, program[found]) ? found : FunctionId();
}

}  // namespace

std::optional<std::string> net_of_reals(const Program& program, FunctionId graph) {
  if (!graph.valid()) return std::nullopt;
  const Function* net = &program[graph];
  if (const FunctionId inner = handed_on_to(program, *net); !net->agent.valid() && inner.valid()) net = &program[inner];
  const bool has_reals = std::ranges::any_of(net->parameters, [](const Parameter& parameter) {
    return parameter.role == Role::declared && is_real(parameter.type);
  });
  if (!has_reals || (net->agent.valid() && has_states(program, net->agent))) return std::nullopt;
  return net->agent.valid() ? program[net->agent].name + "()." + net->name : net->name;
}

}  // namespace taskspec::cli
