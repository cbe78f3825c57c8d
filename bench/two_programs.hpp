// Texts run as two programs beside each other, for `taskspec bench channels`.
#pragma once
#include "bench/bench.hpp"

namespace taskspec::bench {

void show_program_costs(const Settings& settings);  // ns per turn of loops whose two parts talk to each other
void show_overlap(const Settings& settings);        // a host part and a graph part that take equally long

}  // namespace taskspec::bench
