// The grammar that editors colour by, in the form of TextMate: keywords from the language's own grammar, names from
// the tables of ops and builtins.
#pragma once
#include <string>

#include "interp/toolbox.hpp"

namespace taskspec {

std::string textmate_grammar(const Toolbox& tools);  // JSON

}  // namespace taskspec
