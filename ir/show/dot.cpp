#include "ir/show/dot.hpp"

#include <fmt/format.h>

namespace taskspec {

namespace {

// Any bytes as a DOT string: names from C++ may hold quotes, backslashes (escapes in labels) and line ends.
std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    out += control ? ' ' : c;
  }
  return out + '"';
}

class Dot {
 public:
  Dot(const TaskGraph& graph, const Chains& chains) : graph_(graph), chains_(chains) {}

  std::string run() {
    text_ = fmt::format(
        "digraph {} {{\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n",
        dot_quoted(graph_.name));
    for (std::size_t i = 0; i < graph_.inputs().size(); ++i)
      add_port("in", i, graph_.inputs()[i].name, graph_.inputs()[i].type);
    for (std::size_t c = 0; c < chains_.size(); ++c) add_chain(ChainId(c));
    for (std::size_t i = 0; i < graph_.results().size(); ++i)
      add_port("out", i, graph_.results()[i].name, graph_.results()[i].type);
    for (std::size_t i = 0; i < graph_.size(); ++i) add_inputs(NodeId(i));
    for (const TaskEdge& edge : graph_.edges()) add_edge(edge);
    for (std::size_t i = 0; i < graph_.results().size(); ++i) add_result(i);
    return text_ + "}\n";
  }

 private:
  void add_port(const char* kind, std::size_t i, const std::string& name, const Type& type) {
    text_ += fmt::format("  {}{} [label={}, shape=plaintext];\n", kind, i, dot_quoted(name + ": " + type.text()));
  }

  void add_chain(ChainId chain) {
    text_ += fmt::format("  subgraph cluster_{} {{\n    label=\"chain {}\"; color=gray; fontsize=10;\n", chain.value,
                         chain.value);
    for (NodeId node : chains_.members(chain))
      text_ += fmt::format("    t{} [label={}{}];\n", node.value, dot_quoted(graph_.path(node)),
                           graph_.definition(node).structured() ? ", shape=hexagon" : "");
    text_ += "  }\n";
  }

  void add_inputs(NodeId node) {
    std::span<const Ref> in = graph_.in(node);
    for (std::size_t slot = 0; slot < in.size(); ++slot)
      if (in[slot].kind == Ref::Kind::input)
        text_ += fmt::format("  in{} -> t{} [label={}, color=gray];\n", in[slot].id, node.value,
                             dot_quoted(graph_.slot_in(node, slot)));
  }

  void add_edge(const TaskEdge& edge) {
    if (edge.kind == EdgeKind::future) {
      std::string slots = graph_.slot_out(edge.from, edge.slot_from) + " -> " + graph_.slot_in(edge.to, edge.slot_to);
      text_ += fmt::format("  t{} -> t{} [label={}];\n", edge.from.value, edge.to.value, dot_quoted(slots));
    } else {
      const char* why = edge.why == Hazard::raw ? "RAW" : edge.why == Hazard::waw ? "WAW" : "WAR";
      text_ += fmt::format("  t{} -> t{} [label={}, style=dashed];\n", edge.from.value, edge.to.value,
                           dot_quoted(fmt::format("{} {}", why, graph_.place_name(edge.place))));
    }
  }

  void add_result(std::size_t i) {
    Ref ref = graph_.results()[i].ref;
    if (ref.is_future())
      text_ += fmt::format("  t{} -> out{} [label={}, color=gray];\n", ref.id, i,
                           dot_quoted(graph_.slot_out(ref.node(), ref.slot)));
    else if (ref.kind == Ref::Kind::input)
      text_ += fmt::format("  in{} -> out{} [color=gray];\n", ref.id, i);
  }

  const TaskGraph& graph_;
  const Chains& chains_;
  std::string text_;
};

}  // namespace

std::string to_dot(const TaskGraph& graph, const Chains& chains) { return Dot(graph, chains).run(); }

}  // namespace taskspec
