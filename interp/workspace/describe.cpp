#include "interp/workspace/describe.hpp"

#include <fmt/format.h>

#include "interp/reference/reference.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

std::string parameters_text(const std::vector<Parameter>& parameters, Role role, bool privileges) {
  std::vector<std::string> list;
  for (const Parameter& parameter : parameters) {
    if (parameter.role != role) continue;
    const char* privilege = !privileges ? "" : parameter.privilege == Privilege::inout ? "inout " : "in ";
    list.push_back(privilege + parameter.name + ": " + parameter.type.text());
  }
  return "(" + joined(list, ", ") + ")";
}

std::string agent_text(const Program& program, AgentId id) {
  const AgentDef& agent = program[id];
  std::string text = "agent " + agent.name + parameters_text(agent.parameters, Role::agent_parameter, false);
  for (const Slot& slot : agent.slots) text += "\n  " + slot_text(program, slot);
  for (FunctionId member : agent.members) text += "\n  " + signature_text(program, member);
  return text;
}

}  // namespace

std::string signature_text(const Program& program, FunctionId id) {
  static constexpr const char* kinds[] = {"fn", "task", "graph", "module"};
  const Function& function = program[id];
  const bool is_fn = function.kind == FunctionKind::fn;
  std::string text = fmt::format("{} {}{}", kinds[static_cast<int>(function.kind)], program.display_name(id),
                                 parameters_text(function.parameters, Role::declared, !is_fn));
  if (is_fn) return function.result.is(Type::Kind::none) ? text : text + " -> " + function.result.text();
  std::vector<std::string> outputs;
  for (const Output& output : function.outputs) outputs.push_back(output.name + ": " + output.type.text());
  return outputs.empty() ? text : text + " -> (" + joined(outputs, ", ") + ")";
}

std::optional<std::string> description(LiveProgram& live, std::string_view name) {
  const Program& program = live.program();
  for (const Checker::Known& known : live.checker().names()) {
    if (known.name != name) continue;
    std::string text;
    if (known.function.valid()) {
      text = signature_text(program, known.function);
    } else if (known.agent.valid()) {
      text = agent_text(program, known.agent);
    } else if (known.variable.valid()) {
      const Value value = live.value(known.variable);
      const Type& type = program[program.main().top_level].variables[known.variable.index()].type;
      text = fmt::format("{} {}: {} = {}", known.what, known.name, type.text(), print(value));
    } else {
      text = fmt::format("{} {}", known.what, known.name);
    }
    const std::string place = known.span.valid() ? live.sources().place(known.span) : "";
    return place.empty() ? text : text + "\ndefined at " + place;
  }
  return record_text(live.tools(), name);
}

}  // namespace taskspec
