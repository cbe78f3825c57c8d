// E0001 in the words of a user: what was found, what could have stood there, and, for the mistakes that people make
// most, what to do about it.
#include <fmt/format.h>

#include <set>

#include "frontend/parse_antlr.hpp"
#include "frontend/parse_foreign.hpp"

namespace taskspec::parsing {
namespace {

using Rules = TaskParser;

// Tokens that mean one thing to a reader: where `mark` may stand, all of `words` are told as `phrase`.
struct Group {
  std::string_view mark;
  std::string_view phrase;
  Words words;
};

// What may stand behind an operand: operators, member, call, index. Nobody wants to hear of them.
Words words_behind_operand() {
  Words words = words_behind(Rules::RulePostfix, Rules::RuleOp);
  words.merge(words_behind(Rules::RulePrimary, Rules::RulePostfix));
  return words;
}

std::vector<Group> make_groups() {
  return {{"let", "a statement", first_words(Rules::RuleItem)},
          {"INT", "an expression", first_words(Rules::RuleExpr)},
          {"inout", "a parameter", first_words(Rules::RuleParam)},
          {"task", "a slot or a declaration", first_words(Rules::RuleMember)},
          {"fn", "a type", first_words(Rules::RuleType)},
          {"ID", "a name", {"ID"}},
          {"STRING", "a string", {"STRING"}},
          {"&&", "", words_behind_operand()},
          {";", "end of line", {";"}}};
}

const std::vector<Group>& groups() {
  static const std::vector<Group> all = make_groups();
  return all;
}

// Keywords that other languages have as well: nobody takes them for a name by mistake, as happens with all others.
bool is_usual(std::string_view word) {
  return is_one_of(word, {"import", "fn", "let", "var", "if", "else", "for", "while", "return", "break", "continue",
                          "true", "false"});
}

bool may_begin(std::size_t rule, std::string_view word) { return first_words(rule).contains(word); }

// As `let`; not `break`, which is a statement already.
bool only_begins_statement(std::string_view word) {
  return may_begin(Rules::RuleStmt, word) && !may_begin(Rules::RuleExpr, word) &&
         !is_one_of(word, {"break", "continue"});
}

// ", expected a, b or c", or nothing where the list would not help.
std::string expectation(std::size_t rule, Words expected) {
  std::vector<std::string> phrases;
  // where a list may end it may go on, but the parser has decided against that one step earlier
  if (rule != Rules::RulePriv && (expected == Words{")"} || expected == Words{"]"})) expected.insert(",");
  for (const Group& group : groups()) {
    if (!expected.contains(group.mark)) continue;
    for (const std::string& word : group.words) expected.erase(word);
    if (!group.phrase.empty()) phrases.emplace_back(group.phrase);
  }
  for (const std::string& word : expected) phrases.push_back("'" + word + "'");
  if (phrases.empty() || phrases.size() > 4) return "";
  std::string text = ", expected " + phrases[0];
  for (std::size_t i = 1; i < phrases.size(); ++i) text += (i + 1 < phrases.size() ? ", " : " or ") + phrases[i];
  return text;
}

std::string in_words(const Token& token, std::string_view text) {
  switch (token.kind) {
    case TokenKind::end:
      return "end of file";
    case TokenKind::line_end:
      return "end of line";
    case TokenKind::string:
      return "string";
    case TokenKind::name:
      return fmt::format("name '{}'", text);
    case TokenKind::keyword:
      return fmt::format("keyword '{}'", text);
    case TokenKind::integer:
    case TokenKind::real:
      return fmt::format("number '{}'", text);
    case TokenKind::unknown:
      if (text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x20)
        return fmt::format("control character 0x{:02x}", static_cast<unsigned>(text[0]));
      return fmt::format("character '{}'", text);
    default:
      return fmt::format("'{}'", text);
  }
}

constexpr std::string_view no_name = " is a keyword and cannot be a name";

class Describer {
 public:
  Describer(std::size_t index, SourceId source, const TokenStream& tokens, Diags& diags)
      : at_(index), source_(source), tokens_(tokens), diags_(diags) {}

  void unexpected(std::size_t rule, const Words& expected) {
    if (std::optional<std::size_t> keyword = keyword_as_name(rule, expected)) return cannot_be_name(*keyword);
    if (word() == "else") {
      error("'else' without an 'if' before it").help("'else' belongs on the line of the '}' before it");
      return;
    }
    Diag& diag = error("unexpected " + found() + expectation(rule, expected));
    if (begins_line() && kind(at_) != TokenKind::end && kind(at_ - 1) == TokenKind::sign && expected.contains("INT"))
      diag.label(span(at_ - 1), "after this, the statement goes on in the next line");
    if (std::string help = advice(rule, expected); !help.empty()) diag.help(help);
  }

  void missing_separator() {
    Diag& diag = error("unexpected " + found() + ", expected end of line or ';'");
    if (word() == "=" && word(-1) != "==")
      diag.help("an assignment has no value, so assignments do not chain; '==' compares");
    else if (word() == ":" && word(1) != ":" && word(1) != "=" && kind(at_ - 1) == TokenKind::name)
      diag.help(fmt::format("a variable is made by 'let {}: type = value'", tokens_.text(at_ - 1)));
    else if (is_one_of(word(-1), {"elif", "elsif", "elseif"}) || is_one_of(word(), {"elif", "elsif", "elseif"}))
      diag.help("another condition begins with 'else if'");
    else if (std::string_view known = foreign_advice(surroundings(Rules::RuleProgram, {})); !known.empty())
      diag.help(std::string(known));
    else if (word() == "=>")
      diag.help("a function that is no whole expression stands in brackets: by ((i, n, s) => i % s)");
    else if (touches_number())
      diag.help(fmt::format("the number '{}' ends here", word(-1)));
    else if (kind(at_) != TokenKind::sign && kind(at_) != TokenKind::unknown)
      diag.help("two statements on one line need a ';' between them");
  }

 private:
  std::string_view word(std::ptrdiff_t offset = 0) const {
    std::ptrdiff_t index = static_cast<std::ptrdiff_t>(at_) + offset;
    bool inside = index >= 0 && static_cast<std::size_t>(index) < tokens_.count();
    return inside ? tokens_.text(static_cast<std::size_t>(index)) : std::string_view();
  }
  bool begins_line() const { return at_ > 0 && tokens_.breaks_line(at_); }
  bool touches_number() const {
    TokenKind before = kind(at_ - 1);
    return (before == TokenKind::integer || before == TokenKind::real) &&
           tokens_.token(at_ - 1).end == tokens_.token(at_).begin;
  }
  TokenKind kind(std::size_t index) const { return tokens_.token(index).kind; }
  Span span(std::size_t index) const { return {source_, tokens_.token(index).begin, tokens_.token(index).end}; }
  // Where to point: the end of the file is told at its last word, not below an empty line.
  Span place() const {
    if (kind(at_) != TokenKind::end || at_ == 0) return span(at_);
    return {source_, tokens_.token(at_ - 1).end, tokens_.token(at_ - 1).end};
  }
  std::string found() const { return in_words(tokens_.token(at_), word()); }
  Diag& error(std::string message) { return diags_.error("E0001", place(), std::move(message)); }

  // The token that is a keyword but was, by what stands around it, meant as a name.
  std::optional<std::size_t> keyword_as_name(std::size_t rule, const Words& expected) const {
    bool only_name =
        expected.contains("ID") && !expected.contains("INT") && rule != Rules::RuleType && rule != Rules::RuleAgentDecl;
    if (kind(at_) == TokenKind::keyword) {
      if (only_name && !is_one_of(word(), {"true", "false"})) return at_;
      if (rule == Rules::RuleFieldsDecl && word(1) == ":") return at_;  // in the next line, without a comma between
      if (!is_usual(word()) && !may_begin(Rules::RuleExpr, word()) && rule != Rules::RuleBlock && at_ > 0 &&
          kind(at_ - 1) != TokenKind::line_end && expected.contains("INT"))
        return at_;
      bool statement = rule == Rules::RuleProgram || rule == Rules::RuleBlock;
      bool argument = is_one_of(word(-1), {"(", ",", "["});
      if ((statement || argument) && word() != "else" && follows_name(at_ + 1)) return at_;
      return std::nullopt;
    }
    if (at_ == 0 || kind(at_ - 1) != TokenKind::keyword || !follows_name(at_)) return std::nullopt;
    bool privilege = is_one_of(word(-1), {"in", "out", "inout", "reduce"}) && word() == ":";
    bool opens = !is_usual(word(-1)) && may_begin(Rules::RuleItem, word(-1));
    return privilege || opens ? std::optional(at_ - 1) : std::nullopt;
  }

  // Does this token go on after a name, and cannot begin what may come after a keyword?
  bool follows_name(std::size_t index) const {
    if (index >= tokens_.count()) return false;
    if (kind(index) == TokenKind::line_end || kind(index) == TokenKind::end) return true;
    return kind(index) == TokenKind::sign && !is_one_of(tokens_.text(index), {"(", "[", "{", "!"});
  }

  void cannot_be_name(std::size_t index) {
    Diag& diag = diags_.error("E0001", span(index), fmt::format("'{}'{}", tokens_.text(index), no_name));
    if (index > 0 && tokens_.text(index - 1) == "." && tokens_.text(index) == "var")
      diag.help("((x - x.mean(0)) * (x - x.mean(0))).mean(0) is the variance");
    else
      diag.help(fmt::format("take another name, such as '{}_'", tokens_.text(index)));
  }

  std::string advice(std::size_t rule, const Words& expected) const {
    if (kind(at_) == TokenKind::unknown) {
      if (word() == "'" && expected.contains("INT")) return "strings are written in double quotes";
      if (word() == "#") return "comments begin with '//'";
      if (word() == "^") return "'xor' is a function: xor(a, b)";
      if (word() == "~") return "'!' negates, on integers bit by bit";
    }
    if ((word() == "*" && word(-1) == "/") || (word() == "/" && word(1) == "*"))
      return "there are no block comments; '//' makes a comment up to the end of the line";
    if (word() == "+" && word(-1) == "+") return "there is no '++'; write 'x += 1'";
    if (word() == "=" && is_one_of(statement_start(), {"if", "while"})) return "'==' compares";
    if (word() == ":" && (rule == Rules::RuleTaskDecl || rule == Rules::RuleFnDecl))
      return "named results stand in brackets: '-> (y: f32)'";
    if (kind(at_) == TokenKind::line_end && expected.contains("for"))
      return "a launch ends with its line; put 'for' on the same line, or the launch into brackets";
    if (rule == Rules::RuleBlock && may_begin(Rules::RuleItem, word()) && !may_begin(Rules::RuleStmt, word()))
      return "declarations stand at the top level of a file";
    if (word() == "fn" && expected.contains("INT")) return "'x => x + 1' makes a function on the spot";
    if (std::string_view known = foreign_advice(surroundings(rule, expected)); !known.empty())
      return std::string(known);
    if (!begins_line() && expected.contains("INT") && only_begins_statement(word()))
      return fmt::format(
          "'{}' begins a statement, which has no value{}", word(),
          word() == "if" ? "; where(c, a, b) is one of two tensors, and a 'var' that an 'if' changes anything" : "");
    return "";
  }

  Surroundings surroundings(std::size_t rule, const Words& expected) const {
    Surroundings s{.start = statement_start(), .before = word(-1), .here = word(), .next = word(1)};
    s.open = open_bracket();
    s.touches = at_ > 0 && tokens_.token(at_ - 1).end == tokens_.token(at_).begin;
    s.is_name = kind(at_) == TokenKind::name;
    s.is_string = kind(at_) == TokenKind::string;
    s.is_end = kind(at_) == TokenKind::line_end || kind(at_) == TokenKind::end;
    s.wants_body = expected == Words{"{"};
    s.wants_value = expected.contains("INT");
    s.wants_type = rule == Rules::RuleParam && expected.contains(":");
    s.wants_parameter = expected.contains("inout");
    s.wants_slot = expected.contains("task") && !s.wants_value;
    s.wants_start = expected == Words{"="};
    return s;
  }

  // The innermost bracket that is open at the token; 0 outside of all.
  char open_bracket() const {
    constexpr std::size_t far = 1000;  // a text of nothing but errors takes no longer
    int closed = 0;
    for (std::size_t i = at_; i-- > 0 && at_ - i < far;) {
      const std::string_view sign = tokens_.text(i);
      if (is_one_of(sign, {")", "]", "}"})) ++closed;
      if (is_one_of(sign, {"(", "[", "{"}) && closed-- == 0) return sign[0];
    }
    return 0;
  }

  // The first word of the statement that the token is in.
  std::string_view statement_start() const {
    std::size_t begin = at_;
    while (begin > 0 && kind(begin - 1) != TokenKind::line_end && !is_one_of(tokens_.text(begin - 1), {";", "{", "}"}))
      --begin;
    return tokens_.text(begin);
  }

  std::size_t at_;
  SourceId source_;
  const TokenStream& tokens_;
  Diags& diags_;
};

}  // namespace

void describe(const Surprise& surprise, SourceId source, const TokenStream& tokens, Diags& diags) {
  Describer(surprise.index, source, tokens, diags).unexpected(surprise.rule, spellings(surprise.expected));
}

Diags told_once(const Diags& diags) {
  Diags kept;
  std::set<std::string> keywords;
  for (const Diag& diag : diags.items())
    if (!diag.message.ends_with(no_name) || keywords.insert(diag.message).second) kept.add(diag);
  return kept;
}

void describe_missing_separator(std::size_t index, SourceId source, const TokenStream& tokens, Diags& diags) {
  Describer(index, source, tokens, diags).missing_separator();
}

}  // namespace taskspec::parsing
