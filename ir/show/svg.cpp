#include "ir/show/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/text.hpp"
#include "ir/show/graph_layout.hpp"
#include "ir/show/graph_text.hpp"

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
.box { fill: var(--box); stroke: hsl(var(--hue) 55% var(--rim)); stroke-width: 1.5; }
.control { stroke-dasharray: 6 3; }
.edge { stroke: var(--line); stroke-width: 1.2; }
.outer { stroke-width: 1; stroke: var(--faint); }
.order { stroke: var(--order); stroke-dasharray: 5 4; }
.hazard { fill: #b4552d; fill: var(--order); }
marker path { fill: var(--line); } #order-arrow path { fill: var(--order); }
)";

constexpr std::int32_t margin = 24, letter = 7, stub = 18;

class Svg {
 public:
  Svg(const TaskGraph& graph, const Chains& chains) : graph_(graph), chains_(chains), sheet_(lay_out(graph)) {}

  std::string run() {
    measure();
    open();
    put("<g fill=\"none\" stroke=\"#6b7485\">\n");
    for (std::size_t i = 0; i < sheet_.frames.size(); ++i) frame(ScopeId(i));
    put("</g>\n<g fill=\"#dde3ee\" stroke=\"#dde3ee\">\n");
    for (std::size_t c = 0; c < chains_.size(); ++c) band(ChainId(c));
    put("</g>\n<g fill=\"none\" stroke=\"#59637a\">\n");
    for (std::size_t e = 0; e < sheet_.edges.size(); ++e) edge(graph_.edges()[e], sheet_.edges[e]);
    for (std::size_t i = 0; i < graph_.size(); ++i) interface(NodeId(i));
    put("</g>\n<g fill=\"#ffffff\" stroke=\"#59637a\">\n");
    for (std::size_t i = 0; i < graph_.size(); ++i) box(NodeId(i));
    for (std::size_t c = 0; c < chains_.size(); ++c) rules(ChainId(c));
    put("</g>\n");
    if (graph_.size() == 0) text(margin, margin + 40, "small", graph_.name + ": no tasks");
    return text_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void text(std::int32_t x, std::int32_t y, std::string_view kind, const std::string& words) {
    put("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, kind, xml_text(shortened(words)));
  }

  // Names of inputs and results stand outside of the boxes.
  void measure() {
    std::int32_t left = 0, right = 0, width = 0, height = 0;
    for (const std::vector<LayoutBox>* boxes : {&sheet_.nodes, &sheet_.frames})
      for (const LayoutBox& box : *boxes) {
        width = std::max(width, box.x + box.width);
        height = std::max(height, box.y + box.height);
      }
    first_column_ = sheet_.nodes.empty() ? 0 : INT32_MAX;
    for (const LayoutBox& box : sheet_.nodes) {
      first_column_ = std::min(first_column_, box.x);
      last_column_ = std::max(last_column_, box.x);
    }
    for (const std::vector<Point>& line : sheet_.edges)
      for (Point p : line) height = std::max(height, p.y);
    for (const GraphInput& input : graph_.inputs())
      left = std::max(left, display_width(shortened(interface_text(input))));
    for (const GraphResult& r : graph_.results()) right = std::max(right, display_width(shortened(interface_text(r))));
    std::int32_t title = letter * display_width(shortened(graph_.name)) + 2 * margin;
    left_ = margin + stub + letter * left;
    top_ = margin + 40;
    width_ = std::max({left_ + width + stub + letter * right + margin, title, 280});
    height_ = top_ + height + 30 + margin;
  }

  template <class Port>
  static std::string interface_text(const Port& port) {
    return port.name + ": " + port.type.text();
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
    if (members.size() > 1) put("<path class=\"band\" fill=\"none\" d=\"");
    for (std::size_t i = 0; i < members.size() && members.size() > 1; ++i) {
      const LayoutBox& b = at(members[i]);
      std::int32_t y = top_ + b.y + row_middle(0);
      put("{}{} {}H{}", i == 0 ? 'M' : 'L', left_ + b.x, y, left_ + b.x + b.width);
    }
    put("{}<title>{}</title></g>\n", members.size() > 1 ? "\"/>" : "",
        xml_text(chain_text(graph_, chains_, chain) + "\n" + first_text(graph_, chains_, chain) + "\n" +
                 last_text(graph_, chains_, chain)));
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
      text(left_ + head.x, y, "rule", fmt::format("{} · {}", first, last));
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
  }

  // With their types where there is room: outside of the first and the last layer.
  void interface(NodeId node) {
    const LayoutBox& b = at(node);
    std::span<const Ref> in = graph_.in(node);
    for (std::size_t slot = 0; slot < std::min(in.size(), BoxStyle::most_rows); ++slot)
      if (in[slot].kind == Ref::Kind::input) {
        std::int32_t x = left_ + b.x, y = top_ + b.y + row_middle(slot);
        put("<path class=\"edge outer\" d=\"M{} {}H{}\" marker-end=\"url(#arrow)\"/>\n", x - stub, y, x);
        const GraphInput& input = graph_.inputs()[in[slot].id];
        text(x - stub - 4, y + 4, "small end", b.x == first_column_ ? interface_text(input) : input.name);
      }
    for (const GraphResult& result : graph_.results())
      if (result.ref.is_future() && result.ref.node() == node) {
        std::int32_t x = left_ + b.x + b.width, y = top_ + b.y + row_middle(result.ref.slot);
        put("<path class=\"edge outer\" d=\"M{} {}H{}\" marker-end=\"url(#arrow)\"/>\n", x, y, x + stub);
        text(x + stub + 4, y + 4, "small", b.x + b.width >= last_column_ ? interface_text(result) : result.name);
      }
  }

  // ---- edges ----

  // Level past the boxes of a layer, bent between the layers.
  void edge(const TaskEdge& edge, const std::vector<Point>& line) {
    bool future = edge.kind == EdgeKind::future;
    put("<path class=\"edge{}\" marker-end=\"url(#{})\" d=\"M{} {}", future ? "" : " order",
        future ? "arrow" : "order-arrow", left_ + line[0].x, top_ + line[0].y);
    for (std::size_t i = 1; i < line.size(); ++i) {
      std::int32_t x = left_ + line[i].x, y = top_ + line[i].y, middle = (left_ + line[i - 1].x + x) / 2;
      if (i % 2 == 0)
        put("L{} {}", x, y);
      else
        put("C{} {} {} {} {} {}", middle, top_ + line[i - 1].y, middle, y, x, y);
    }
    put("\"><title>{}</title></path>\n", xml_text(graph_.text(edge)));
    if (future) return;
    const char* why = edge.why == Hazard::raw ? "RAW" : edge.why == Hazard::waw ? "WAW" : "WAR";
    const std::size_t bend = line[0] == line[1] ? 2 : 0;  // it may begin with a level stretch
    const Point from = line[bend], to = line[bend + 1];
    text((from.x + to.x) / 2 + left_ - 12, (from.y + to.y) / 2 + top_ - 4, "hazard", why);
  }

  const TaskGraph& graph_;
  const Chains& chains_;
  Layout sheet_;
  std::int32_t first_column_ = 0, last_column_ = 0;  // where the first and the last box begin
  std::int32_t left_ = 0, top_ = 0, width_ = 0, height_ = 0;
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
