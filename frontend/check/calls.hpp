// Calls of functions of the program: arguments matched with parameters, extents unified, the result typed.
//
//   energy(m.dev, m.mean)      ->      invoke energy(%4, %3) : invocation (e: f32[1])
#pragma once
#include "frontend/check/body.hpp"
#include "frontend/check/match.hpp"

namespace taskspec::checking {

class Match;

// Symbols of the signature that mean the same whatever the arguments are: top-level lets and agent parameters.
void set_outer_symbols(Body& body, Match& match, FunctionId function, const std::optional<Term>& agent);

// A call of a fn, task or graph; members of agents come with their agent.
Term call_function(Body& body, FunctionId function, const std::optional<Term>& agent, std::span<const ast::Arg> args,
                   Span span);

// A call of a value: a closure, a function parameter, a composite.
Term call_value(Body& body, const Term& callee, const ast::Call& call, Span span);

// A(args): a new agent.
// `others`: names of arguments that somebody else has read.
Term make_agent(Body& body, AgentId agent, const ast::Call& call, Span span, std::span<const std::string> others = {});

// A member of an agent as a value: Scale(2.0).apply
Term bound_member(Body& body, const Term& agent, FunctionId function, Span span);

// The type of a function as a value, seen from `body`.
Type callable_type(Body& body, FunctionId function, const std::optional<Term>& agent);

// Arguments of a call that cannot be made: errors in them are found all the same.
void check_arguments(Body& body, std::span<const ast::Arg> args);

}  // namespace taskspec::checking
