// `taskspec repl`: the prompt.
#include "interp/backends/read.hpp"
#include "interp/cli/commands.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/repl/repl.hpp"

namespace taskspec::cli {

int repl(const Options& options, const Toolbox& tools) {
  Sources sources;
  Result<BackendChoice> backend = read_backend(options.backend, tools, sources);
  report(options, sources, backend.diags());
  if (!backend) return 2;
  const int code =
      taskspec::repl::run({TASKSPEC_VERSION, options.backend, options.arguments, load_options(options).search_path});
  check_out();
  return code;
}

}  // namespace taskspec::cli
