// Launches of tasks over partitions, and plain calls of tasks that take views: a group of one.
//
//   launch stencil(inn[i], gh[i + 1], k) for i in 0..n by how     stencil(inn[2], gh[3], k)
//   launch solver.relax(inn[i]) for i in 0..n
#pragma once
#include <optional>
#include <span>

#include "frontend/check/body.hpp"

namespace taskspec::checking {

bool takes_views(const Function& function);

Term launch_expression(Body& body, const ast::Launch& node, Span span);
// `agent` of a member.
Term call_over_regions(Body& body, FunctionId function, const std::optional<Term>& agent,
                       std::span<const ast::Arg> args, Span span);

}  // namespace taskspec::checking
