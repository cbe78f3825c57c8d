#include "ir/show/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

struct Glyphs {
  std::string_view node, rail, dotted, right, branch_last, merge_last, branch, merge, tee, line, cross, arrow, more;
};
constexpr Glyphs boxes{"●", "│", "┊", "├", "╮", "╯", "┬", "┴", "├", "─", "┼", " → ", "…"};
constexpr Glyphs ascii{"*", "|", ":", "|", "\\", "/", "+", "+", "|", "-", "+", " -> ", "..."};

// A way to a later chain.
struct Rail {
  ChainId to;
  bool dotted = false;  // only orders go along it
};

class GraphDrawing {
 public:
  GraphDrawing(const TaskGraph& graph, const Chains& chains, const DrawOptions& options)
      : graph_(graph),
        chains_(chains),
        glyphs_(options.unicode ? boxes : ascii),
        columns_(std::max<std::size_t>(options.columns, 20)) {
    followers_.resize(chains.size());
    for (const TaskEdge& edge : graph.edges()) {
      const ChainId from = chains.chain_of(edge.from), to = chains.chain_of(edge.to);
      if (from != to) join(followers_[from.index()], to, edge.kind == EdgeKind::order);
    }
    for (std::vector<Rail>& list : followers_)
      std::sort(list.begin(), list.end(), [](const Rail& a, const Rail& b) { return a.to < b.to; });
  }

  std::string run(std::size_t at_most) {
    const std::size_t shown = std::min(chains_.size(), at_most);
    for (std::size_t c = 0; c < shown; ++c) draw(ChainId(c));
    if (shown < chains_.size())
      text_ += fmt::format("{} and {}\n", glyphs_.more, plural(chains_.size() - shown, "chain"));
    return std::move(text_);
  }

 private:
  // Edges come by their target, and only heads have edges from other chains: those of one pair stand together.
  static void join(std::vector<Rail>& list, ChainId to, bool dotted) {
    if (list.empty() || list.back().to != to)
      list.push_back({to, dotted});
    else
      list.back().dotted = list.back().dotted && dotted;
  }

  // The line of one chain, with the lines on which rails come together before it and part after it.
  void draw(ChainId chain) {
    std::vector<std::size_t> ending;
    for (std::size_t i = 0; i < rails_.size(); ++i)
      if (rails_[i] && rails_[i]->to == chain) ending.push_back(i);
    const std::size_t at = ending.empty() ? free_column(0) : ending.front();
    if (ending.size() > 1) bend(at, ending, glyphs_.merge, glyphs_.merge_last);
    // Straight on from the line above: a rail tells it from a chain that only stands below.
    if (ending.size() == 1 && above_ == at) write_rails();
    for (std::size_t column : ending) rails_[column].reset();
    drop_free_columns();
    write_node(chain, at);
    const std::vector<Rail>& next = followers_[chain.index()];
    std::vector<std::size_t> leaving;
    for (const Rail& rail : next) {
      const std::size_t column = leaving.empty() ? at : free_column(at + 1);
      if (column >= rails_.size()) rails_.resize(column + 1);
      rails_[column] = rail;
      leaving.push_back(column);
    }
    if (leaving.size() > 1) bend(at, leaving, glyphs_.branch, glyphs_.branch_last);
    drop_free_columns();
  }

  void write_rails() {
    std::string line;
    for (std::size_t i = 0; i < rails_.size(); ++i) line += (i > 0 ? " " : "") + std::string(rail(i));
    write(line, "");
  }

  void drop_free_columns() {
    while (!rails_.empty() && !rails_.back()) rails_.pop_back();
  }

  std::size_t free_column(std::size_t from) const {
    for (std::size_t i = from; i < rails_.size(); ++i)
      if (!rails_[i]) return i;
    return std::max(from, rails_.size());
  }

  std::string_view rail(std::size_t column) const {
    if (column >= rails_.size() || !rails_[column]) return " ";
    return rails_[column]->dotted ? glyphs_.dotted : glyphs_.rail;
  }

  // A line on which the rails of these columns (ascending, the first is `at`) meet.
  void bend(std::size_t at, const std::vector<std::size_t>& columns, std::string_view middle, std::string_view last) {
    std::string line;
    for (std::size_t i = 0; i <= std::max(columns.back(), rails_.empty() ? 0 : rails_.size() - 1); ++i) {
      const bool inside = i > at && i <= columns.back();
      const bool meets = std::find(columns.begin(), columns.end(), i) != columns.end();
      if (i > 0) line += inside ? glyphs_.line : " ";
      if (i == at)
        line += glyphs_.tee;
      else if (i == columns.back())
        line += last;
      else if (inside && meets)
        line += middle;
      else if (inside)
        line += rail(i) == " " ? glyphs_.line : glyphs_.cross;
      else
        line += rail(i);
    }
    write(line, "");
  }

  void write_node(ChainId chain, std::size_t at) {
    std::string line;
    for (std::size_t i = 0; i < std::max(rails_.size(), at + 1); ++i) {
      if (i > 0) line += " ";
      line += i == at ? glyphs_.node : rail(i);
    }
    std::string label;
    std::span<const NodeId> members = chains_.members(chain);
    for (NodeId node : members) {
      if (!label.empty()) label += glyphs_.arrow;
      label += graph_.path(node);
      if (label.size() > 400) break;  // of which no terminal shows the end
    }
    write(line, " " + label);
    above_ = at;
  }

  // Cut to the width of the terminal.
  void write(const std::string& line, const std::string& label) {
    above_ = none;
    std::string whole = line + label;
    while (!whole.empty() && whole.back() == ' ') whole.pop_back();
    text_ += shortened(whole) + "\n";
  }

  std::string shortened(std::string_view text) const {
    const auto columns = static_cast<int>(columns_);
    if (display_width(text) <= columns) return std::string(text);
    const int room = columns - display_width(glyphs_.more);
    std::string kept;
    for (int width = 0; !text.empty();) {
      const Character next = first_character(text);
      width += display_width(next.code_point);
      if (width > room) break;
      kept += text.substr(0, next.bytes);
      text.remove_prefix(next.bytes);
    }
    return kept + std::string(glyphs_.more);
  }

  const TaskGraph& graph_;
  const Chains& chains_;
  const Glyphs& glyphs_;
  const std::size_t columns_;
  std::vector<std::vector<Rail>> followers_;  // by chain, ascending
  std::vector<std::optional<Rail>> rails_;    // by column, from left to right
  static constexpr std::size_t none = SIZE_MAX;
  std::size_t above_ = none;  // the column of the chain on the line above, if there is one
  std::string text_;
};

}  // namespace

std::string drawing(const TaskGraph& graph, const Chains& chains, const DrawOptions& options) {
  if (graph.size() == 0) return "no tasks\n";
  return GraphDrawing(graph, chains, options).run(options.at_most);
}

}  // namespace taskspec
