// The words and brackets of one expression. Internal to ir/cut_report/code_lines.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/program/program.hpp"

namespace taskspec {

struct Words {
  std::string text;
  Precedence precedence = Precedence::tight;

  std::string within(Precedence least) const { return precedence < least ? "(" + text + ")" : text; }
};

Words infix(std::string_view symbol, const Words& left, const Words& right);
Words prefix(std::string_view symbol, const Words& operand);
Words constant_words(const Value& value);
std::string global_words(const Program& program, ModuleId from, const Call& global);  // "scale", "policy.scale"
std::string loop_words(const Sources& sources, const Call& loop);  // the name of its variable, as written
// The names of `for (i, x) in ...`; none of a loop that does not take its elements apart.
std::vector<std::string> loop_names(const Sources& sources, const Call& loop);
bool is_default(const Call& argument, const Operand& operand);

// At most `letters` characters, blanks and line ends become one blank; what is cut off is three points.
std::string one_line(std::string_view text, std::size_t letters);
bool is_name(std::string_view text);

// The names that the text gives to what stands at this place: {"a"} for `let a = ...`, {"a", "b"} for `let (a, b) =
// ...`.
std::vector<std::string> let_names(const Sources& sources, Span value);

}  // namespace taskspec
