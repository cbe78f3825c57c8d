// Is what a phase made well formed? Written from the definitions, with nothing of the code that makes it; what a
// verifier finds is our own mistake, never the user's.
//
//   verified([&] { return verify_chains(graph, chains); });      // in debug builds: bug() with what is wrong
//
// Each gives one sentence, or nothing when all is well; that of a program all there are.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ir/base/diag.hpp"
#include "ir/graph/op_list.hpp"
#include "ir/plan/plan.hpp"

namespace taskspec {

// Ids in range, values made before they are used in their block or one around it, each form with the operands and
// fields it needs, no type `error` left.
std::vector<std::string> verify(const Program& program);
std::vector<std::string> verify(const Program& program, FunctionId function);  // of one function
// Of a program that grows, what came since the last time; `known` is how far that was.
struct Verified {
  std::size_t functions = 0, agents = 0;
  std::size_t calls = 0, listed = 0, variables = 0;  // of the top level of the main file
};
std::vector<std::string> verify_grown(const Program& program, Verified& known);
std::string verify_graph(const TaskGraph& graph);
bool is_acyclic(const TaskGraph& graph);
// Every value made once, before it is read; every line of a task stands somewhere.
std::string verify_op_list(const OpList& list);
std::string verify_chains(const TaskGraph& graph, const Chains& chains);
// Order, lifetimes, no two live buffers share bytes, in-place only by last readers (under every parallel schedule;
// above 4,096 steps in program order only).
std::string verify_plan(const Plan& plan);

#ifdef NDEBUG
constexpr bool verifies_phases = false;
#else
constexpr bool verifies_phases = true;
#endif

template <class Check>
void verified(Check&& check) {
  if constexpr (verifies_phases)
    if (std::string wrong = check(); !wrong.empty()) bug(wrong);
}

}  // namespace taskspec
