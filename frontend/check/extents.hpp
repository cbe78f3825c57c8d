// Ints of the host program as extents of shapes: polynomials where they are computed by + - *, else an open
// symbol that stands for the int.
//
//   let m = 2 * n + 1;   fill(f32[m], 0.0)      ->      f32[2*n + 1]
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// The extent that the int `call` gives; `name` is what a new symbol is called in messages.
Dim extent_of(Body& body, CallId call, const std::string& name);

// The frame of this body can say what the extent is while it runs.
bool is_reachable(Body& body, const Dim& dim);

// The same extent in such a form, where one of these tensors has it.
Dim reachable(Body& body, const Dim& dim, const std::vector<Term>& tensors);

// A fresh extent that only the run knows.
Dim unknown_extent(Body& body, const std::string& name);

// Help for extents that differ because a caller chooses one of them: what its name stands for. Else empty.
std::string chosen_by_callers(const Body& body, const Dim& a, const Dim& b);

// The `_` of `let l: [f32[_]]`, and what differs from item to item of `map(l, i => fill(f32[i], 0.0))`: tensors of any
// extent may lie in such a list.
bool is_any(const World& world, const Dim& dim);
bool holds_any(const World& world, const Type& type);  // it or a part of it

// The type of an item that is taken out of a list: extents that may be any are fresh ones, known when the program runs.
Type item_type(Body& body, const Type& item);

// The top-level let `variable` of a file, seen from any function: read once, at the beginning of the body.
Dim global_extent(Body& body, ModuleId module, VariableId variable);

// A type that stands in another file, or at the top level of this one, with extents that mean something here.
Type type_from_file(Body& body, ModuleId module, const Type& type);

// The extent of a tensor along an axis as an int operand.
Term extent_operand(Body& body, const Term& tensor, std::size_t axis);

// `tensor.shape`: a constant list where all extents are known.
Term shape_of(Body& body, const Term& tensor, Span span);

}  // namespace taskspec::checking
