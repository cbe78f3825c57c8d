// The stages graph, chains and plan as text, for people and golden tests.
//
//   fmt::print("{}", chains_text(graph, aggregate(graph)));
//
//   diamond: 6 tasks in 4 chains
//
//   [src]
//     starts with src#0, because it needs only inputs and constants (input)
//     ends with src#0, because it branches to inc#0 and dbl#0 (sink rule)
#pragma once
#include <string>

#include "ir/plan/plan.hpp"

namespace taskspec {

std::string graph_text(const TaskGraph& graph);
std::string chains_text(const TaskGraph& graph, const Chains& chains);
std::string plan_text(const Plan& plan);

// One chain: "[Scale.apply, Moments.apply, energy]", and why it ends there, in a sentence for each end.
std::string chain_text(const TaskGraph& graph, const Chains& chains, ChainId chain);
std::string first_text(const TaskGraph& graph, const Chains& chains, ChainId chain);
std::string last_text(const TaskGraph& graph, const Chains& chains, ChainId chain);
// The same of chains that are known otherwise. `observed`: the host receives an output of the last task.
std::string last_text(const TaskGraph& graph, NodeId tail, const ChainEnd& end, bool observed);

// "src#0.y", the name of an input, or what is known of a constant.
std::string ref_text(const TaskGraph& graph, Ref ref);

}  // namespace taskspec
