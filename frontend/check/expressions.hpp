// Expressions: syntax in, a typed call out. What is wrong is reported and has the type `error`.
#pragma once
#include "frontend/check/names.hpp"

namespace taskspec::checking {

// `expected` is the type that the place wants, where it is known: closures and empty lists take theirs from it.
Term expression(Body& body, const ast::Expr& expr, const Type* expected = nullptr);

// The parts, by kind of expression.
Term binary_expression(Body& body, const ast::Binary& binary, Span span);  // operators.cpp
Term unary_expression(Body& body, const ast::Unary& unary, Span span);
Term cast_expression(Body& body, const ast::Cast& cast, Span span);
Term index_expression(Body& body, const ast::Index& index, Span span);     // indexing.cpp
Term member_expression(Body& body, const ast::Member& member, Span span);  // members.cpp
Term call_expression(Body& body, const ast::Call& call, Span span);        // calls.cpp
Term run_expression(Body& body, const ast::Run& run, Span span);           // run.cpp

// One item of a list or string, and one element of a tuple by a constant index.
Term item_of(Body& body, const Term& container, const Term& index, Span span);
// Takes a tuple apart.
Term element_of(Body& body, const Term& tuple, std::size_t index, Span span);

// `values` as elements of one list, int and float together as float; tensors of different shapes only where `element`,
// which the list is wanted to hold, leaves them open.
Term list_of(Body& body, const std::vector<Term>& values, Span span, const Type* element = nullptr);

// The part of a condition that is a value of the graph: in `x > 0` the `x`.
Term graph_part(Body& body, const Term& condition);

}  // namespace taskspec::checking
