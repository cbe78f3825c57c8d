#include "ir/base/snippet.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ir/base/text.hpp"

namespace taskspec {

std::string painted(std::string_view text, Style style, bool colour) {
  constexpr const char* codes[] = {"", "\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m"};
  if (!colour || style == Style::plain || text.empty()) return std::string(text);
  return std::string(codes[static_cast<unsigned>(style)]).append(text).append("\x1b[0m");
}

std::uint32_t last_line(const Source& source, Span span) {
  return source.position(span.end > span.begin ? span.end - 1 : span.begin).line;
}

namespace {

constexpr int tab_stop = 4;
constexpr int widest = 160;  // columns of one shown line; a longer one is cut around its first mark
constexpr int before_the_mark = 60;
constexpr std::string_view cut = "...";

// Characters that would move the cursor or turn the reading direction round are not passed on to a terminal.
bool shown_as_is(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool direction = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return !control && !direction;
}

// A line as it stands on a terminal: tabs expanded, broken bytes replaced, and the column of each byte.
class ShownLine {
 public:
  ShownLine(std::string_view line, std::size_t focus) : starts_(line.size() + 1) {
    std::vector<Glyph> glyphs;
    int column = 0;
    for (std::size_t at = 0; at < line.size();) {
      Character c = first_character(line.substr(at));
      Glyph glyph = drawn(c, line.substr(at, c.bytes), column);
      std::fill_n(starts_.begin() + static_cast<std::ptrdiff_t>(at), c.bytes, column);
      column += glyph.width;
      at += c.bytes;
      glyphs.push_back(std::move(glyph));
    }
    starts_.back() = column;
    choose_window(glyphs, starts_[std::min(focus, line.size())]);
  }

  const std::string& text() const { return text_; }

  // The column at which a byte is shown; what was cut away stands at the edge.
  int column(std::size_t byte) const {
    int at = starts_[std::min(byte, starts_.size() - 1)];
    return std::clamp(at, begin_, end_) - begin_ + (begin_ > 0 ? static_cast<int>(cut.size()) : 0);
  }

 private:
  struct Glyph {
    std::string text;
    int column, width;
  };

  static Glyph drawn(Character c, std::string_view bytes, int column) {
    if (c.code_point == U'\t') {
      int width = tab_stop - column % tab_stop;
      return {std::string(static_cast<std::size_t>(width), ' '), column, width};
    }
    const bool broken = c.bytes == 1 && c.code_point == U'\uFFFD';
    if (broken || !shown_as_is(c.code_point)) return {"\uFFFD", column, 1};
    return {std::string(bytes), column, display_width(c.code_point)};
  }

  void choose_window(const std::vector<Glyph>& glyphs, int focus) {
    end_ = starts_.back();
    if (end_ > widest) {
      const int wanted = std::max(0, focus - before_the_mark);
      auto first = std::find_if(glyphs.begin(), glyphs.end(), [&](const Glyph& g) { return g.column >= wanted; });
      begin_ = first == glyphs.end() ? wanted : first->column;
      end_ = std::min(end_, begin_ + widest);
    }
    if (begin_ > 0) text_ += cut;
    for (const Glyph& g : glyphs)
      if (g.column >= begin_ && g.column + g.width <= end_) text_ += g.text;
    if (end_ < starts_.back()) text_ += cut;
  }

  std::vector<int> starts_;  // per byte, and one for the end of the line
  int begin_ = 0, end_ = 0;  // columns of the line that are shown
  std::string text_;
};

// What stands under one line for one mark: bytes [begin, end) of the line.
struct Piece {
  std::size_t begin, end;
  std::string_view text;
  bool primary;
};

struct Underline {
  int begin, end;  // columns, never empty
  std::string_view text;
  bool primary;
};

// Characters with a style each, placed by column.
class Row {
 public:
  void put(int column, std::string_view text, Style style) {
    auto from = static_cast<std::size_t>(column);
    if (cells_.size() < from) cells_.resize(from);
    for (Character c; !text.empty(); text.remove_prefix(c.bytes), ++from) {
      c = first_character(text);
      if (cells_.size() <= from) cells_.resize(from + 1);
      cells_[from] = {std::string(text.substr(0, c.bytes)), style};
    }
  }

  std::string text(bool colour) const {
    std::string out;
    for (std::size_t i = 0; i < cells_.size();) {
      std::string run;
      const Style style = cells_[i].style;
      for (; i < cells_.size() && cells_[i].style == style; ++i) run += cells_[i].text;
      out += painted(run, style, colour);
    }
    return out;
  }

 private:
  struct Cell {
    std::string text = " ";
    Style style = Style::plain;
  };
  std::vector<Cell> cells_;
};

class Drawing {
 public:
  Drawing(const Source& source, const Canvas& canvas) : source_(source), canvas_(canvas) {}

  std::string draw(std::span<const Mark> marks) {
    std::map<std::uint32_t, std::vector<Piece>> by_line;
    for (const Mark& mark : marks) add_pieces(mark, by_line);
    std::uint32_t last = 0;
    for (const auto& [number, pieces] : by_line) {
      if (last != 0 && number == last + 2) draw_line(last + 1, {});
      if (last != 0 && number > last + 2) out_ += painted(cut, Style::accent, canvas_.colour) + "\n";
      draw_line(number, pieces);
      last = number;
    }
    return std::move(out_);
  }

 private:
  void add_pieces(const Mark& mark, std::map<std::uint32_t, std::vector<Piece>>& by_line) const {
    const Span span = mark.span;
    const std::uint32_t first = source_.position(span.begin).line, last = last_line(source_, span);
    const std::size_t begin = span.begin - source_.line_start(first), end = span.end - source_.line_start(last);
    if (first == last) {
      by_line[first].push_back({begin, end, mark.text, mark.primary});
      return;
    }
    const std::size_t indent = std::min(source_.line(last).find_first_not_of(" \t"), end);
    by_line[first].push_back({begin, std::max(begin, source_.line(first).size()), "", mark.primary});
    by_line[last].push_back({indent, end, mark.text, mark.primary});
  }

  void draw_line(std::uint32_t number, const std::vector<Piece>& pieces) {
    std::size_t focus = 0;
    for (const Piece& p : pieces) focus = p.primary || &p == &pieces.front() ? p.begin : focus;
    const ShownLine line(source_.line(number), focus);
    put_row(std::to_string(number), line.text());
    if (pieces.empty()) return;
    std::vector<Underline> underlines;
    for (const Piece& p : pieces) {
      const int begin = line.column(p.begin);
      underlines.push_back({begin, std::max(begin + 1, line.column(p.end)), p.text, p.primary});
    }
    std::stable_sort(underlines.begin(), underlines.end(),
                     [](const Underline& a, const Underline& b) { return a.begin < b.begin; });
    draw_underlines(underlines);
  }

  // The rightmost text stands behind its underline; the others hang below theirs, from right to left.
  void draw_underlines(const std::vector<Underline>& underlines) {
    Row row;
    int end = 0;
    for (const Underline* u : widest_first(underlines)) {
      row.put(u->begin, std::string(static_cast<std::size_t>(u->end - u->begin), u->primary ? '^' : '-'), style(*u));
      end = std::max(end, u->end);
    }
    std::vector<const Underline*> hanging;
    for (const Underline& u : underlines)
      if (!u.text.empty()) hanging.push_back(&u);
    if (!hanging.empty() && hanging.back()->end == end) {
      row.put(end + 1, hanging.back()->text, style(*hanging.back()));
      hanging.pop_back();
    }
    put_row("", row.text(canvas_.colour));
    if (!hanging.empty()) put_row("", connectors(hanging).text(canvas_.colour));
    while (!hanging.empty()) {
      const Underline* rightmost = hanging.back();
      hanging.pop_back();
      Row text = connectors(hanging);
      text.put(rightmost->begin, rightmost->text, style(*rightmost));
      put_row("", text.text(canvas_.colour));
    }
  }

  // So that a part stays visible on the whole that it lies in; of two equals the primary one is seen.
  static std::vector<const Underline*> widest_first(const std::vector<Underline>& underlines) {
    std::vector<const Underline*> order;
    for (const Underline& u : underlines) order.push_back(&u);
    std::stable_sort(order.begin(), order.end(), [](const Underline* a, const Underline* b) {
      return std::pair(b->end - b->begin, a->primary) < std::pair(a->end - a->begin, b->primary);
    });
    return order;
  }

  Row connectors(const std::vector<const Underline*>& hanging) const {
    Row row;
    for (const Underline* u : hanging) row.put(u->begin, "|", style(*u));
    return row;
  }

  Style style(const Underline& u) const { return u.primary ? canvas_.primary : Style::accent; }

  void put_row(const std::string& number, const std::string& text) {
    std::string gutter = std::string(canvas_.gutter - number.size(), ' ') + number + " |";
    out_ += painted(gutter, Style::accent, canvas_.colour);
    out_ += (text.empty() ? "" : " " + text) + "\n";
  }

  const Source& source_;
  const Canvas& canvas_;
  std::string out_;
};

}  // namespace

std::string snippet(const Source& source, std::span<const Mark> marks, const Canvas& canvas) {
  return Drawing(source, canvas).draw(marks);
}

}  // namespace taskspec
