#include "ir/show/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/text.hpp"
#include "ir/show/graph_text.hpp"
#include "ir/show/picture.hpp"

namespace taskspec {

namespace {

// Hues of neighbouring chains are far apart; lightness is chosen by the stylesheet, for light and dark.
constexpr int hues = 12;

// Colours that a reader without variables of CSS can use stand first, or as attributes of the groups.
constexpr std::string_view style = R"(
svg { color-scheme: light dark; --paper: #ffffff; --ink: #1c2330; --faint: #6b7485; --box: #ffffff; --line: #59637a;
  --order: #b4552d; --band: 88%; --rim: 52%; }
@media (prefers-color-scheme: dark) { svg { --paper: #12161f; --ink: #e4e8f0; --faint: #96a0b5; --box: #1d2430;
  --line: #9aa5bc; --order: #ec9a72; --band: 24%; --rim: 55%; } }
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 11px; stroke: none; fill: #1c2330;
  fill: var(--ink); }
.paper { fill: var(--paper); }
.name { font-size: 13px; font-weight: 600; }
.small, .rule, .hazard { fill: #6b7485; fill: var(--faint); paint-order: stroke; stroke-width: 3px;
  stroke: var(--paper); }
.rule, .hazard { font-style: italic; font-size: 10px; }
.end { text-anchor: end; }
.band { stroke: hsl(var(--hue) 65% var(--band)); stroke-width: 18px; stroke-linejoin: round; }
.halo { fill: hsl(var(--hue) 65% var(--band)); stroke: none; }
.frame { fill: none; stroke: var(--faint); stroke-dasharray: 4 4; }
.type { font-size: 10px; fill: #6b7485; fill: var(--faint); }
.pill { fill: var(--paper); stroke: var(--faint); }
.box { fill: var(--box); stroke: hsl(var(--hue) 55% var(--rim)); stroke-width: 1.5; }
.control { stroke-dasharray: 6 3; }
.edge { stroke: var(--line); stroke-width: 1.2; }
.outer { stroke-width: 1; stroke: var(--faint); }
.order { stroke: var(--order); stroke-dasharray: 5 4; }
.hazard { fill: #b4552d; fill: var(--order); }
marker path { fill: var(--line); } #order-arrow path { fill: var(--order); }
)";

constexpr std::int32_t margin = 24, letter = 7;

class Svg {
 public:
  Svg(const TaskGraph& graph, const Chains& chains) : graph_(graph), chains_(chains), sheet_(picture_of(graph)) {}

  std::string run() {
    measure();
    open();
    put("<g fill=\"none\" stroke=\"#6b7485\">\n");
    for (std::size_t i = 0; i < sheet_.frames.size(); ++i) frame(ScopeId(i));
    put("</g>\n<g fill=\"#dde3ee\" stroke=\"#dde3ee\">\n");
    for (std::size_t c = 0; c < chains_.size(); ++c) band(ChainId(c));
    put("</g>\n<g fill=\"none\" stroke=\"#59637a\">\n");
    for (std::size_t e = 0; e < sheet_.edges.size(); ++e) edge(graph_.edges()[e], sheet_.edges[e]);
    for (const Picture::Line& line : sheet_.from_inputs) interface(line);
    for (const Picture::Line& line : sheet_.to_results) interface(line);
    put("</g>\n<g fill=\"#ffffff\" stroke=\"#59637a\">\n");
    for (const Picture::Pill& input : sheet_.inputs) pill(input);
    for (const Picture::Pill& result : sheet_.results) pill(result);
    for (std::size_t i = 0; i < graph_.size(); ++i) box(NodeId(i));
    for (std::size_t c = 0; c < chains_.size(); ++c) rules(ChainId(c));
    put("</g>\n");
    if (graph_.size() == 0) text(margin, margin + 40, "small", graph_.name + ": no tasks");
    return text_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
  }

  void text(std::int32_t x, std::int32_t y, std::string_view kind, const std::string& words) {
    put("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, kind, xml_text(shortened(words)));
  }

  void measure() {
    const std::int32_t title = letter * display_width(shortened(graph_.name)) + 2 * margin;
    width_ = std::max({left_ + sheet_.width + margin, title, 280});
    height_ = top_ + sheet_.height + 30 + margin;
  }

  void open() {
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n",
        width_, height_, xml_text(graph_.name), style);
    for (std::string_view id : {"arrow", "order-arrow"})
      put("<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
          "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker>\n",
          id);
    put("<rect class=\"paper\" fill=\"#ffffff\" width=\"100%\" height=\"100%\"/>\n");
    text(margin, margin + 8, "name", graph_.name);
    text(margin, margin + 24, "small", plural(graph_.size(), "task") + " in " + plural(chains_.size(), "chain"));
  }

  const LayoutBox& at(NodeId node) const { return sheet_.nodes[node.index()]; }
  int hue(ChainId chain) const { return static_cast<int>(chain.value % hues * 150 % 360); }

  // ---- scopes ----

  void frame(ScopeId scope) {
    const LayoutBox& b = sheet_.frames[scope.index()];
    if (b.width == 0) return;
    put("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n", left_ + b.x, top_ + b.y,
        b.width, b.height);
    text(left_ + b.x + 8, top_ + b.y + 16, "small", graph_.scopes()[scope.index()].name);
  }

  // ---- chains ----

  // A halo around each task and a ribbon from one to the next.
  void band(ChainId chain) {
    std::span<const NodeId> members = chains_.members(chain);
    put("<g style=\"--hue:{}\">", hue(chain));
    for (NodeId node : members) {
      const LayoutBox& b = at(node);
      put("<rect class=\"halo\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"11\"/>", left_ + b.x - 6,
          top_ + b.y - 6, b.width + 12, b.height + 12);
    }
    std::string way;
    for (std::size_t i = 1; i < members.size(); ++i) way += way_between(members[i - 1], members[i]);
    if (!way.empty()) put("<path class=\"band\" fill=\"none\" d=\"{}\"/>", way);
    put("<title>{}</title></g>\n",
        xml_text(chain_text(graph_, chains_, chain) + "\n" + first_text(graph_, chains_, chain) + "\n" +
                 last_text(graph_, chains_, chain)));
  }

  // Along the line of a value, from port to port.
  std::string way_between(NodeId from, NodeId to) const {
    const std::span<const TaskEdge> into = graph_.edges_into(to);
    for (const TaskEdge& edge : into)
      if (edge.from == from && edge.kind == EdgeKind::future)
        return way_of(sheet_.edges[static_cast<std::size_t>(&edge - graph_.edges().data())]);
    return "";
  }

  // The rules that stopped a chain: below its ends.
  void rules(ChainId chain) {
    static constexpr std::string_view names[] = {"source", "sink", "order", "input", "result", "control"};
    std::span<const NodeId> members = chains_.members(chain);
    std::string_view first = names[static_cast<std::size_t>(chains_.first(graph_, chain).rule)];
    std::string_view last = names[static_cast<std::size_t>(chains_.last(graph_, chain).rule)];
    const LayoutBox &head = at(members.front()), &tail = at(members.back());
    std::int32_t y = top_ + tail.y + tail.height + 18;
    if (members.size() == 1 && head.width < 90) {
      text(left_ + head.x, y, "rule", first == last ? std::string(first) : fmt::format("{} · {}", first, last));
      return;
    }
    text(left_ + head.x, top_ + head.y + head.height + 18, "rule", std::string(first));
    text(left_ + tail.x + tail.width, y, "rule end", std::string(last));
  }

  // ---- tasks ----

  void box(NodeId node) {
    const LayoutBox& b = at(node);
    std::int32_t x = left_ + b.x, y = top_ + b.y;
    put("<g style=\"--hue:{}\"><rect class=\"box{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
        hue(chains_.chain_of(node)), graph_.definition(node).structured() ? " control" : "", x, y, b.width, b.height);
    text(x + 10, y + 16, "name", graph_.label(node));
    auto rows = [](std::size_t slots) { return std::min(slots, BoxStyle::most_rows); };
    for (std::size_t slot = 0; slot < rows(graph_.in(node).size()); ++slot)
      text(x + 10, y + row_middle(slot) + 4, "slot", graph_.slot_in(node, slot));
    for (std::size_t slot = 0; slot < rows(graph_.out(node).size()); ++slot)
      text(x + b.width - 10, y + row_middle(slot) + 4, "slot end", graph_.slot_out(node, slot));
    put("<title>{}</title></g>\n", xml_text(graph_.path(node)));
    types(node);
  }

  // Types of what leaves it, above the lines.
  void types(NodeId node) {
    const LayoutBox& b = at(node);
    const std::int32_t x = left_ + b.x + b.width + 8, y = top_ + b.y;
    const std::vector<std::string>& types = sheet_.types[node.index()];
    for (std::size_t slot = 0; slot < std::min(types.size(), BoxStyle::most_rows); ++slot)
      if (!types[slot].empty()) text(x, y + row_middle(slot) - 3, "type", types[slot]);
    if (const std::string& orders = sheet_.orders[node.index()]; !orders.empty())
      text(x, y + BoxStyle::title / 2 - 3, "hazard", orders);
  }

  // ---- inputs and results ----

  void pill(const Picture::Pill& pill) {
    const LayoutBox& b = pill.box;
    put("<rect class=\"pill\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>\n", left_ + b.x, top_ + b.y,
        b.width, b.height, b.height / 2);
    text(left_ + b.x + 10, top_ + b.y + 15, "slot", pill.text);
  }
  void interface(const Picture::Line& line) {
    put("<path class=\"edge outer\" marker-end=\"url(#arrow)\" d=\"{}\"/>\n", way_of(line.way));
  }

  // ---- edges ----

  // Level past the boxes of a layer, bent between the layers.
  std::string way_of(const std::vector<PlanePoint>& line) const {
    std::string way = fmt::format("M{} {}", left_ + line[0].x, top_ + line[0].y);
    for (std::size_t i = 1; i < line.size(); ++i) {
      const std::int32_t x = left_ + line[i].x, y = top_ + line[i].y, middle = (left_ + line[i - 1].x + x) / 2;
      way += i % 2 == 0 ? fmt::format("L{} {}", x, y)
                        : fmt::format("C{} {} {} {} {} {}", middle, top_ + line[i - 1].y, middle, y, x, y);
    }
    return way;
  }

  void edge(const TaskEdge& edge, const std::vector<PlanePoint>& line) {
    const bool future = edge.kind == EdgeKind::future;
    put("<path class=\"edge{}\" marker-end=\"url(#{})\" d=\"{}\"><title>{}</title></path>\n", future ? "" : " order",
        future ? "arrow" : "order-arrow", way_of(line), xml_text(graph_.text(edge)));
  }

  const TaskGraph& graph_;
  const Chains& chains_;
  const Picture sheet_;
  const std::int32_t left_ = margin, top_ = margin + 40;
  std::int32_t width_ = 0, height_ = 0;
  std::string text_;
};

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    Character c = first_character(text);
    bool broken = c.code_point == 0xFFFD || c.code_point == 0xFFFE || c.code_point == 0xFFFF;
    if (broken)
      out += "\xEF\xBF\xBD";
    else if (c.code_point == '&' || c.code_point == '<' || c.code_point == '>' || c.code_point == '"' ||
             c.code_point == '\'')
      out += fmt::format("&#{};", static_cast<int>(c.code_point));
    else if ((c.code_point < 0x20 && c.code_point != '\n') || (c.code_point >= 0x7F && c.code_point < 0xA0))
      out += ' ';  // XML has no way to write them
    else
      out += text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
  }
  return out;
}

std::string to_svg(const TaskGraph& graph, const Chains& chains) { return Svg(graph, chains).run(); }

}  // namespace taskspec
