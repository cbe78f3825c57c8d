// Inside of the formatter: the tokens of a program with everything that decides about their layout.
//
//   a = 1 // one        a =  1  (comment "// one")
//   b = 2          ->   b (starts_statement, breaks)  =  2
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "frontend/token.hpp"

namespace taskspec::formatting {

struct Comment {
  std::string text;
  bool own_line;  // not behind code
  bool blank_before;
};

// What a bracket is good for; the two of a pair have the same use.
enum class BracketUse : std::uint8_t {
  none,
  block,   // { statements }
  list,    // { fields }
  set,     // .{names}
  bracket  // ( ) [ ]
};

struct Piece {
  TokenKind kind;
  std::string_view text;
  std::vector<Comment> comments;  // between the piece before and this one
  bool starts_statement = false;  // and is not the first one between its braces
  bool breaks = false;            // there is a line break before it
  bool blank_before = false;
  bool prefix = false;   // '-' and '!' in front of an operand
  bool in_head = false;  // a bracket in the head of an `ir` block, which stands apart: w: SW2D i8 [f: 6]
  BracketUse use = BracketUse::none;
  std::size_t partner = 0;  // position of the other bracket
};

// Without separators; the last piece is the end of the file, which may have comments before it.
std::vector<Piece> pieces_of(std::string_view text);

// Two neighbours on one line: is there a space between them?
bool spaced(const Piece& before, const Piece& piece);

}  // namespace taskspec::formatting
