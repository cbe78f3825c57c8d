// `taskspec run FILE --name G` and `taskspec run graph.json`: one graph with inputs from -D.
#pragma once
#include "interp/cli/commands.hpp"
#include "interp/run_settings.hpp"

namespace taskspec::cli {

int run_graph(const Options& options, const Toolbox& tools, const RunSettings& settings);

}  // namespace taskspec::cli
