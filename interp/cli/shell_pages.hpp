// The manual page and the completions of shells, out of the table of options.
#pragma once
#include <string>

namespace taskspec::cli {

std::string man_page();  // roff, section 1
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace taskspec::cli
