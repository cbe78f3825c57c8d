// The part of a module's top level that sets some of its names: a graph that reads a top-level `let` needs that
// statement and what leads to it, and nothing else of the program around it.
//
//   let a = 3;  print("hello");  let w = fill(f32[a], 1.0)
//   top_level_calls(top, {w})    // the calls of `a` and `w`, in order, without print
#pragma once
#include <vector>

#include "ir/program/program.hpp"

namespace taskspec {

// Calls of the outermost block, in their order.
std::vector<CallId> top_level_calls(const Function& top_level, const std::vector<VariableId>& wanted);

// What the body of a top level that grows lists beyond its first `listed` calls, when there were `calls` in all. Most
// of it stands at the end; what imports bring stands in front of everything.
std::vector<CallId> listed_since(const Function& top_level, std::size_t calls, std::size_t listed);

// The same program, its top levels cut down to what `function` and all that it calls read of them. Ids stay as they
// are.
Program with_needed_top_level(const Program& program, FunctionId function);
Program with_needed_top_level(const Program& program, std::span<const FunctionId> functions);
Program with_needed_top_level(const Program& program, VariableId variable);  // of the main module

// Calls `visit(id)` for every call of a block and of the blocks inside it, in the order of the text.
template <class Visit>
void each_call(const Function& function, const Block& block, const Visit& visit) {
  for (CallId id : block.calls) {
    visit(id);
    for (const Block& inner : function[id].blocks) each_call(function, inner, visit);
  }
}

}  // namespace taskspec
