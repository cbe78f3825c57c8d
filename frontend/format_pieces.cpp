#include "frontend/format_pieces.hpp"

namespace taskspec::formatting {
namespace {

// Trailing blanks go, except where a test counts them.
std::string tidy(std::string_view comment) {
  if (!comment.starts_with("// expect:")) comment = comment.substr(0, comment.find_last_not_of(" \t") + 1);
  return std::string(comment);
}

// Fills in what a piece has to know about the gap before it.
void read_gap(std::string_view gap, bool at_start, Piece& piece) {
  std::size_t lines = at_start ? 1 : 0;  // line breaks since the last comment or token
  for (std::size_t i = 0; i < gap.size(); ++i) {
    if (gap[i] == '\n' || (gap[i] == '\r' && !gap.substr(i + 1).starts_with('\n'))) {
      ++lines;
      piece.breaks = true;
    } else if (gap[i] == '/' || gap[i] == '#') {
      std::size_t end = std::min(gap.find_first_of("\r\n", i), gap.size());
      piece.comments.push_back({tidy(gap.substr(i, end - i)), lines > 0, lines > 1});
      lines = 0;
      i = end - 1;
    }
  }
  piece.blank_before = lines > 1;
}

bool ends_operand(const Piece& piece) {
  switch (piece.kind) {
    case TokenKind::name:
    case TokenKind::integer:
    case TokenKind::real:
    case TokenKind::string:
      return true;
    default:
      return is_one_of(piece.text, {"true", "false", ")", "]", "}"});
  }
}

// Finds the use and partner of each bracket, and where the statement began that it is in.
class Brackets {
 public:
  explicit Brackets(std::vector<Piece>& pieces) : pieces_(pieces) {}

  void visit(std::size_t i) {
    Piece& piece = pieces_[i];
    if (piece.starts_statement || i == 0 || pieces_[i - 1].use == BracketUse::block) open_.back().statement = i;
    if (piece.kind != TokenKind::sign) return;
    if (is_closing(piece.text)) {
      piece.partner = open_.back().piece;
      piece.use = pieces_[piece.partner].use;
      pieces_[piece.partner].partner = i;
      open_.pop_back();
    } else if (is_opening(piece.text)) {
      piece.use = use(i);
      piece.in_head = piece.use == BracketUse::bracket && in_ir_head(i);
      bool is_ir = piece.use == BracketUse::block && pieces_[open_.back().statement].text == "ir";
      open_.push_back({i, i + 1, is_ir});
    }
  }

 private:
  struct Open {
    std::size_t piece;
    std::size_t statement;  // where the innermost statement in it begins
    bool is_ir;
  };

  BracketUse use(std::size_t i) const {
    if (pieces_[i].text != "{") return BracketUse::bracket;
    if (i > 0 && pieces_[i - 1].text == ".") return BracketUse::set;
    return pieces_[open_.back().statement].text == "fields" ? BracketUse::list : BracketUse::block;
  }

  // `name : KIND precision [dims] (attributes)`, but not what stands behind its '='
  bool in_ir_head(std::size_t i) const {
    if (!open_.back().is_ir) return false;
    std::size_t begin = open_.back().statement;
    if (begin + 1 >= i || pieces_[begin + 1].text != ":") return false;
    for (std::size_t k = begin; k < i; ++k)
      if (pieces_[k].text == "=") return false;
    return true;
  }

  std::vector<Piece>& pieces_;
  std::vector<Open> open_{{0, 0, false}};
};

}  // namespace

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Token> tokens = lex(text);
  insert_line_ends(text, tokens);
  std::vector<Piece> pieces;
  std::uint32_t end = 0;
  bool separated = false;
  for (const Token& token : tokens) {
    std::string_view word = text_of(text, token);
    if (token.kind == TokenKind::line_end || word == ";") {
      separated = true;
      continue;
    }
    Piece piece{token.kind, word, {}};
    read_gap(text.substr(end, token.begin - end), pieces.empty(), piece);
    bool first_of_list = pieces.empty() || pieces.back().text == "{";
    piece.starts_statement = separated && !first_of_list && !is_closing(word) && token.kind != TokenKind::end;
    bool operand_before = !first_of_list && !piece.starts_statement && ends_operand(pieces.back());
    piece.prefix = is_one_of(word, {"-", "!"}) && !operand_before;
    pieces.push_back(std::move(piece));
    end = token.end;
    separated = false;
  }
  Brackets brackets(pieces);
  for (std::size_t i = 0; i < pieces.size(); ++i) brackets.visit(i);
  return pieces;
}

bool spaced(const Piece& before, const Piece& piece) {
  if (is_one_of(piece.text, {",", ")", "]", ".", "..", ":"})) return false;
  if (is_one_of(before.text, {"(", "[", ".", ".."}) || before.prefix) return false;
  if (piece.use == BracketUse::set && piece.text == "}") return false;
  if (before.use == BracketUse::set && before.text == "{") return false;
  if (before.text == "{" && piece.text == "}") return false;
  if (piece.use != BracketUse::bracket || piece.in_head) return true;
  bool applied = ends_operand(before) && !is_one_of(before.text, {"true", "false"});
  return !applied && !is_one_of(before.text, {"fn", "reduce"});
}

}  // namespace taskspec::formatting
