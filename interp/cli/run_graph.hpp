// `taskspec run FILE --name G` and `taskspec run graph.json`: one graph with inputs from -D.
#pragma once
#include "interp/cli/commands.hpp"
#include "interp/run_settings.hpp"

namespace taskspec::cli {

int run_graph(const Options& options, const Toolbox& tools, const RunSettings& settings);

// The same with --time-steps T: what `run G(inputs) on B(time_steps: T)` gives, the last step and all of them.
int run_graph_in_steps(const Options& options, const Toolbox& tools, const RunSettings& settings);

// Of both: wrong usage in words, or nothing; the inputs by declared parameter, none where -D does not say. With
// `slices` a tensor may have an extent more in front.
std::optional<std::string> check_defines(const Function& graph, const Options& options);
std::vector<Value> inputs_of(const Function& graph, const Options& options, Sources& sources, bool slices = false);

}  // namespace taskspec::cli
