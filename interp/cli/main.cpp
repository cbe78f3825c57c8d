// The command line of taskspec: reads the arguments, calls a command, sets the exit code.
#include <unistd.h>

#include <cstdio>
#include <span>
#include <unordered_map>

#include "interp/cli/commands.hpp"
#include "interp/cli/ranks_tell.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/mpi/rank_values.hpp"
#include "interp/shards/ranks/rank_process.hpp"
#include "interp/shards/ranks/ranks.hpp"

namespace {

using namespace taskspec;

// Of a program on several processes this one starts the others, or is one of them.
int run(cli::Options options, const Toolbox& tools, std::span<char* const> words) {
  if (started_by_mpirun()) {
    cli::let_ranks_tell(cli::to_tell);
    options.is_hidden = !is_first_rank();
    const std::size_t started = number_in_environment(ranks_variable).value_or(1);
    if (options.ranks && *options.ranks != started) {
      cli::report(options, Sources(), misfit_of_ranks(*options.ranks, started));
      return 3;
    }
    if (options.is_hidden) cli::be_quiet_about_usage();
    take_part_as_rank();
    RankLine::set(std::make_unique<RankValues>());
  } else if (options.ranks) {
    const std::vector<std::string> arguments(words.begin(), words.end());
    return run_under_mpirun(*options.ranks, arguments,
                            [&](const Diags& diags) { cli::report(options, Sources(), diags); });
  }
  const int code = cli::run(options, tools);
  // Another one may be at the beginning of MPI, and wait for this one there.
  if (started_by_mpirun() && code == 0 && !has_mpi_line()) (void)mpi_line();
  return code;
}

int dispatch(const cli::Options& options, std::span<char* const> words) {
  Toolbox tools = standard_toolbox();
  const std::unordered_map<std::string, std::function<int()>> commands = {
      {"run", [&] { return run(options, tools, words); }},
      {"check", [&] { return cli::check(options, tools); }},
      {"fmt", [&] { return cli::fmt(options); }},
      {"test", [&] { return cli::test(options, tools); }},
      {"graph", [&] { return cli::graph(options, tools); }},
      {"map", [&] { return cli::map(options, tools); }},
      {"slices", [&] { return cli::slices(options, tools); }},
      {"build", [&] { return cli::build(options, tools); }},
      {"import", [&] { return cli::import(options); }},
      {"export", [&] { return cli::export_blocks(options, tools); }},
      {"explain", [&] { return cli::explain(options); }},
      {"doc", [&] { return cli::doc(options, tools); }},
      {"bench", [&] { return cli::bench(options); }},
      {"repl", [&] { return cli::repl(options, tools); }},
  };
  return commands.at(options.command)();
}

}  // namespace

int main(int argc, char** argv) {
  join_starter();
  cli::Parsed parsed = cli::parse_arguments(argc, argv, isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
  if (!parsed.options) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  cli::install_signals();
  try {
    return cli::ended(dispatch(*parsed.options, {argv + 1, static_cast<std::size_t>(argc - 1)}));
  } catch (const Error& error) {
    // What no command could put better: standard output that cannot be written, a file that went away.
    cli::report(*parsed.options, Sources(), error.diags());
    return cli::ended(3);
  } catch (const std::bad_alloc&) {
    cli::report(*parsed.options, Sources(), failure("E5008", {}, "no memory left").diags());
    return 3;
  } catch (const std::exception& error) {
    bug(std::string("an exception that nobody caught: ") + error.what());
  }
}
