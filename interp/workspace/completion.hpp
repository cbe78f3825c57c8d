// What may stand where somebody is writing: names of the program, members after a dot, ops, builtins, modules behind
// `import`, files in a string.
#pragma once
#include "include/taskspec/workspace.hpp"
#include "interp/live_program.hpp"

namespace taskspec {

Workspace::Completion completion(LiveProgram& live, std::string_view line, std::size_t cursor);
std::vector<std::string> names_in_graph(LiveProgram& live);

}  // namespace taskspec
