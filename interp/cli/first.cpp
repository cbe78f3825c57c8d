// taskspec-first: the command line without its wings, for `./dev run` of a first program. What it cannot check it must
// not be given: `taskspec-first able run FILE ...` is silent and ends with 0 where it can, with 1 where the whole tool
// is wanted, if only to say what is wrong.
#include <algorithm>
#include <string_view>

#include "interp/backends/read.hpp"
#include "interp/cli/commands.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/control/builtins/builtins.hpp"
#include "interp/embed/block_wing.hpp"
#include "interp/embed/toolbox.hpp"
#include "stdlib/ops.hpp"

namespace taskspec {

BuiltinTable standard_builtins() { return core_builtins(); }

OpTable standard_ops() { return core_ops(); }

BlockWing block_wing() { return {}; }

}  // namespace taskspec

namespace {

using namespace taskspec;

bool is_over_views(const Function& function) {
  return std::ranges::any_of(function.parameters,
                             [](const Parameter& parameter) { return parameter.type.is(Type::Kind::view); });
}

bool can_run(const cli::Options& options, const Toolbox& tools) {
  if (options.command != "run" || !options.graph.empty()) return false;
  const std::string& file = options.files[0];
  if (!file.ends_with(".task")) return false;
  Sources sources;
  if (!read_backend(options.backend, tools, sources)) return false;
  const Result<Program> program = load_program(file, cli::load_options(options), tools, sources);
  return program && std::ranges::none_of(program->functions, is_over_views);
}

int dispatch(const cli::Options& options, bool only_asks) {
  const Toolbox tools = standard_toolbox();
  if (!can_run(options, tools)) return 1;
  return only_asks ? 0 : cli::run(options, tools);
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_asks = argc > 1 && std::string_view(argv[1]) == "able";
  if (only_asks) std::rotate(argv + 1, argv + 2, argv + argc--);
  const cli::Parsed parsed = cli::parse_arguments(argc, argv, false);
  if (!parsed.options) return 1;
  cli::install_signals();
  try {
    return cli::ended(dispatch(*parsed.options, only_asks));
  } catch (const Error& error) {
    if (!only_asks) cli::report(*parsed.options, Sources(), error.diags());
    return cli::ended(3);
  } catch (const std::bad_alloc&) {
    if (!only_asks) cli::report(*parsed.options, Sources(), failure("E5008", {}, "no memory left").diags());
    return 3;
  }
}
