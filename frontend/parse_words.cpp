// What the grammar says about its tokens, out of the automaton that ANTLR made of it: which of them are keywords, what
// may begin and end a statement, what else a rule may begin with.
#include <algorithm>
#include <utility>

#include "frontend/parse.hpp"
#include "frontend/parse_antlr.hpp"

namespace taskspec {

using antlr4::atn::ATN;
using antlr4::atn::ATNState;
using antlr4::atn::RuleTransition;
using antlr4::atn::Transition;
using antlr4::misc::IntervalSet;

namespace parsing {
namespace {

using Rules = TaskParser;

// Of the generated parser; both live as long as the program.
struct Automaton {
  const ATN& atn;
  const antlr4::dfa::Vocabulary& words;
};

const Automaton& automaton() {
  static const Automaton one = [] {
    const std::vector<taskspec::Token> end(1);
    TokenStream none("", end);
    const TaskParser parser(&none);
    return Automaton{parser.getATN(), parser.getVocabulary()};
  }();
  return one;
}

// A token with one spelling; empty for one that has many, such as ID.
std::string spelling(std::size_t type) {
  const std::string literal = automaton().words.getLiteralName(type);  // with quotes around it: 'let'
  return literal.size() > 2 ? literal.substr(1, literal.size() - 2) : "";
}

TokenKind kind_of(std::size_t type) {
  switch (type) {
    case TaskLexer::ID:
      return TokenKind::name;
    case TaskLexer::INT:
      return TokenKind::integer;
    case TaskLexer::FLOAT:
      return TokenKind::real;
    case TaskLexer::STRING:
      return TokenKind::string;
    default:
      const std::string word = spelling(type);
      if (word.empty()) return TokenKind::unknown;
      return word[0] >= 'a' && word[0] <= 'z' ? TokenKind::keyword : TokenKind::sign;
  }
}

const RuleTransition* call_of_rule(const Transition* transition) {
  const bool calls = transition->getSerializationType() == Transition::RULE;
  return calls ? static_cast<const RuleTransition*>(transition) : nullptr;
}

IntervalSet first_tokens(std::size_t rule) {
  const ATN& atn = automaton().atn;
  return atn.nextTokens(atn.ruleToStartState[rule]);
}

// By state: can its rule be at its end there, without another token?
std::vector<bool> states_at_end() {
  const ATN& atn = automaton().atn;
  std::vector<bool> at_end(atn.states.size());
  for (const ATNState* stop : atn.ruleToStopState) at_end[stop->stateNumber] = true;
  auto passes = [&](const Transition* transition) {
    const RuleTransition* rule = call_of_rule(transition);
    const bool goes_on = !rule || at_end[rule->followState->stateNumber];
    return transition->isEpsilon() && at_end[transition->target->stateNumber] && goes_on;
  };
  for (bool more = true; std::exchange(more, false);)
    for (const ATNState* state : atn.states)
      if (state && !at_end[state->stateNumber] && std::ranges::any_of(state->transitions, passes))
        more = at_end[state->stateNumber] = true;
  return at_end;
}

// What the last token of any of these rules may be.
IntervalSet last_tokens(std::vector<std::size_t> rules) {
  const ATN& atn = automaton().atn;
  const std::vector<bool> at_end = states_at_end();
  IntervalSet found;
  for (std::size_t i = 0; i < rules.size(); ++i)  // what ends with another rule ends with the tokens of that one
    for (ATNState* state : atn.states) {
      if (!state || state->ruleIndex != rules[i] || state->getStateType() == ATNState::RULE_STOP) continue;
      for (const Transition* transition : state->transitions) {
        const RuleTransition* rule = call_of_rule(transition);
        const ATNState* behind = rule ? rule->followState : transition->target;
        if (!at_end[behind->stateNumber]) continue;
        if (!transition->isEpsilon())
          found.addAll(transition->label());
        else if (rule && std::ranges::find(rules, rule->ruleIndex) == rules.end())
          rules.push_back(rule->ruleIndex);
      }
    }
  return found;
}

TokenTable read_table() {
  const std::size_t count = automaton().words.getMaxTokenType() + 1;
  TokenTable table{std::vector(count, TokenKind::unknown), std::vector<bool>(count), std::vector<bool>(count)};
  for (std::size_t type = 1; type < count; ++type) table.kinds[type] = kind_of(type);
  std::vector<std::size_t> parts;
  for (std::size_t rule = 0; rule < automaton().atn.ruleToStartState.size(); ++rule)
    if (std::optional<std::size_t> part = part_of(rule)) parts.push_back(*part);
  IntervalSet first;
  for (std::size_t part : parts) first.addAll(first_tokens(part));
  for (ssize_t type : first.toList()) table.begins.at(static_cast<std::size_t>(type)) = true;
  for (ssize_t type : last_tokens(parts).toList()) table.ends.at(static_cast<std::size_t>(type)) = true;
  return table;
}

}  // namespace

const TokenTable& token_table() {
  static const TokenTable table = read_table();
  return table;
}

std::optional<std::size_t> part_of(std::size_t list) {
  switch (list) {
    case Rules::RuleProgram:
      return Rules::RuleItem;
    case Rules::RuleAgentDecl:
      return Rules::RuleMember;
    case Rules::RuleIrDecl:
      return Rules::RuleIrLine;
    case Rules::RuleBlock:
      return Rules::RuleStmt;
    default:
      return std::nullopt;
  }
}

Words spellings(const IntervalSet& types) {
  Words words;
  for (ssize_t type : types.toList()) {
    if (type < 0) continue;  // the end of the file: where it may stand, so may an end of line
    const std::string word = spelling(static_cast<std::size_t>(type));
    words.insert(word.empty() ? automaton().words.getSymbolicName(static_cast<std::size_t>(type)) : word);
  }
  return words;
}

const Words& first_words(std::size_t rule) {
  static const std::vector<Words> by_rule = [] {
    std::vector<Words> words;
    for (std::size_t i = 0; i < automaton().atn.ruleToStartState.size(); ++i)
      words.push_back(spellings(first_tokens(i)));
    return words;
  }();
  return by_rule.at(rule);
}

Words words_behind(std::size_t part, std::size_t rule) {
  const ATN& atn = automaton().atn;
  Words words;
  for (const ATNState* state : atn.states)
    if (state && state->ruleIndex == rule)
      for (const Transition* transition : state->transitions)
        if (const RuleTransition* call = call_of_rule(transition); call && call->ruleIndex == part)
          words.merge(spellings(atn.nextTokens(call->followState)));
  return words;
}

}  // namespace parsing

std::vector<std::string> keywords() {
  const std::vector<TokenKind>& kinds = parsing::token_table().kinds;
  parsing::Words words;
  for (std::size_t type = 1; type < kinds.size(); ++type)
    if (kinds[type] == TokenKind::keyword) words.insert(parsing::spelling(type));
  return {words.begin(), words.end()};
}

namespace {

// A character or quote out of place is an error anyway; it shall not drag the next line into it.
bool is_broken(const Token& token) { return token.kind == TokenKind::unknown || token.kind == TokenKind::open_string; }

}  // namespace

bool begins_statement(const Token& token) { return is_broken(token) || parsing::token_table().begins[token.symbol]; }

bool ends_statement(const Token& token) { return is_broken(token) || parsing::token_table().ends[token.symbol]; }

}  // namespace taskspec
