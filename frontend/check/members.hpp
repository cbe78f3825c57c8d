// What stands behind a dot: names of a module, outputs of invocations, members of agents, fields, receives.
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// `base.name` as a value; outputs first, then members of a single output, else E1002.
Term member_value(Body& body, const Term& base, const ast::Name& name, Span span);

std::optional<Term> output_named(Body& body, const Term& invocation, std::string_view name, Span span);
std::string described_invocation(Body& body, const Term& invocation);  // "task 'energy'"

// What a plain name stands for, if `expr` is one.
std::optional<Binding> binding_of(Body& body, const ast::Expr& expr);
// These two report what they do not find.
std::optional<Binding> member_of_module(Body& body, const Binding& module, const ast::Name& name);
std::optional<Binding> member_of_agent(Body& body, const Term& agent, const ast::Name& name);

}  // namespace taskspec::checking
