// How the parser goes on after an error. A rule that fails gives up, and so does the one that called it, up to the
// statement (or item, member, line); there the rest of that statement is skipped. Nothing is inserted or deleted in
// order to guess what was meant, so one mistake is not told twice.
#include "frontend/parse_antlr.hpp"

namespace taskspec::parsing {
namespace {

using antlr4::misc::IntervalSet;
using Rules = TaskParser;

bool is_part(std::size_t rule) {
  return rule == Rules::RuleItem || rule == Rules::RuleMember || rule == Rules::RuleIrLine || rule == Rules::RuleStmt;
}

// Did the parser stop at the end of a line inside of an expression, where only a launch wants more?
bool is_launch(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const antlr4::InputMismatchException& mismatch) {
    auto* rule = dynamic_cast<antlr4::ParserRuleContext*>(mismatch.getCtx());
    return rule && rule->start->getText() == "launch";
  } catch (const antlr4::RecognitionException&) {
    return false;
  }
}

}  // namespace

antlr4::Token* Recovery::recoverInline(antlr4::Parser* parser) { throw antlr4::InputMismatchException(parser); }

void Recovery::reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) {
  if (recovering_) return;
  recovering_ = true;
  std::size_t found = error.getOffendingToken()->getTokenIndex();
  IntervalSet expected;
  // after a look further ahead, what could have come at its beginning says nothing about where it failed
  if (tokens_.index() == found) expected = error.getExpectedTokens();
  describe({found, parser->getContext()->getRuleIndex(), expected}, source_, tokens_, diags_);
}

void Recovery::recover(antlr4::Parser* parser, std::exception_ptr error) {
  antlr4::ParserRuleContext* context = parser->getContext();
  if (context->getRuleIndex() == Rules::RuleProgram) return tokens_.seek(tokens_.size() - 1);
  if (!is_part(context->getRuleIndex())) std::rethrow_exception(error);
  std::uint16_t depth = tokens_.depth(context->start->getTokenIndex());
  skip_to_separator(depth);
  // a launch broken before its `for`: that line is the rest of it, not a loop with mistakes of its own
  std::size_t at = tokens_.index();
  if (tokens_.token(at).kind != TokenKind::line_end || tokens_.text(at + 1) != "for" || !is_launch(error)) return;
  tokens_.seek(at + 1);
  skip_to_separator(depth);
}

// Called wherever the parser makes a decision. In a list that is whether it goes on.
void Recovery::sync(antlr4::Parser* parser) {
  antlr4::ParserRuleContext* context = parser->getContext();
  std::size_t list = context->getRuleIndex();
  if (!part_of(list)) return;
  std::size_t here = tokens_.index();
  if (here > 0 && tokens_.text(here - 1) == "(") return;  // still in the head of an agent
  std::uint16_t outside = tokens_.depth(context->start->getTokenIndex());
  settle(parser, list, list == Rules::RuleProgram ? 0 : static_cast<std::uint16_t>(outside + 1));
}

// Makes sure that the parser sees a separator, the beginning of a part, or the end of the list whose parts stand
// `depth` brackets deep; what else there is gets reported and skipped.
void Recovery::settle(antlr4::Parser* parser, std::size_t list, std::uint16_t depth) {
  if (tokens_.depth(tokens_.index()) != depth) return;
  recovering_ = false;  // what comes now has nothing to do with the error before
  const antlr4::atn::ATN& atn = parser->getATN();
  IntervalSet begin = atn.nextTokens(atn.ruleToStartState[*part_of(list)]);
  while (true) {
    std::size_t next = tokens_.index();
    while (tokens_.is_separator(next)) ++next;
    if (is_end(next)) return;
    bool separated =
        next > tokens_.index() || next == 0 || tokens_.is_separator(next - 1) || tokens_.text(next - 1) == "{";
    if (separated && begin.contains(static_cast<ssize_t>(tokens_.get(next)->getType()))) return;
    if (separated)
      describe({next, list, begin}, source_, tokens_, diags_);
    else
      describe_missing_separator(next, source_, tokens_, diags_);
    tokens_.seek(separated ? next + 1 : next);
    skip_to_separator(depth);
  }
}

bool Recovery::is_end(std::size_t index) const {
  return tokens_.token(index).kind == TokenKind::end || is_closing(tokens_.text(index));
}

// To the separator or closing bracket that ends what stands `depth` brackets deep.
void Recovery::skip_to_separator(std::uint16_t depth) {
  std::size_t at = tokens_.index();
  while (tokens_.token(at).kind != TokenKind::end && tokens_.depth(at) >= depth) {
    if (tokens_.depth(at) == depth && (tokens_.is_separator(at) || is_closing(tokens_.text(at)))) break;
    ++at;
  }
  tokens_.seek(at);
}

}  // namespace taskspec::parsing
