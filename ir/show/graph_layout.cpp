#include "ir/show/graph_layout.hpp"

#include <algorithm>

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr std::int32_t title_letter = 9, slot_letter = 7, padding = 24;

std::int32_t width_of(const std::string& name) { return display_width(shortened(name)); }

}  // namespace

std::string shortened(std::string_view name, std::size_t characters) {
  std::string text;
  for (std::size_t count = 0; !name.empty(); ++count) {
    Character c = first_character(name);
    if (count + 1 >= characters && c.bytes < name.size()) return text + "…";
    text += name.substr(0, c.bytes);
    name.remove_prefix(c.bytes);
  }
  return text;
}

Extent box_of(const TaskGraph& graph, NodeId node) {
  std::size_t ins = graph.in(node).size(), outs = graph.out(node).size();
  std::size_t rows = std::min(std::max(ins, outs), BoxStyle::most_rows);
  std::int32_t left = 0, right = 0;
  for (std::size_t slot = 0; slot < std::min(ins, rows); ++slot)
    left = std::max(left, width_of(graph.slot_in(node, slot)));
  for (std::size_t slot = 0; slot < std::min(outs, rows); ++slot)
    right = std::max(right, width_of(graph.slot_out(node, slot)));
  std::int32_t title = padding + title_letter * width_of(graph.label(node));
  std::int32_t slots = padding + slot_letter * (left + right);
  return {std::max(title, slots), BoxStyle::title + BoxStyle::row * static_cast<std::int32_t>(rows) + BoxStyle::below};
}

std::int32_t row_middle(std::size_t slot) {
  return BoxStyle::title + BoxStyle::row * static_cast<std::int32_t>(std::min(slot, BoxStyle::most_rows - 1)) +
         BoxStyle::row / 2;
}

LayoutGroups scopes_of(const TaskGraph& graph) {
  LayoutGroups groups;
  const auto is_graph = [&](ScopeId scope) { return !graph.scopes()[scope.index()].parent.valid(); };
  const auto group = [&](ScopeId scope) { return is_graph(scope) ? LayoutGroups::none : scope.value; };
  for (std::size_t i = 0; i < graph.scopes().size(); ++i) {
    const Scope& scope = graph.scopes()[i];
    groups.parent.push_back(is_graph(ScopeId(i)) ? LayoutGroups::none : group(scope.parent));
    groups.width.push_back(padding + title_letter * width_of(scope.name));
  }
  for (std::size_t i = 0; i < graph.size(); ++i) groups.group.push_back(group(graph[NodeId(i)].scope));
  return groups;
}

Layout lay_out(const TaskGraph& graph) {
  std::vector<Extent> boxes;
  for (std::size_t i = 0; i < graph.size(); ++i) boxes.push_back(box_of(graph, NodeId(i)));
  auto offset = [&](NodeId node, std::size_t slot, bool future) {
    return (future ? row_middle(slot) : BoxStyle::title / 2) - boxes[node.index()].height / 2;
  };
  std::vector<LayoutEdge> edges;
  for (const TaskEdge& edge : graph.edges()) {
    bool future = edge.kind == EdgeKind::future;
    edges.push_back({edge.from.value, edge.to.value, offset(edge.from, edge.slot_from, future),
                     offset(edge.to, edge.slot_to, future)});
  }
  return lay_out(boxes, edges, scopes_of(graph));
}

}  // namespace taskspec
