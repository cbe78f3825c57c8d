// Checks on the bare tokens that make the parser's own recursion safe and spare its user the cascade of errors that
// one missing bracket causes.
#include <fmt/format.h>

#include "frontend/token.hpp"

namespace taskspec {
namespace {

char partner(char bracket) { return bracket == '(' ? ')' : bracket == '[' ? ']' : '}'; }

// Walks over the tokens and keeps the open brackets. Depth counts what becomes a level of the tree: each bracket,
// and in the part between two commas or semicolons each operator, member, call and `else`, for these can follow
// one another without end. It counts a little too much (`a * b + c * d` has two levels, not three): a bound may.
class Nesting {
 public:
  Nesting(SourceId source, std::string_view text, const std::vector<Token>& tokens, Diags& diags)
      : source_(source), text_(text), tokens_(tokens), diags_(diags) {}

  void check() {
    for (std::size_t i = 0; i < tokens_.size() && !diags_.has_errors(); ++i) {
      const Token& token = tokens_[i];
      std::string_view word = text_of(text_, token);
      if (token.kind == TokenKind::sign && is_opening(word)) {
        levels_.push_back({i, 0});
      } else if (token.kind == TokenKind::sign && is_closing(word)) {
        close(i);
      } else if (token.kind == TokenKind::line_end || word == ";" || word == ",") {
        links_ -= levels_.back().links;
        levels_.back().links = 0;
      } else if (token.kind == TokenKind::sign || word == "as" || word == "else") {
        link();
      }
      if (levels_.size() + links_ > max_depth) too_deep(token);
    }
    if (!diags_.has_errors() && levels_.size() > 1) never_closed();
  }

 private:
  struct Level {
    std::size_t opened_by;  // token; meaningless in the outermost level
    std::size_t links;
  };

  Span span(std::size_t i) const { return {source_, tokens_[i].begin, tokens_[i].end}; }
  char bracket(std::size_t i) const { return text_[tokens_[i].begin]; }
  void link() { ++levels_.back().links, ++links_; }

  void close(std::size_t closer) {
    if (levels_.size() == 1) {
      diags_.error("E0001", span(closer), fmt::format("unexpected '{}'", bracket(closer)))
          .at("no bracket is open here");
      return;
    }
    std::size_t opener = levels_.back().opened_by;
    if (partner(bracket(opener)) != bracket(closer)) return mismatch(opener, closer);
    if (bracket(opener) == '{') suspect_by_indentation(opener, closer);
    links_ -= levels_.back().links;
    levels_.pop_back();
    link();  // `f()()()` is three levels though no bracket stays open
  }

  void mismatch(std::size_t opener, std::size_t closer) {
    for (std::size_t i = levels_.size() - 1; i > 1; --i) {
      if (partner(bracket(levels_[i - 1].opened_by)) != bracket(closer)) continue;
      diags_.error("E0002", span(opener), fmt::format("'{}' is never closed", bracket(opener)))
          .label(span(closer), fmt::format("expected '{}' before this", partner(bracket(opener))));
      return;
    }
    diags_
        .error("E0002", span(closer),
               fmt::format("expected '{}', found '{}'", partner(bracket(opener)), bracket(closer)))
        .label(span(opener), fmt::format("this '{}' is open", bracket(opener)));
  }

  void never_closed() {
    std::size_t opener = levels_.back().opened_by;
    Diag& diag = diags_.error("E0002", span(opener), fmt::format("'{}' is never closed", bracket(opener)));
    // `(7 // 2)`: the rest of the line went with the comment.
    const std::size_t line_end = std::min(text_.find('\n', tokens_[opener].begin), text_.size());
    const std::size_t comment = text_.find("//", tokens_[opener].begin);
    if (bracket(opener) == '(' && comment < line_end && text_.find(')', comment) < line_end)
      diag.help("'//' begins a comment; a quotient of ints, a / b, drops the fraction");
    if (bracket(opener) != '{' || suspect_opener_ == none) return;
    diag.label(span(suspect_closer_), "this one is indented differently");
    diag.label(span(suspect_opener_), "than the one it closes: perhaps a '}' is missing in between");
  }

  // A '}' that begins its line usually stands below the line that opened it. The first one that does not is the
  // likely place of a missing '}', which would otherwise be reported where the file ends.
  void suspect_by_indentation(std::size_t opener, std::size_t closer) {
    std::size_t line = line_start(tokens_[closer].begin);
    std::size_t first = text_.find_first_not_of(" \t", line);
    if (suspect_opener_ != none || first != tokens_[closer].begin) return;
    std::size_t opener_line = line_start(tokens_[opener].begin);
    if (opener_line == line || text_.find_first_not_of(" \t", opener_line) - opener_line == first - line) return;
    suspect_opener_ = opener;
    suspect_closer_ = closer;
  }

  std::size_t line_start(std::size_t offset) const {
    std::size_t before = offset == 0 ? std::string_view::npos : text_.find_last_of("\r\n", offset - 1);
    return before == std::string_view::npos ? 0 : before + 1;
  }

  void too_deep(const Token& token) {
    diags_
        .error("E0005", {source_, token.begin, token.end},
               fmt::format("nested too deeply: more than {} levels of brackets and operators", max_depth))
        .help("give parts of it a name with 'let', or move them into a function");
  }

  static constexpr std::size_t none = SIZE_MAX;
  SourceId source_;
  std::string_view text_;
  const std::vector<Token>& tokens_;
  Diags& diags_;
  std::vector<Level> levels_{{none, 0}};
  std::size_t links_ = 0;  // the sum over all levels
  std::size_t suspect_opener_ = none, suspect_closer_ = none;
};

// "#!" is a comment for the shell, in the first line only; the lexer skips it everywhere, so look into the gaps.
void check_shebang(SourceId source, std::string_view gap, std::uint32_t offset, Diags& diags) {
  for (std::size_t i = 0; i < gap.size(); ++i) {
    if (gap[i] != '/' && gap[i] != '#') continue;
    std::size_t end = std::min(gap.find_first_of("\r\n", i), gap.size());
    auto begin = static_cast<std::uint32_t>(offset + i);
    if (gap[i] == '#' && begin != 0)
      diags.error("E0001", {source, begin, begin + 2}, "unexpected '#!'")
          .at("allowed at the very beginning of a file only")
          .help("comments begin with '//'");
    i = end;
  }
}

}  // namespace

void check_nesting(SourceId source, std::string_view text, const std::vector<Token>& tokens, Diags& diags) {
  bool strings_closed = true;
  std::uint32_t end = 0;
  for (const Token& token : tokens) {
    check_shebang(source, text.substr(end, token.begin - end), end, diags);
    end = token.end;
    if (token.kind != TokenKind::open_string) continue;
    strings_closed = false;
    diags.error("E0002", {source, token.begin, token.end}, "string is never closed")
        .at("opened here")
        .help("a string ends on its own line; '\\n' stands for a line break in it");
  }
  // an open string has swallowed brackets, so judging them would only tell the same mistake twice
  Diags bracket_errors;
  Nesting(source, text, tokens, bracket_errors).check();
  bool only_depth = true;
  for (const Diag& diag : bracket_errors.items()) only_depth &= diag.code == Code("E0005");
  if (strings_closed || only_depth) diags.append(bracket_errors);
}

std::vector<std::size_t> open_brackets(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::sign) continue;
    std::string_view sign = text_of(text, tokens[i]);
    if (is_opening(sign)) open.push_back(i);
    if (!is_closing(sign)) continue;
    if (open.empty() || partner(text[tokens[open.back()].begin]) != sign[0]) return {};
    open.pop_back();
  }
  return open;
}

}  // namespace taskspec
