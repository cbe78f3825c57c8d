#include "frontend/format.hpp"

#include <algorithm>

#include "frontend/ast_print.hpp"
#include "frontend/format_pieces.hpp"
#include "frontend/parse.hpp"

namespace taskspec {
namespace {

using formatting::Comment;
using formatting::Piece;
using formatting::Role;

constexpr std::size_t step = 2;          // one level of braces
constexpr std::size_t continuation = 4;  // a statement that goes on in the next line
constexpr std::size_t aligned_width = 90;  // code longer than this does not push the comments of its neighbours

struct Line {
  std::size_t indent = 0;
  std::string code;
  std::string comment;
  bool blank_before = false;
};

// Columns as a reader counts them: characters, not bytes.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Puts pieces into lines. What is open is kept on a stack; each level knows how far its lines are indented.
class Layout {
 public:
  explicit Layout(const std::vector<Piece>& pieces) : pieces_(pieces) {}

  std::vector<Line> lines() {
    lines_.emplace_back();
    for (std::size_t i = 0; i < pieces_.size(); ++i) place(i);
    if (lines_.back().code.empty() && lines_.back().comment.empty()) lines_.pop_back();
    return std::move(lines_);
  }

 private:
  struct Level {
    std::size_t content;  // indentation of the lines in it
    std::size_t closer;   // indentation of its closing bracket, if that begins a line
    bool is_block;        // statements, not the inside of an expression
  };

  void place(std::size_t i) {
    const Piece& piece = pieces_[i];
    if (piece.kind != TokenKind::end && is_needless_comma(i)) return;
    bool closes = piece.role != Role::none && piece.partner < i;
    std::size_t content = levels_.back().content;
    if (closes && levels_.size() > 1) content = levels_.back().closer;
    else if (levels_.back().is_block && !begins_line_of_block(i)) content += continuation;
    put_comments(i, closes ? levels_.back().content : content);
    if (breaks_before(i)) begin_line(content, piece.blank_before && !closes && !after_opening(i));
    if (piece.kind == TokenKind::end) return;
    put(i, separator(i));
    if (closes) levels_.pop_back();
    else if (piece.role != Role::none) open(i);
  }

  // ---- where lines break ----

  bool begins_line_of_block(std::size_t i) const {
    const Piece& piece = pieces_[i];
    return i == 0 || piece.starts_statement || piece.kind == TokenKind::end || after_opening(i) ||
           piece.text == "else" || (piece.role == Role::block && piece.text == "{");
  }

  bool after_opening(std::size_t i) const {
    return i > 0 && pieces_[i - 1].role != Role::none && pieces_[i - 1].partner > i - 1;
  }

  bool breaks_before(std::size_t i) const {
    const Piece& piece = pieces_[i];
    if (i == 0) return !piece.comments.empty();
    if (!piece.comments.empty() || piece.kind == TokenKind::end) return true;
    bool braces = piece.role == Role::block || piece.role == Role::list;
    if (braces && piece.text == "}") return is_broken(piece.partner);
    if (braces || piece.text == "else" || piece.text == ",") return false;
    if (after_opening(i) && levels_.back().is_block) return is_broken(i - 1);
    if (piece.role != Role::none && piece.partner < i) return piece.breaks && hangs(piece.partner);
    return piece.breaks;
  }

  // A pair of braces with a line break anywhere in between gets lines of its own for its content.
  bool is_broken(std::size_t opener) const {
    std::size_t closer = pieces_[opener].partner;
    if (closer == opener + 1) return !pieces_[closer].comments.empty();
    for (std::size_t i = opener + 1; i <= closer; ++i)
      if (pieces_[i].breaks) return true;
    return false;
  }

  // Is the content of this bracket below it, and not beside it?
  bool hangs(std::size_t opener) const { return pieces_[opener + 1].breaks; }

  // `f(a, b,)`: a comma before the closing bracket serves only where that stands on a line of its own.
  bool is_needless_comma(std::size_t i) const {
    if (pieces_[i].text != "," || pieces_[i].kind != TokenKind::sign) return false;
    const Piece& next = pieces_[i + 1];
    return is_closing(next.text) && next.role != Role::none && pieces_[i].comments.empty() && !breaks_before(i + 1);
  }

  // ---- writing ----

  void open(std::size_t i) {
    const Piece& piece = pieces_[i];
    std::size_t here = lines_.back().indent;
    if (piece.role == Role::block || piece.role == Role::list) {
      std::size_t outer = levels_.back().content;
      levels_.push_back({outer + step, outer, true});
      in_list_ = piece.role == Role::list;
    } else if (hangs(i)) {
      levels_.push_back({here + step, here, false});
    } else {
      std::size_t column = here + width(lines_.back().code);
      levels_.push_back({column, column, false});
    }
  }

  std::string_view separator(std::size_t i) const {
    if (lines_.back().code.empty()) return "";
    if (pieces_[i].starts_statement && pieces_[i].text != "}") return after_opening(i) ? " " : "; ";
    return spaced(pieces_[i - 1], pieces_[i]) ? " " : "";
  }

  void put(std::size_t i, std::string_view separator) {
    lines_.back().code += separator;
    lines_.back().code += pieces_[i].text;
  }

  void put_comments(std::size_t i, std::size_t indent) {
    bool first = i == 0 || after_opening(i);
    for (const Comment& comment : pieces_[i].comments) {
      if (comment.own_line) begin_line(indent, comment.blank_before && !first);
      lines_.back().comment = comment.text;
      first = false;
    }
  }

  void begin_line(std::size_t indent, bool blank_before) {
    bool fresh = lines_.back().code.empty() && lines_.back().comment.empty();
    if (!fresh) lines_.emplace_back();
    lines_.back().indent = indent;
    lines_.back().blank_before = blank_before && lines_.size() > 1;
  }

  const std::vector<Piece>& pieces_;
  std::vector<Line> lines_;
  std::vector<Level> levels_{{0, 0, true}};
  bool in_list_ = false;
};
