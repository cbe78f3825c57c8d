// A file at one stage of its way, as text: what `taskspec graph` shows and golden tests compare.
#pragma once
#include "interp/cli/commands.hpp"

namespace taskspec::cli {

// `stage`: ast, program, graph, chains, plan; or the format json or dot of the chains stage. Graphs are those of
// the file, or the one that options.graph names. Throws Error.
std::string stage_text(const std::string& file, const std::string& stage, const Options& options, const Toolbox& tools);

}  // namespace taskspec::cli
