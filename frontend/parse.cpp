#include "frontend/parse.hpp"

#include <fmt/format.h>

#include "frontend/literal.hpp"
#include "frontend/parse_antlr.hpp"
#include "frontend/utf8.hpp"

namespace taskspec {

using antlr4::atn::ParserATNSimulator;
using antlr4::atn::PredictionMode;
using parsing::Recovery;
using parsing::TokenStream;

namespace {

constexpr std::size_t max_bytes = std::size_t(64) << 20;

// A parser over the tokens of one source.
class Run {
 public:
  Run(SourceId source, std::string_view text, const std::vector<Token>& tokens)
      : source_(source), text_(text), tokens_(tokens), stream_(text, tokens), parser_(&stream_) {
    parser_.removeErrorListeners();
  }

  // All items, or nothing at the first syntax error: the way that nearly every program goes.
  std::optional<std::vector<ast::Item>> quick(Diags& diags) {
    start(PredictionMode::SLL, std::make_shared<antlr4::BailErrorStrategy>());
    std::vector<ast::Item> items;
    try {
      while (next_item()) {
        TaskParser::ItemContext* tree = parser_.item();
        if (!at_end() && !stream_.is_separator(stream_.index())) return std::nullopt;
        items.push_back(build(tree, diags));
      }
    } catch (const antlr4::ParseCancellationException&) {
      return std::nullopt;
    }
    return items;
  }

  // The same with an explanation of every error. Items without one are built all the same, for what that may find.
  std::vector<ast::Item> thorough(Diags& diags) {
    auto recovery = std::make_shared<Recovery>(source_, stream_, diags);
    start(PredictionMode::LL, recovery);
    std::vector<ast::Item> items;
    while (recovery->settle(&parser_, TaskParser::RuleProgram, 0), next_item()) {
      std::size_t errors = diags.size();
      TaskParser::ItemContext* tree = parser_.item();
      if (diags.size() == errors) items.push_back(build(tree, diags));
    }
    return items;
  }

  // One expression and nothing else.
  std::optional<ast::Expr> expression(Diags& diags) {
    start(PredictionMode::LL, std::make_shared<Recovery>(source_, stream_, diags));
    try {
      TaskParser::ExprContext* tree = parser_.expr();
      if (at_end()) return parsing::build_expression(tree, source_, text_, diags);
      parsing::describe({stream_.index(), TaskParser::RuleExpr, {}}, source_, stream_, diags);
    } catch (const antlr4::RecognitionException&) {
      // reported where it was thrown
    }
    return std::nullopt;
  }

 private:
  void start(PredictionMode mode, std::shared_ptr<antlr4::ANTLRErrorStrategy> strategy) {
    parser_.reset();
    parser_.getInterpreter<ParserATNSimulator>()->setPredictionMode(mode);
    parser_.setErrorHandler(strategy);
  }

  // To the beginning of an item. Drops the parse tree of the one before, which is a hundred times as big as its text.
  bool next_item() {
    parser_.getTreeTracker().reset();
    while (stream_.is_separator(stream_.index())) stream_.consume();
    return !at_end();
  }

  bool at_end() { return tokens_[stream_.index()].kind == TokenKind::end; }

  ast::Item build(TaskParser::ItemContext* tree, Diags& diags) const {
    return parsing::build_item(tree, source_, text_, diags);
  }

  SourceId source_;
  std::string_view text_;
  const std::vector<Token>& tokens_;
  TokenStream stream_;
  TaskParser parser_;
};

}  // namespace

std::vector<Token> parsing::prepare(SourceId source, std::string_view text, Diags& diags) {
  if (text.size() > max_bytes) {
    diags.error("E0005", {source, 0, 0}, fmt::format("source is larger than {} MiB", max_bytes >> 20));
    return {};
  }
  if (std::optional<std::size_t> bad = invalid_utf8(text)) {
    auto at = static_cast<std::uint32_t>(*bad);
    diags.error("E0006", {source, at, at + 1}, "source is not UTF-8")
        .at(fmt::format("byte 0x{:02x} belongs to no character", static_cast<unsigned char>(text[at])));
    return {};
  }
  std::vector<Token> tokens = lex(text);
  insert_line_ends(text, tokens);
  check_nesting(source, text, tokens, diags);
  return tokens;
}

Result<Ast> parse(const Sources& sources, SourceId source) {
  Diags diags;
  std::string_view text = sources[source].text();
  std::vector<Token> tokens = parsing::prepare(source, text, diags);
  if (diags.has_errors()) return diags;
  check_literals(source, text, tokens, diags);
  Run run(source, text, tokens);
  Diags quick_diags;
  Ast ast(source);
  if (auto items = run.quick(quick_diags)) {
    ast.items = std::move(*items);
    diags.append(quick_diags);
  } else {
    ast.items = run.thorough(diags);
    diags = parsing::told_once(diags);
  }
  if (diags.has_errors()) return diags;
  return ast;
}

Result<ast::Expr> parse_expression(const Sources& sources, SourceId source) {
  Diags diags;
  std::string_view text = sources[source].text();
  std::vector<Token> tokens = parsing::prepare(source, text, diags);
  if (diags.has_errors()) return diags;
  check_literals(source, text, tokens, diags);
  std::optional<ast::Expr> expression = Run(source, text, tokens).expression(diags);
  if (diags.has_errors()) return diags;
  return std::move(*expression);
}

bool needs_more(std::string_view text) {
  if (text.size() > max_bytes || invalid_utf8(text)) return false;
  std::vector<Token> tokens = lex(text);
  // A string ends on its line: an open one stays so, whatever follows.
  auto is_open = [](const Token& token) { return token.kind == TokenKind::open_string; };
  if (std::any_of(tokens.begin(), tokens.end(), is_open)) return false;
  if (!open_brackets(text, tokens).empty()) return true;
  if (tokens.size() == 1) return false;  // nothing but blanks and comments
  const Token& last = tokens[tokens.size() - 2];
  return !(ends_statement(last) || text_of(text, last) == ";");
}

}  // namespace taskspec
