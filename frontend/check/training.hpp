// What is asked of a training: m.forward(x) is a call of the trained member of the net, in a step; the others are
// builtins of their own, which no name reaches alone.
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

Term training_method(Body& body, const Term& training, const ast::Member& member, const ast::Call& call, Span span);
Term training_member(Body& body, const Term& training, const ast::Name& name, Span span);
Term training_metric(Body& body, const Term& training, const ast::Name& name, Span span);

}  // namespace taskspec::checking
