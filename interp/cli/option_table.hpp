// The commands and options of the tool as data, for what it writes about itself.
#pragma once
#include <string>
#include <vector>

namespace taskspec::cli {

struct Flag {
  std::vector<std::string> names;    // "--name", "-n"
  std::string value;                 // what it takes; empty: nothing
  std::vector<std::string> choices;  // the values there are; empty: any
  std::string text;
};

struct Command {
  std::string name, text;
  std::vector<std::string> operands;  // "FILE"
  std::vector<std::string> operand_texts;
  std::vector<Flag> flags;
};

std::vector<Command> commands();

}  // namespace taskspec::cli
