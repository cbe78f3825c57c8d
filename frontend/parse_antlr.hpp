// Inside of the parser: what its files share with the generated code. Nothing else may include this; see
// grammar/README.md for the list of files that know ANTLR.
//
// The generated lexer reads bytes, not code points: every rule of the grammar is about ASCII, and so each position
// it hands out is an offset into the source, without any table in between.
#pragma once
#include <antlr4-runtime.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "TaskLexer.h"
#include "TaskParser.h"
#include "frontend/ast.hpp"
#include "frontend/token.hpp"

namespace taskspec::parsing {

// Text -> tokens that a parser may see. Errors go to `diags`, and then the tokens are of no use.
std::vector<Token> prepare(SourceId source, std::string_view text, Diags& diags);

// What the grammar says about its tokens. It is read out of the automaton that ANTLR made of the grammar (its ATN), so
// a new rule, keyword or sign is known without a word here.
struct TokenTable {
  std::vector<TokenKind> kinds;    // by token type, as those below
  std::vector<bool> begins, ends;  // what a part of a list may begin and end with
};
const TokenTable& token_table();  // worked out once

// The part that a rule repeats between separators, as statements in a block; none for a rule that is no such list.
std::optional<std::size_t> part_of(std::size_t list);

// Tokens by their spelling, or the names of those that have many: "let", "(", "ID".
using Words = std::set<std::string, std::less<>>;
Words spellings(const antlr4::misc::IntervalSet& types);
const Words& first_words(std::size_t rule);
Words words_behind(std::size_t part, std::size_t rule);  // what may stand behind one part of a rule, inside of it

// A text as ANTLR wants to see it.
class ByteStream final : public antlr4::CharStream {
 public:
  explicit ByteStream(std::string_view text, std::size_t begin = 0) : text_(text), at_(begin) {}
  void consume() override { ++at_; }
  size_t LA(ssize_t i) override {
    std::size_t place = at_ + static_cast<std::size_t>(i) - (i > 0 ? 1 : 0);
    return place < text_.size() ? static_cast<unsigned char>(text_[place]) : antlr4::IntStream::EOF;
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return "source"; }
  std::string getText(const antlr4::misc::Interval& bytes) override;
  std::string toString() const override { return std::string(text_); }

 private:
  std::string_view text_;
  std::size_t at_;
};

class TokenStream;

// One of our tokens as ANTLR wants to see it: as small as possible, for a long script has a million of them.
class Word final : public antlr4::Token {
 public:
  Word(const TokenStream& stream, std::size_t index, std::size_t type)
      : stream_(&stream), index_(static_cast<std::uint32_t>(index)), type_(static_cast<std::uint32_t>(type)) {}
  std::string getText() const override;
  size_t getType() const override { return type_ == UINT32_MAX ? antlr4::Token::EOF : type_; }
  size_t getLine() const override { return 0; }  // places are byte offsets; lines are counted by Source
  size_t getCharPositionInLine() const override { return 0; }
  size_t getChannel() const override { return antlr4::Token::DEFAULT_CHANNEL; }
  size_t getTokenIndex() const override { return index_; }
  size_t getStartIndex() const override;
  size_t getStopIndex() const override;
  antlr4::TokenSource* getTokenSource() const override;
  antlr4::CharStream* getInputStream() const override;
  std::string toString() const override { return getText(); }

 private:
  const TokenStream* stream_;
  std::uint32_t index_;
  std::uint32_t type_;
};

// Our tokens as ANTLR wants to see them, line ends included. It also knows the bracket depth of each token, which
// is how error recovery finds the end of the statement it is in.
class TokenStream final : public antlr4::TokenStream {
 public:
  TokenStream(std::string_view text, const std::vector<Token>& tokens);

  std::size_t count() const { return words_.size(); }
  const Token& token(std::size_t index) const { return tokens_[index]; }
  std::string_view text(std::size_t index) const { return text_of(text_, tokens_[index]); }
  bool breaks_line(std::size_t index) const {  // is there a line break before this token?
    std::uint32_t before = index == 0 ? 0 : tokens_[index - 1].end;
    return has_line_break(text_.substr(before, tokens_[index].begin - before));
  }
  bool is_separator(std::size_t index) const {
    return tokens_[index].kind == TokenKind::line_end || text(index) == ";";
  }
  std::uint16_t depth(std::size_t index) const { return depths_[index]; }  // brackets open before this token

  void consume() override { at_ += at_ + 1 < words_.size() ? 1 : 0; }
  size_t LA(ssize_t i) override { return LT(i)->getType(); }
  antlr4::Token* LT(ssize_t i) override;
  antlr4::Token* get(size_t index) const override { return &words_[index]; }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return words_.size(); }
  std::string getSourceName() const override { return "source"; }
  antlr4::TokenSource* getTokenSource() const override { return &lexer_; }
  antlr4::CharStream* characters() const { return &bytes_; }
  std::string getText(const antlr4::misc::Interval& tokens) override;
  std::string getText() override { return std::string(text_); }
  std::string getText(antlr4::RuleContext* context) override { return getText(context->getSourceInterval()); }
  std::string getText(antlr4::Token* start, antlr4::Token* stop) override;

 private:
  std::string_view text_;
  mutable ByteStream bytes_;
  mutable TaskLexer lexer_;  // the runtime asks for its token factory
  const std::vector<Token>& tokens_;
  mutable std::vector<Word> words_;
  std::vector<std::uint16_t> depths_;
  std::size_t at_ = 0;
};

// Collects syntax errors, at most one per statement, and lets the parser go on with the next statement.
class Recovery final : public antlr4::ANTLRErrorStrategy {
 public:
  Recovery(SourceId source, TokenStream& tokens, Diags& diags) : source_(source), tokens_(tokens), diags_(diags) {}
  void reset(antlr4::Parser*) override { recovering_ = false; }
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  void sync(antlr4::Parser* parser) override;
  bool inErrorRecoveryMode(antlr4::Parser*) override { return recovering_; }
  void reportMatch(antlr4::Parser*) override { recovering_ = false; }
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) override;
  void settle(antlr4::Parser* parser, std::size_t list, std::uint16_t depth);

 private:
  bool is_end(std::size_t index) const;
  void skip_to_separator(std::uint16_t depth);

  SourceId source_;
  TokenStream& tokens_;
  Diags& diags_;
  bool recovering_ = false;
};

// What the parser found at `index` and what it could have used instead; told in the words of a user (E0001).
struct Surprise {
  std::size_t index;                   // the token that does not fit
  std::size_t rule;                    // the grammar rule the parser was in
  antlr4::misc::IntervalSet expected;  // token types; empty when that is not known
};
void describe(const Surprise& surprise, SourceId source, const TokenStream& tokens, Diags& diags);

// A statement is complete, yet at `index` the line goes on.
void describe_missing_separator(std::size_t index, SourceId source, const TokenStream& tokens, Diags& diags);

// Each keyword once that was taken for a name: who names a field by one uses it again and again.
Diags told_once(const Diags& diags);

// The parse tree as syntax tree; reports chained comparisons and ranges (E1004).
ast::Item build_item(TaskParser::ItemContext* tree, SourceId source, std::string_view text, Diags& diags);
ast::Expr build_expression(TaskParser::ExprContext* tree, SourceId source, std::string_view text, Diags& diags);

}  // namespace taskspec::parsing
