// `taskspec run FILE --name G` and `taskspec run graph.json`: one graph with inputs from -D.
#pragma once
#include "interp/cli/commands.hpp"
#include "interp/run_settings.hpp"

namespace taskspec::cli {

int run_graph(const Options& options, const Toolbox& tools, const RunSettings& settings);

// The same as what `run G(inputs) on B` gives, with --time-steps T the last step and all of them. G may be an `ir`
// declaration or a net that is a value, too; a JSON file has no text to call it from.
bool is_called(const Options& options);
int run_called_graph(const Options& options, const Toolbox& tools, const RunSettings& settings);

// Of both: wrong usage in words, or nothing; the inputs by declared parameter, none where -D does not say. With
// `slices` a tensor may have an extent more in front.
std::optional<std::string> check_defines(const Function& graph, const Options& options);
std::vector<Value> inputs_of(const Function& graph, const Options& options, Sources& sources, bool slices = false);

}  // namespace taskspec::cli
