#include "frontend/parse_antlr.hpp"

namespace taskspec::parsing {

std::string ByteStream::getText(const antlr4::misc::Interval& bytes) {
  return std::string(text_.substr(static_cast<std::size_t>(bytes.a), static_cast<std::size_t>(bytes.b - bytes.a + 1)));
}

std::string Word::getText() const { return std::string(stream_->text(index_)); }
size_t Word::getStartIndex() const { return stream_->token(index_).begin; }
size_t Word::getStopIndex() const { return size_t(stream_->token(index_).end) - 1; }
antlr4::TokenSource* Word::getTokenSource() const { return stream_->getTokenSource(); }
antlr4::CharStream* Word::getInputStream() const { return stream_->characters(); }

TokenStream::TokenStream(std::string_view text, const std::vector<Token>& tokens)
    : text_(text), bytes_(text), lexer_(&bytes_), tokens_(tokens) {
  const antlr4::dfa::Vocabulary& words = lexer_.getVocabulary();
  std::size_t semicolon = 1;
  while (words.getLiteralName(semicolon) != "';'") ++semicolon;
  words_.reserve(tokens.size());
  depths_.reserve(tokens.size());
  std::uint16_t depth = 0;
  for (const Token& token : tokens) {
    std::size_t type = token.kind == TokenKind::line_end ? semicolon : token.symbol;
    if (token.kind == TokenKind::end) type = antlr4::Token::EOF;
    words_.emplace_back(*this, words_.size(), type);
    depths_.push_back(depth);
    if (token.kind == TokenKind::sign && is_opening(text_of(text, token))) ++depth;
    if (token.kind == TokenKind::sign && is_closing(text_of(text, token))) --depth;
  }
}

antlr4::Token* TokenStream::LT(ssize_t i) {
  if (i < 0) return at_ < static_cast<std::size_t>(-i) ? nullptr : &words_[at_ - static_cast<std::size_t>(-i)];
  return &words_[std::min(at_ + static_cast<std::size_t>(i) - 1, words_.size() - 1)];
}

std::string TokenStream::getText(const antlr4::misc::Interval& tokens) {
  return getText(&words_[static_cast<std::size_t>(tokens.a)], &words_[static_cast<std::size_t>(tokens.b)]);
}

std::string TokenStream::getText(antlr4::Token* start, antlr4::Token* stop) {
  return std::string(text_.substr(start->getStartIndex(), stop->getStopIndex() + 1 - start->getStartIndex()));
}

}  // namespace taskspec::parsing
