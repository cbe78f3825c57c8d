// `taskspec doc`: the reference manual out of the records.
#include <fmt/format.h>

#include "frontend/foreign_word.hpp"
#include "interp/cli/commands.hpp"
#include "interp/cli/shell_pages.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/reference/reference.hpp"
#include "interp/reference/textmate.hpp"
#include "interp/repl/commands.hpp"
#include "ir/base/text.hpp"

namespace taskspec::cli {

namespace {

std::vector<PromptCommand> prompt_commands() {
  std::vector<PromptCommand> all;
  for (const repl::Command& command : repl::commands()) all.push_back({command.name, command.argument, command.help});
  return all;
}

std::string whole_manual(const std::string& format, const Toolbox& tools) {
  if (format == "html") return manual_html(tools, prompt_commands());
  if (format == "markdown") return manual_markdown(tools, prompt_commands());
  if (format == "textmate") return textmate_grammar(tools);
  if (format == "man") return man_page();
  if (format == "bash") return bash_completion();
  if (format == "zsh") return zsh_completion();
  if (format == "fish") return fish_completion();
  return overview_text(tools);
}

}  // namespace

int doc(const Options& options, const Toolbox& tools) {
  if (options.format != "text" && !options.topic.empty()) return usage("--format is for the whole; leave the name out");
  if (options.topic.empty()) {
    write_out(whole_manual(options.format, tools));
  } else if (std::optional<std::string> text = record_text(tools, options.topic)) {
    write_words(*text + "\n");
  } else if (const repl::Command* command =
                 options.topic.starts_with(':') ? repl::find_command(options.topic) : nullptr) {
    write_words(fmt::format("{} {}\n\n{}; a command of the prompt\n", command->name, command->argument, command->help));
  } else if (const std::string_view help = foreign_word(options.topic); !help.empty()) {
    return usage(fmt::format("'{}' is no word of this language: {}", options.topic, help));
  } else {
    auto near = nearest(options.topic, record_names(tools));
    return usage("no word, op, builtin or type is called '" + options.topic + "'" +
                 (near ? "; did you mean '" + *near + "'?" : ""));
  }
  flush_out();
  return 0;
}

}  // namespace taskspec::cli
