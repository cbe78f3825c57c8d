#include <algorithm>

#include "frontend/parse_antlr.hpp"

namespace taskspec {

using parsing::ByteStream;

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool continues_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// The lexer knows only single bytes outside of its rules; here they become whole characters, and a lonely quote
// takes the rest of its line, so that one forgotten quote is one error.
void widen(std::string_view text, ByteStream& bytes, Token& token) {
  if (text[token.begin] == '"') {
    token.end = static_cast<std::uint32_t>(std::min(text.find_first_of("\r\n", token.begin), text.size()));
    token.kind = TokenKind::open_string;
    token.symbol = 0;
  }
  while (token.kind == TokenKind::unknown && continues_character(text, token.end)) ++token.end;
  bytes.seek(token.end);
}

}  // namespace

std::vector<Token> lex(std::string_view text) {
  ByteStream bytes(text, text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  TaskLexer lexer(&bytes);
  lexer.removeErrorListeners();
  const std::vector<TokenKind>& kinds = parsing::token_table().kinds;
  std::vector<Token> tokens;
  tokens.reserve(text.size() / 4 + 1);
  while (true) {
    std::unique_ptr<antlr4::Token> found = lexer.nextToken();
    if (found->getType() == antlr4::Token::EOF) break;
    auto symbol = static_cast<std::uint16_t>(found->getType());
    Token token{kinds[symbol], symbol, static_cast<std::uint32_t>(found->getStartIndex()),
                static_cast<std::uint32_t>(found->getStopIndex() + 1)};
    if (token.kind == TokenKind::unknown) widen(text, bytes, token);
    tokens.push_back(token);
  }
  auto size = static_cast<std::uint32_t>(text.size());
  tokens.push_back({TokenKind::end, 0, size, size});
  return tokens;
}

}  // namespace taskspec
