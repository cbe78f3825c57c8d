// The canonical layout of a program: `taskspec fmt`.
//
//   let  x=f( a,b );g ( )      ->      let x = f(a, b); g()
//
// Blanks and indentation are ours; line breaks stay where the author made them, except around braces. At most one
// blank line is kept, comments are never lost, and comments behind consecutive lines stand below one another.
// Formatting twice is formatting once, and the result parses to the same syntax tree.
#pragma once
#include <string>

#include "ir/base/result.hpp"

namespace taskspec {

Result<std::string> format(const Sources& sources, SourceId source);

}  // namespace taskspec
