// The words of a source text, between the characters and the parser. Blanks and comments lie in the gaps between
// tokens and are found there again by whoever wants them (the formatter).
//
//   std::vector<Token> tokens = lex(text);          // "x = 1\ny" -> x = 1 y <end>
//   insert_line_ends(text, tokens);                 //             -> x = 1 <line_end> y <end>
//   check_nesting(source, text, tokens, diags);     // brackets match, strings are closed, depth is bounded
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "ir/base/diag.hpp"

namespace taskspec {

enum class TokenKind : std::uint8_t {
  name,
  integer,
  real,
  string,
  open_string,  // a quote without its partner, up to the end of the line
  keyword,
  sign,
  line_end,  // a ';' that insert_line_ends put at a line break: no bytes
  unknown,   // a character that begins no token
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::uint16_t symbol = 0;  // its number in the generated parser; 0 for line_end and open_string
  std::uint32_t begin = 0;   // bytes [begin, end) of the text
  std::uint32_t end = 0;
};

inline std::string_view text_of(std::string_view text, const Token& token) {
  return text.substr(token.begin, token.end - token.begin);
}

// A tree deeper than this is refused (E0005), so that every later walk over it may recurse.
inline constexpr std::size_t max_depth = 500;

// Splits a valid UTF-8 text into tokens; the last one has kind `end`. Never fails: what fits no rule is `unknown`.
std::vector<Token> lex(std::string_view text);

// The line-end rule of the language: a line break ends a statement where one can end and the next can begin.
void insert_line_ends(std::string_view text, std::vector<Token>& tokens);

// What must hold before a parser may run: E0001 (a closing bracket or a "#!" out of place), E0002, E0005.
void check_nesting(SourceId source, std::string_view text, const std::vector<Token>& tokens, Diags& diags);

// What is still open at the end of the text, innermost last: positions in `tokens`. Nothing after brackets that do
// not match, for then no further text can help.
std::vector<std::size_t> open_brackets(std::string_view text, const std::vector<Token>& tokens);

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);
bool is_opening(std::string_view sign);
bool is_closing(std::string_view sign);
bool has_line_break(std::string_view gap);

// May a statement, a declaration or a line of a list begin, end with this token? The grammar says so.
bool begins_statement(const Token& token);
bool ends_statement(const Token& token);

}  // namespace taskspec
