// The commands of the prompt that begin with a colon. Help, completion and the manual come from one table.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "include/taskspec/workspace.hpp"

namespace taskspec::repl {

struct Command {
  std::string_view name;      // ":graph"
  std::string_view argument;  // "[GRAPH]"; empty: takes none
  std::string_view help;
  // What it prints, without a line end. None for what the loop does itself.
  std::string (*run)(Workspace& work, std::string_view argument) = nullptr;
  bool sentences = false;  // broken between words where a line is too long
};

std::span<const Command> commands();
// Null if there is none of this name; a beginning that only one has is enough.
const Command* find_command(std::string_view name);
// What is wrong with such an argument, in words; empty: nothing.
std::string refused_argument(const Command& command, std::string_view argument);
std::string help_text();
// What an entry answers, as the prompt prints it.
std::string answer_text(const Workspace::Answer& answer);

}  // namespace taskspec::repl
