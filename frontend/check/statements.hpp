// Statements, in order; what they define goes to the innermost scope, what they do to the open block.
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// All of them in the innermost scope, which knows them from the start (to tell "not yet set" from "unknown").
void statements(Body& body, const std::vector<ast::Stmt>& list);

// One statement; a failure in it does not stop the next ones.
void statement(Body& body, const ast::Stmt& stmt);

// The parts, by kind of statement; the small ones stand in statements.cpp.
void check_statement(Body& body, const ast::Let& let, Span span);        // lets.cpp
void check_statement(Body& body, const ast::Assign& assign, Span span);  // assignments.cpp
void check_statement(Body& body, const ast::If& node, Span span);        // control.cpp
void check_statement(Body& body, const ast::For& node, Span span);
void check_statement(Body& body, const ast::While& node, Span span);

// At a prompt: the value of an expression goes by the name `_` until the next one.
void keep_value(Body& body, const Term& value);  // lets.cpp
// A let of the top level: a variable, which functions read.
void bind_let(Body& body, const ast::Name& name, const Term& value, Binding& binding);
// Defines the names of a pattern as parts of a value.
void define_pattern(Body& body, const ast::Pattern& pattern, const Term& value, std::string_view what);

// Every path through these statements ends in a `return`, or in a loop that only a `return` leaves.
bool always_returns(const std::vector<ast::Stmt>& list);
// Likewise, or in a `break` or `continue`: what follows the block is not reached through it.
bool always_leaves(const std::vector<ast::Stmt>& list);

}  // namespace taskspec::checking
