// How clusters are filled: one gather per edge, and a conversion where precisions differ.
#pragma once
#include "interp/exact/plan.hpp"

namespace taskspec {

// From its feeds, in step `step`.
void fill_exactly(ExactPlan& plan, ExactCluster& cluster, std::int64_t step);
// A storage block, an output: into its own values. Returns how many values had to be cut.
std::int64_t fill_exactly(ExactPlan& plan, ExactBlock& block, std::int64_t step);
// What delayed edges will need of this step, and new states to their storage.
void end_step(ExactPlan& plan, std::int64_t step);

}  // namespace taskspec
