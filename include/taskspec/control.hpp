// Control flow that is recorded: each body runs once, when it is written, and stands in the graph for all its turns.
//
//   Var y = var("y", x);
//   for_(range(0, n), [&](Tensor i) { y += i.as(f32); });
//   if_(y.sum() > 1.0, [&] { y = y * 0.5; }, [&] { y = y * 2.0; });
//
// An `if` or `for` of C++ decides while recording: what it leaves out is not in the graph.
#pragma once
#include <functional>

#include "taskspec/tensor.hpp"

namespace taskspec::dsl {

namespace detail {
void if_(Operand condition, const std::function<void()>& then, const std::function<void()>& otherwise);
void while_(const std::function<Operand()>& condition, const std::function<void()>& body, At at);
void for_(Range range, const std::function<void(Tensor)>& body);
}  // namespace detail

// In the body of a fn: writes a line when the host program comes there. A tensor shows its name, not its contents.
void print_(Operand a, Operand b = {}, Operand c = {}, Operand d = {}, Operand e = {}, Operand f = {}, Operand g = {},
            Operand h = {});

// Several values as one, of which t[0] is the first: what a fn with .returns(tuple_of(...)) gives.
Tensor tupled(Operand a, Operand b, Operand c = {}, Operand d = {});

Var var(Name name, Operand initial);  // a variable of the body that is being recorded
Tensor dim(Name name);                // a dimension variable of its signature, as an int
Var output(Name name);                // its output of this name, for bodies that set outputs on several paths

inline void if_(
    Operand condition, const std::function<void()>& then, const std::function<void()>& otherwise = [] {}) {
  detail::if_(std::move(condition), then, otherwise);
}

// The condition is one expression.
template <class Condition>
void while_(Condition condition, const std::function<void()>& body, detail::At at = detail::At::current()) {
  detail::while_([&] { return Operand(condition(), at); }, body, at);
}

inline void for_(Range range, const std::function<void(Tensor)>& body) { detail::for_(std::move(range), body); }

}  // namespace taskspec::dsl
