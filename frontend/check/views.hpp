// What a task body does with views of regions: elements, whole fields, and what its privileges allow.
//
//   own[i].flux += 0.5 * ghost[i - 1].state      at(p, i, 0.0).p      (v.r * v.r).sum(0)
#pragma once
#include <optional>

#include "frontend/check/body.hpp"

namespace taskspec::checking {

inline constexpr std::string_view element_or_default = "at";

// `v[i].f` or `at(v, i, d).f`; nothing where no view stands there.
std::optional<Term> view_member(Body& body, const ast::Member& member, Span span);
// `v.f`: all points, in order.
Term field_of_view(Body& body, const Term& view, const ast::Name& name, Span span);
// An assignment to `v[i].f` or `v.f`; false where its target is no part of a view.
bool assign_to_view(Body& body, const ast::Assign& assign, Span span);
// What one turn of a loop over a view sees: an int, or a tuple of them.
Type point_of(const Type& view);
// Each `out` view is written at all its points: else E1006.
void require_views_written(Body& body);

}  // namespace taskspec::checking
