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

constexpr std::size_t max_bytes = std::size_t(16) << 20;

// A parser over the tokens of one source, made for one of two ways to use it.
class Run {
 public:
  Run(SourceId source, std::string_view text, const std::vector<Token>& tokens, Diags& diags)
      : source_(source), text_(text), tokens_(tokens), diags_(diags), stream_(text, tokens), parser_(&stream_) {
    parser_.removeErrorListeners();
  }

  // The quick way gives up at the first error. It takes item by item and drops the parse tree of each at once: that
  // tree is a hundred times as big as its text.
  bool quick(std::vector<ast::Item>& items) {
    simulator().setPredictionMode(PredictionMode::SLL);
    parser_.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
    try {
      while (true) {
        while (stream_.is_separator(stream_.index())) stream_.consume();
        if (at_end()) return true;
        items.push_back(parsing::build_item(parser_.item(), source_, text_, diags_));
        if (!at_end() && !stream_.is_separator(stream_.index())) return false;
        parser_.getTreeTracker().reset();
      }
    } catch (const antlr4::ParseCancellationException&) {
      return false;
    }
  }

  // The thorough way finds the other errors too, and words for them.
  template <class Rule>
  auto thorough(Rule rule) -> decltype(rule(std::declval<TaskParser&>())) {
    parser_.reset();
    simulator().setPredictionMode(PredictionMode::LL);
    parser_.setErrorHandler(std::make_shared<Recovery>(source_, stream_, diags_));
    try {
      return rule(parser_);
    } catch (const antlr4::RecognitionException&) {
      return nullptr;  // reported where it was thrown
    }
  }

  void expect_end() {
    if (diags_.has_errors() || at_end()) return;
    parsing::describe({stream_.index(), TaskParser::RuleExpr, {}, parser_.getVocabulary()}, source_, stream_, diags_);
  }

 private:
  ParserATNSimulator& simulator() { return *parser_.getInterpreter<ParserATNSimulator>(); }
  bool at_end() { return tokens_[stream_.index()].kind == TokenKind::end; }

  SourceId source_;
  std::string_view text_;
  const std::vector<Token>& tokens_;
  Diags& diags_;
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
  Ast ast{source, {}};
  std::string_view text = sources[source].text();
  std::vector<Token> tokens = parsing::prepare(source, text, diags);
  if (diags.has_errors()) return diags;
  check_literals(source, text, tokens, diags);
  Run run(source, text, tokens, diags);
  if (!run.quick(ast.items)) {
    ast.items.clear();
    auto* tree = run.thorough([](TaskParser& parser) { return parser.program(); });
    if (!diags.has_errors())
      for (TaskParser::ItemContext* item : tree->item())
        ast.items.push_back(parsing::build_item(item, source, text, diags));
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
  Run run(source, text, tokens, diags);  // owns the tree
  auto* tree = run.thorough([](TaskParser& parser) { return parser.expr(); });
  run.expect_end();
  if (diags.has_errors()) return diags;
  ast::Expr expression = parsing::build_expression(tree, source, text, diags);
  if (diags.has_errors()) return diags;
  return expression;
}

bool needs_more(std::string_view text) {
  if (text.size() > max_bytes || invalid_utf8(text)) return false;
  std::vector<Token> tokens = lex(text);
  if (!open_brackets(text, tokens).empty()) return true;
  if (tokens.size() == 1) return false;  // nothing but blanks and comments
  const Token& last = tokens[tokens.size() - 2];
  return last.kind == TokenKind::open_string || !(ends_statement(text, last) || text_of(text, last) == ";");
}

}  // namespace taskspec
