// The commands of the tool. Each returns the exit code: 0 ok, 1 the program has errors, 2 wrong usage, 3 the run
// failed, 4 a test or `fmt --check` failed.
#pragma once
#include "interp/cli/options.hpp"
#include "interp/pipeline.hpp"

namespace taskspec::cli {

int run(const Options& options, const Toolbox& tools);
int check(const Options& options, const Toolbox& tools);
int fmt(const Options& options);
int test(const Options& options, const Toolbox& tools);
int graph(const Options& options, const Toolbox& tools);
int explain(const Options& options);
int doc(const Options& options, const Toolbox& tools);
int bench(const Options& options);

// Shared: the program of options.files[0] with its -D, or its diagnostics reported and nothing.
LoadOptions load_options(const Options& options);
std::optional<Program> load(const Options& options, const Toolbox& tools);
int usage(const std::string& message);  // prints it, gives 2

}  // namespace taskspec::cli
