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

namespace parsing {

std::string ByteStream::getText(const antlr4::misc::Interval& bytes) {
  return std::string(text_.substr(static_cast<std::size_t>(bytes.a), static_cast<std::size_t>(bytes.b - bytes.a + 1)));
}

TokenStream::TokenStream(std::string_view text, const std::vector<Token>& tokens)
    : text_(text), bytes_(text), lexer_(&bytes_), tokens_(tokens) {
  const antlr4::dfa::Vocabulary& words = lexer_.getVocabulary();
  std::size_t semicolon = 1;
  while (words.getLiteralName(semicolon) != "';'") ++semicolon;
  items_.reserve(tokens.size());
  depths_.reserve(tokens.size());
  std::uint16_t depth = 0;
  for (const Token& token : tokens) {
    std::size_t type = token.kind == TokenKind::line_end ? semicolon : token.symbol;
    if (token.kind == TokenKind::end) type = antlr4::Token::EOF;
    items_.emplace_back(std::pair<antlr4::TokenSource*, antlr4::CharStream*>(&lexer_, &bytes_), type,
                        antlr4::Token::DEFAULT_CHANNEL, token.begin, std::size_t(token.end) - 1);
    items_.back().setTokenIndex(items_.size() - 1);
    depths_.push_back(depth);
    if (token.kind == TokenKind::sign && is_opening(text_of(text, token))) ++depth;
    if (token.kind == TokenKind::sign && is_closing(text_of(text, token))) --depth;
  }
}

antlr4::Token* TokenStream::LT(ssize_t i) {
  if (i < 0) return at_ < static_cast<std::size_t>(-i) ? nullptr : &items_[at_ - static_cast<std::size_t>(-i)];
  return &items_[std::min(at_ + static_cast<std::size_t>(i) - 1, items_.size() - 1)];
}

std::string TokenStream::getText(const antlr4::misc::Interval& tokens) {
  return getText(&items_[static_cast<std::size_t>(tokens.a)], &items_[static_cast<std::size_t>(tokens.b)]);
}

std::string TokenStream::getText(antlr4::Token* start, antlr4::Token* stop) {
  return std::string(text_.substr(start->getStartIndex(), stop->getStopIndex() + 1 - start->getStartIndex()));
}

}  // namespace parsing

namespace {

constexpr std::size_t max_bytes = std::size_t(64) << 20;  // a parse takes up to a hundred bytes for each of these

// Text -> tokens that a parser may see, or diagnostics.
std::vector<Token> prepare(SourceId source, std::string_view text, Diags& diags) {
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

// Runs one rule of the grammar over the tokens and hands its tree to `build`, which is left out after an error.
// First the quick way, which gives up at the first error; then, only where that failed, the one that explains.
template <class Rule, class Build>
void run_rule(SourceId source, std::string_view text, const std::vector<Token>& tokens, Diags& diags, Rule rule,
              Build build) {
  TokenStream stream(text, tokens);
  TaskParser parser(&stream);
  parser.removeErrorListeners();
  parser.getInterpreter<ParserATNSimulator>()->setPredictionMode(PredictionMode::SLL);
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  try {
    auto* tree = rule(parser);
    check_literals(source, text, tokens, diags);
    if (!diags.has_errors()) build(tree);
    return;
  } catch (const antlr4::ParseCancellationException&) {
    parser.reset();
  }
  parser.getInterpreter<ParserATNSimulator>()->setPredictionMode(PredictionMode::LL);
  auto recovery = std::make_shared<Recovery>(source, stream, diags);
  parser.setErrorHandler(recovery);
  try {
    auto* tree = rule(parser);
    check_literals(source, text, tokens, diags);
    if (!diags.has_errors()) build(tree);
  } catch (const antlr4::RecognitionException& error) {
    recovery->reportError(&parser, error);
    check_literals(source, text, tokens, diags);
  }
}

auto program_rule() {
  return [](TaskParser& parser) { return parser.program(); };
}

auto expression_rule() {
  return [](TaskParser& parser) {
    TaskParser::ExprContext* tree = parser.expr();
    parser.match(antlr4::Token::EOF);
    return tree;
  };
}

class ReportCounter final : public antlr4::BaseErrorListener {
 public:
  explicit ReportCounter(ParseReport::Mode& counts) : counts_(counts) {}
  void syntaxError(antlr4::Recognizer*, antlr4::Token*, size_t, size_t, const std::string&,
                   std::exception_ptr) override {
    ++counts_.errors;
  }
  void reportAmbiguity(antlr4::Parser*, const antlr4::dfa::DFA&, size_t, size_t, bool, const antlrcpp::BitSet&,
                       antlr4::atn::ATNConfigSet*) override {
    ++counts_.ambiguities;
  }
  void reportAttemptingFullContext(antlr4::Parser*, const antlr4::dfa::DFA&, size_t, size_t, const antlrcpp::BitSet&,
                                   antlr4::atn::ATNConfigSet*) override {
    ++counts_.full_contexts;
  }

 private:
  ParseReport::Mode& counts_;
};

// Prediction tables of its own, so that nothing an earlier run has learned can hide a report.
ParseReport::Mode count_reports(std::string_view text, const std::vector<Token>& tokens, PredictionMode mode) {
  ParseReport::Mode counts;
  TokenStream stream(text, tokens);
  TaskParser parser(&stream);
  std::vector<antlr4::dfa::DFA> tables;
  const antlr4::atn::ATN& atn = parser.getATN();
  for (std::size_t i = 0; i < atn.getNumberOfDecisions(); ++i) tables.emplace_back(atn.getDecisionState(i), i);
  antlr4::atn::PredictionContextCache cache;
  parser.setInterpreter(new ParserATNSimulator(&parser, atn, tables, cache));  // the parser owns it
  parser.getInterpreter<ParserATNSimulator>()->setPredictionMode(mode);
  ReportCounter counter(counts);
  parser.removeErrorListeners();
  parser.addErrorListener(&counter);
  parser.program();
  return counts;
}

}  // namespace

Result<Ast> parse(const Sources& sources, SourceId source) {
  Diags diags;
  Ast ast{source, {}};
  std::string_view text = sources[source].text();
  std::vector<Token> tokens = prepare(source, text, diags);
  if (!diags.has_errors())
    run_rule(source, text, tokens, diags, program_rule(),
             [&](TaskParser::ProgramContext* tree) { ast.items = parsing::build_items(tree, source, text, diags); });
  if (diags.has_errors()) return diags;
  return ast;
}

Result<ast::Expr> parse_expression(const Sources& sources, SourceId source) {
  Diags diags;
  ast::Expr expression;
  std::string_view text = sources[source].text();
  std::vector<Token> tokens = prepare(source, text, diags);
  if (!diags.has_errors())
    run_rule(source, text, tokens, diags, expression_rule(), [&](TaskParser::ExprContext* tree) {
      expression = parsing::build_expression(tree, source, text, diags);
    });
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

ParseReport parse_report(const Sources& sources, SourceId source) {
  ParseReport report;
  Diags diags;
  std::string_view text = sources[source].text();
  std::vector<Token> tokens = prepare(source, text, diags);
  if (diags.has_errors()) {
    report.sll.errors = report.ll.errors = diags.size();
    return report;
  }
  report.sll = count_reports(text, tokens, PredictionMode::SLL);
  report.ll = count_reports(text, tokens, PredictionMode::LL_EXACT_AMBIG_DETECTION);
  return report;
}

}  // namespace taskspec
