// Views of any rank, `Cell[_]`: a task is checked with one axis for each of them, and once more for each other choice
// of ranks that it is called with. Those are tasks of their own, with the name and the text of the one that is written.
//
//   task grow(inout c: Cell[_].{a}) { for i in c { c[i].a += 1.0 } }
//   launch grow(p[i]) for i in 0..4      // of pieces of a Cell[n, m]: grow once more, with an inout c: Cell[_, _].{a}
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// Whether its declared parameter at this position may have any rank.
bool is_of_any_rank(const World& world, FunctionId task, std::size_t parameter);

// The task for these ranks by declared parameter, 0 where it is no such view. `call` asks for it.
FunctionId task_of_ranks(Body& body, FunctionId task, const std::vector<std::uint8_t>& ranks, Span call);

// What is wrong in its body is wrong for the ranks of a call, which is named; it is not said twice.
void check_for_ranks(World& world, FunctionId task);

}  // namespace taskspec::checking
