#include "interp/cli/shell_pages.hpp"

#include <fmt/format.h>

#include "interp/cli/option_table.hpp"
#include "interp/reference/language.hpp"
#include "ir/base/text.hpp"

namespace taskspec::cli {

namespace {

std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

// In single quotes of a shell.
std::string quoted_for_shell(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

constexpr std::string_view man_end = R"(.SH EXIT STATUS
.TP
.B 0
All is well.
.TP
.B 1
The program has errors.
.TP
.B 2
Wrong usage.
.TP
.B 3
The run failed.
.TP
.B 4
A test failed, or a file would be laid out anew.
.TP
.B 70
A mistake of taskspec itself.
.TP
.B 130
Interrupted.
.SH ENVIRONMENT
.TP
.B TASKSPEC_PATH
Folders, separated by colons, in which imported modules are looked for: after that of the importing file, before the
modules that come with taskspec.
.TP
.B TASKSPEC_HISTORY
The file that keeps the history of the prompt.
.TP
.B NO_COLOR
If it is set, nothing is coloured.
)";

// The tour, then what each word means.
std::string language_pages() {
  std::string text = ".SH LANGUAGE\n";
  for (const TourStop& stop : tour())
    text +=
        fmt::format(".SS {}\n{}\n.PP\n.RS\n.nf\n{}.fi\n.RE\n", roff(stop.title), roff(stop.text), roff(stop.program));
  for (const LanguageChapter& chapter : language_chapters()) {
    std::string title(chapter.title);
    for (char& c : title)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    text += fmt::format(".SH {}\n{}\n", title, roff(chapter.introduction));
    for (const LanguageRecord& record : chapter.records) {
      const std::string later = record.part.empty() ? "" : fmt::format(" Not built yet: it needs {}.", record.part);
      text += fmt::format(".TP\n.B \\&{}\n{}{}\n", roff(record.form), roff(record.doc), later);
    }
  }
  return text;
}

}  // namespace

std::string man_page() {
  std::string text = fmt::format(
      ".TH TASKSPEC 1 \"\" \"taskspec {}\" \"User Commands\"\n.SH NAME\ntaskspec \\- agents, tasks, futures and "
      "chains\n"
      ".SH SYNOPSIS\n.B taskspec\n.I COMMAND\n[...]\n.SH DESCRIPTION\nA small language for task graphs: agents define "
      "tasks, "
      "futures tie tasks into a graph, source and sink rules aggregate it into chains, an interpreter runs the "
      "chains. Without a command, at a terminal, it is the prompt.\n",
      TASKSPEC_VERSION);
  text += language_pages() + ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    text += fmt::format(".SS taskspec {}", roff(command.name));
    for (const std::string& operand : command.operands) text += " " + roff(operand);
    text += "\n" + roff(command.text) + ".\n";
    for (std::size_t i = 0; i < command.operands.size(); ++i)
      text += fmt::format(".TP\n.I {}\n{}\n", roff(command.operands[i]), roff(command.operand_texts[i]));
    for (const Flag& flag : command.flags)
      text += fmt::format(".TP\n.B {}{}\n{}\n", roff(joined(flag.names, ", ")),
                          flag.value.empty() ? "" : " " + roff(flag.value), roff(flag.text));
  }
  return text + std::string(man_end);
}

std::string bash_completion() {
  std::string names, cases, values;
  for (const Command& command : commands()) {
    names += (names.empty() ? "" : " ") + command.name;
    std::string flags;
    for (const Flag& flag : command.flags) {
      for (const std::string& name : flag.names) flags += (flags.empty() ? "" : " ") + name;
      if (!flag.choices.empty())
        values += fmt::format("    {}:{}) words='{}' ;;\n", command.name,
                              joined(flag.names, fmt::format("|{}:", command.name)), joined(flag.choices, " "));
    }
    cases += fmt::format("    {}) words='{}' ;;\n", command.name, flags);
  }
  return fmt::format(R"(# bash completion of taskspec
_taskspec() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{}' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}}:$before in
{}  esac
  if [[ -z $words && $word == -* ]]; then
    case ${{COMP_WORDS[1]}} in
{}    esac
  fi
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _taskspec taskspec
)",
                     names, values, cases);
}

std::string zsh_completion() {
  std::string names, cases;
  auto bracketed = [](std::string text) {  // what _arguments would take for its own signs
    for (std::size_t at = 0; (at = text.find_first_of("[]:", at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return quoted_for_shell(text);
  };
  for (const Command& command : commands()) {
    names += fmt::format("    '{}:{}'\n", command.name, bracketed(command.text));
    std::string flags;
    for (const Flag& flag : command.flags)
      for (const std::string& name : flag.names) {
        std::string value =
            flag.choices.empty() ? "value:_files" : fmt::format("value:({})", joined(flag.choices, " "));
        flags += fmt::format(" '{}[{}]{}'", name, bracketed(flag.text), flag.value.empty() ? "" : ":" + value);
      }
    cases += fmt::format("    {}) _arguments{} '*:file:_files' ;;\n", command.name, flags);
  }
  return fmt::format(R"(#compdef taskspec
_taskspec() {{
  local -a commands
  commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{}  esac
}}
_taskspec "$@"
)",
                     names, cases);
}

std::string fish_completion() {
  std::string text = "# fish completion of taskspec\n";
  for (const Command& command : commands()) {
    text += fmt::format("complete -c taskspec -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        quoted_for_shell(command.text));
    for (const Flag& flag : command.flags) {
      std::string names;
      for (const std::string& name : flag.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      std::string value = flag.value.empty() ? "" : " -r";
      if (!flag.choices.empty()) value = fmt::format(" -x -a '{}'", joined(flag.choices, " "));
      text += fmt::format("complete -c taskspec -n '__fish_seen_subcommand_from {}'{}{} -d '{}'\n", command.name, names,
                          value, quoted_for_shell(flag.text));
    }
  }
  return text;
}

}  // namespace taskspec::cli
