#include "frontend/format.hpp"

#include <algorithm>

#include "frontend/ast_print.hpp"
#include "frontend/format_pieces.hpp"
#include "frontend/parse.hpp"
#include "ir/base/text.hpp"

namespace taskspec {
namespace {

using formatting::BracketUse;
using formatting::Comment;
using formatting::Piece;

constexpr std::size_t step = 2;            // one level of braces
constexpr std::size_t continuation = 4;    // a statement that goes on in the next line
constexpr std::size_t aligned_width = 90;  // code longer than this does not push the comments of its neighbours

struct Line {
  std::size_t indent = 0;
  std::string code;
  std::string comment;
  bool blank_before = false;

  bool empty() const { return code.empty() && comment.empty(); }
  std::size_t width() const { return indent + static_cast<std::size_t>(display_width(code)); }  // without the comment
};

// Puts pieces into lines. What is open is kept on a stack; each level knows how far its lines are indented.
class LineBreaker {
 public:
  explicit LineBreaker(const std::vector<Piece>& pieces) : pieces_(pieces), lines_(1) {
    for (const Piece& piece : pieces)
      breaks_.push_back((breaks_.empty() ? 0 : breaks_.back()) + (piece.breaks ? 1 : 0));
  }

  std::vector<Line> lines() {
    for (std::size_t i = 0; i < pieces_.size(); ++i) place(i);
    if (lines_.back().empty()) lines_.pop_back();
    return std::move(lines_);
  }

 private:
  struct Level {
    std::size_t content;  // indentation of the lines in it
    std::size_t closer;   // indentation of its closing bracket, if that begins a line
    bool statements;      // or the inside of one
  };

  void place(std::size_t i) {
    const Piece& piece = pieces_[i];
    if (is_needless_comma(i)) return;
    std::size_t content = levels_.back().content;
    if (levels_.back().statements && !begins_statement(i)) content += continuation;
    put_comments(i, content);
    if (breaks_before(i)) begin_line(closes(i) ? levels_.back().closer : content, keeps_blank_line(i));
    if (piece.kind == TokenKind::end) return;
    lines_.back().code += separator(i);
    lines_.back().code += piece.text;
    if (closes(i)) levels_.pop_back();
    if (opens(i)) levels_.push_back(level(i));
  }

  bool opens(std::size_t i) const { return pieces_[i].use != BracketUse::none && pieces_[i].partner > i; }
  bool closes(std::size_t i) const { return pieces_[i].use != BracketUse::none && pieces_[i].partner < i; }
  bool after_opening(std::size_t i) const { return i > 0 && opens(i - 1); }
  bool is_brace(std::size_t i) const {
    return pieces_[i].use == BracketUse::block || pieces_[i].use == BracketUse::list;
  }

  // ---- where lines break ----

  // Does this piece, if it begins a line, stand as far left as the statements around it?
  bool begins_statement(std::size_t i) const {
    const Piece& piece = pieces_[i];
    return i == 0 || piece.starts_statement || piece.kind == TokenKind::end || after_opening(i) || is_brace(i) ||
           piece.text == "else";
  }

  bool breaks_before(std::size_t i) const {
    const Piece& piece = pieces_[i];
    if (!piece.comments.empty()) return true;
    if (i == 0 || piece.kind == TokenKind::end) return i != 0;
    if (is_brace(i) && closes(i)) return is_broken(piece.partner);
    if (is_brace(i) || piece.text == "else" || piece.text == ",") return false;
    if (after_opening(i) && is_brace(i - 1)) return is_broken(i - 1);
    if (closes(i)) return piece.breaks && hangs(piece.partner);
    return piece.breaks;
  }

  // A pair of braces with a line break anywhere in between gets lines of its own for its content.
  bool is_broken(std::size_t opener) const {
    std::size_t closer = pieces_[opener].partner;
    if (closer == opener + 1) return !pieces_[closer].comments.empty();
    return breaks_[closer] > breaks_[opener];
  }

  // Is the content of this bracket below it, and not beside it?
  bool hangs(std::size_t opener) const { return pieces_[opener + 1].breaks; }

  bool keeps_blank_line(std::size_t i) const {
    const Piece& piece = pieces_[i];
    bool first = after_opening(i) && (piece.comments.empty() || !piece.comments.back().own_line);
    return piece.blank_before && !first && !closes(i) && piece.kind != TokenKind::end;
  }

  // `f(a, b,)`: a comma before the closing bracket serves only where that stands on a line of its own.
  bool is_needless_comma(std::size_t i) const {
    if (pieces_[i].kind != TokenKind::sign || pieces_[i].text != "," || !pieces_[i].comments.empty()) return false;
    return closes(i + 1) && !breaks_before(i + 1);
  }

  // ---- writing ----

  Level level(std::size_t opener) const {
    std::size_t outer = levels_.back().content;
    if (is_brace(opener)) return {outer + step, outer, pieces_[opener].use == BracketUse::block};
    std::size_t line = lines_.back().indent;
    if (hangs(opener)) return {line + step, line, false};
    std::size_t column = lines_.back().width();
    return {column, column, false};
  }

  std::string_view separator(std::size_t i) const {
    if (lines_.back().code.empty()) return "";
    if (pieces_[i].starts_statement) return "; ";
    return spaced(pieces_[i - 1], pieces_[i]) ? " " : "";
  }

  void put_comments(std::size_t i, std::size_t indent) {
    bool first = after_opening(i);
    for (const Comment& comment : pieces_[i].comments) {
      if (comment.own_line) begin_line(indent, comment.blank_before && !first);
      lines_.back().comment = comment.text;
      first = false;
    }
  }

  void begin_line(std::size_t indent, bool blank_before) {
    if (!lines_.back().empty()) lines_.emplace_back();
    lines_.back().indent = indent;
    lines_.back().blank_before = blank_before && lines_.size() > 1;
  }

  const std::vector<Piece>& pieces_;
  std::vector<std::size_t> breaks_;  // how many line breaks there are up to and before each piece
  std::vector<Line> lines_;
  std::vector<Level> levels_{{0, 0, true}};
};

// The column of the comments from line `begin` on, for as many lines as have code and a comment without a gap.
struct Group {
  std::size_t end;
  std::size_t column;
};

Group comment_group(const std::vector<Line>& lines, std::size_t begin) {
  Group group{begin, 0};
  while (group.end < lines.size()) {
    const Line& line = lines[group.end];
    if (line.code.empty() || line.comment.empty() || (group.end > begin && line.blank_before)) break;
    if (line.width() <= aligned_width) group.column = std::max(group.column, line.width() + 2);
    ++group.end;
  }
  return group;
}

std::string write(const std::vector<Line>& lines) {
  std::string text;
  Group group{0, 0};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    if (i >= group.end) group = comment_group(lines, i);
    if (line.blank_before) text += '\n';
    text.append(line.indent, ' ');
    text += line.code;
    if (!line.code.empty() && !line.comment.empty())
      text.append(std::max(group.column, line.width() + 2) - line.width(), ' ');
    text += line.comment + "\n";
  }
  return text;
}

}  // namespace

Result<std::string> format(const Sources& sources, SourceId source) {
  Result<Ast> before = parse(sources, source);
  if (!before) return before.diags();
  std::vector<Piece> pieces = formatting::pieces_of(sources[source].text());
  std::string text = write(LineBreaker(pieces).lines());

  // a formatter that changes a program is worse than none, so it never takes its own word for it
  Sources again;
  Result<Ast> after = parse(again, again.add(sources[source].path(), text));
  if (!after || print_ast(*before) != print_ast(*after)) bug("the formatter changed the meaning of a program");
  return text;
}

}  // namespace taskspec
