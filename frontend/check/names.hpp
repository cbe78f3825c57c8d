// What a name in an expression stands for, as a value; and why it stands for nothing.
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// `help`: for a name that means nothing, where no better one is known.
Term read_name(Body& body, const ast::Name& name, const std::string& help = "");
Term read_binding(Body& body, const Binding& binding, const ast::Name& name);
// A slot of the agent whose member this is: its newest version.
Term read_slot(Body& body, const Binding& slot, Span span);
VariableId slot_variable(Body& body, std::uint32_t index);
// Tasks and graphs of an agent do, its fns do not: E1001.
bool sees_slots(Body& body, Span span);

// A task, graph or fn as a value; a member of the own agent is bound to it.
Term function_name(Body& body, FunctionId function, Span span);

// Names of the library that are not functions: pi, inf, nan.
std::optional<double> constant_of_library(std::string_view name);

// E1006 or E3001 when the name is set further down, E1009 when it belongs to a part not built, else E1001.
Term missing_name(Body& body, const ast::Name& name, const std::string& help = "");

// An output of a task or graph is read: it must have been set on every path to here.
bool require_set(Body& body, VariableId variable, const ast::Name& name);

}  // namespace taskspec::checking
