// Where a line break ends a statement. The rule looks at three things only: the innermost open bracket, the token
// before the break and the token after it; so a reader can apply it by eye.
#include <algorithm>

#include "frontend/token.hpp"

namespace taskspec {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_opening(std::string_view sign) { return is_one_of(sign, {"(", "[", "{"}); }
bool is_closing(std::string_view sign) { return is_one_of(sign, {")", "]", "}"}); }

bool has_line_break(std::string_view gap) { return gap.find_first_of("\r\n") != std::string_view::npos; }

void insert_line_ends(std::string_view text, std::vector<Token>& tokens) {
  std::vector<Token> result;
  result.reserve(tokens.size() + tokens.size() / 6);
  std::vector<char> open;  // the innermost bracket is at the back
  for (const Token& token : tokens) {
    if (!result.empty() && (open.empty() || open.back() == '{')) {
      const Token& before = result.back();
      std::string_view gap = text.substr(before.end, token.begin - before.end);
      if (has_line_break(gap) && ends_statement(before) && begins_statement(token))
        result.push_back({TokenKind::line_end, 0, before.end, before.end});
    }
    if (token.kind == TokenKind::sign) {
      std::string_view sign = text_of(text, token);
      if (is_opening(sign)) open.push_back(sign[0]);
      if (is_closing(sign) && !open.empty()) open.pop_back();
    }
    result.push_back(token);
  }
  tokens = std::move(result);
}

}  // namespace taskspec
