#include "interp/cli/options.hpp"

#include <sstream>

#include "interp/cli/option_table.hpp"
#include "ir/base/text.hpp"

namespace taskspec::cli {

namespace {

std::string overview(const CLI::App& app) {
  std::string text = "usage: taskspec COMMAND ...\n\n";
  for (const CLI::App* command : commands_of(app))
    text += "  " + command->get_name() + std::string(10 - std::min<std::size_t>(9, command->get_name().size()), ' ') +
            command->get_description() + "\n";
  return text + "\ntaskspec COMMAND --help tells more; start with: taskspec run examples/01_hello.task\n";
}

// In words, with the command that was meant; empty if the first word is a command or an option.
std::string unknown_command(const CLI::App& app, const std::string& word) {
  if (word.starts_with("-")) return "";
  std::vector<std::string> commands;
  for (const CLI::App* command : commands_of(app)) {
    commands.push_back(command->get_name());
    if (commands.back() == word) return "";
  }
  auto near = nearest(word, commands);
  return "taskspec: no command is called '" + word + "'; " +
         (near ? "did you mean '" + *near + "'?" : "there are " + joined(commands, ", ")) + "\n";
}

// The same for options: CLI11 would take what follows an unknown one for a file, and complain of that.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
  if (words[0].starts_with("-")) return "";
  const CLI::App* command = app.get_subcommand(words[0]);  // there is one of this name
  for (const std::string& word : words) {
    std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || name.size() == 2 || command->get_option_no_throw(name)) continue;
    std::vector<std::string> known;
    for (const CLI::Option* option : command->get_options()) known.push_back(option->get_name());
    auto near = nearest(name, known);
    return "taskspec " + words[0] + ": there is no option '" + name + "'" +
           (near ? "; did you mean '" + *near + "'?" : "; see taskspec " + words[0] + " --help") + "\n";
  }
  return "";
}

// What CLI11 says of `run FILE a b` is right and helps nobody.
std::string more_files(const std::string& command, const CLI::ParseError& error) {
  const bool of_program = command == "run" || command == "repl";
  if (!of_program || error.get_name() != "ArgumentMismatch" ||
      std::string_view(error.what()).find("FILE") == std::string_view::npos)
    return "";
  return "taskspec " + command + ": takes one FILE; arguments of the program follow --: taskspec " + command +
         " FILE -- ARGS\n";
}

// `--` and what follows belong to the program, not to us. -O=0 is -O0.
std::vector<std::string> split_arguments(int argc, const char* const* argv, std::vector<std::string>& program) {
  std::vector<std::string> ours;
  int i = 1;
  for (; i < argc && std::string(argv[i]) != "--"; ++i) {
    std::string& word = ours.emplace_back(argv[i]);
    if (word.starts_with("-O=")) word.erase(2, 1);
  }
  for (++i; i < argc; ++i) program.emplace_back(argv[i]);
  return ours;
}

}  // namespace

Parsed parse_arguments(int argc, const char* const* argv, bool at_terminal) {
  CommandLine line;
  CLI::App& app = line.app;
  Options& o = line.options;
  std::vector<std::string> ours = split_arguments(argc, argv, o.arguments);
  if (ours.empty() && !at_terminal) return {std::nullopt, overview(app), 2};
  if (ours.empty()) ours.emplace_back("repl");
  if (std::string unknown = unknown_command(app, ours[0]); !unknown.empty()) return {std::nullopt, unknown, 2};
  if (std::string unknown = unknown_option(app, ours); !unknown.empty()) return {std::nullopt, unknown, 2};
  const std::string command = ours[0];
  try {
    std::reverse(ours.begin(), ours.end());  // CLI11 takes them from the back
    app.parse(ours);
  } catch (const CLI::ParseError& error) {
    if (std::string more = more_files(command, error); !more.empty()) return {std::nullopt, more, 2};
    std::ostringstream out, err;
    int code = app.exit(error, out, err);
    return {std::nullopt, out.str() + err.str(), code == 0 ? 0 : 2};
  }
  const CLI::App* chosen = app.get_subcommands().front();
  o.command = chosen->get_name();
  if (o.command != "run" || chosen->count("--report") == 0) o.report.reset();
  for (const std::string& define : line.defines) {
    std::size_t at = define.find('=');
    if (at == std::string::npos || at == 0) return {std::nullopt, "-D wants name=value, not '" + define + "'\n", 2};
    o.defines.emplace_back(define.substr(0, at), define.substr(at + 1));
  }
  return {std::move(o), "", 0};
}

}  // namespace taskspec::cli
