// The commands of the tool. Each returns the exit code: 0 ok, 1 the program has errors, 2 wrong usage, 3 the run
// failed, 4 a test or `fmt --check` failed.
#pragma once
#include "interp/cli/options.hpp"
#include "interp/load.hpp"

namespace taskspec::cli {

int run(const Options& options, const Toolbox& tools);
int check(const Options& options, const Toolbox& tools);
int fmt(const Options& options);
int test(const Options& options, const Toolbox& tools);
int graph(const Options& options, const Toolbox& tools);
int map(const Options& options, const Toolbox& tools);
int slices(const Options& options, const Toolbox& tools);
int build(const Options& options, const Toolbox& tools);
int import(const Options& options);
int export_blocks(const Options& options, const Toolbox& tools);
int explain(const Options& options);
int doc(const Options& options, const Toolbox& tools);
int bench(const Options& options);
int repl(const Options& options, const Toolbox& tools);

// Shared: the program of options.files[0] with its -D; or nothing, its problems reported, and the exit code.
LoadOptions load_options(const Options& options);
struct Loaded {
  std::optional<Program> program;
  int exit_code = 0;
};
Loaded load(const Options& options, const Toolbox& tools);
std::optional<std::string> unknown_define(const Options& options,
                                          const Program& program);  // a -D without meaning, in words
int usage(const std::string& message);                              // prints it, gives 2
void be_quiet_about_usage();                                        // the first of several ranks says it

}  // namespace taskspec::cli
