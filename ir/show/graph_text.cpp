#include "ir/show/graph_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/text.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

namespace {

const char* privilege_text(Privilege privilege) {
  switch (privilege) {
    case Privilege::in:
      return "";
    case Privilege::out:
      return "out ";
    case Privilege::inout:
      return "inout ";
    case Privilege::reduce:
      return "reduce ";
  }
  return "";
}

std::string short_text(const Value& value) {
  constexpr std::size_t most = 40;
  if (value.is_array()) return value.array().type().text();
  std::string text = print(value);
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::string fields_text(const Region& region, const FieldMask& fields) {
  std::vector<std::string> names;
  fields.each([&](std::uint32_t field) { names.push_back(region.fields[field].name); });
  return ".{" + joined(names, ", ") + "}";
}

// " over 0..4 (inout own[i].{flux}, in near[f(i)].{state}, dt: 0.5)"
std::string launch_text(const TaskGraph& graph, NodeId node) {
  const Launch& launch = graph.launch(node);
  std::vector<std::string> parts;
  for (const LaunchUse& use : launch.uses) {
    const bool whole = !use.partition.valid();
    const bool own = use.projection.kind == Projection::Kind::identity;
    std::string word = use.privilege == Privilege::in ? "in " : privilege_text(use.privilege);
    if (use.privilege == Privilege::reduce)
      word = fmt::format("reduce({}) ", reduce_words[static_cast<std::size_t>(use.op)]);
    parts.push_back(word + use.name +
                    (whole ? ""
                     : own ? "[i]"
                           : "[f(i)]") +
                    fields_text(graph.regions[use.space.root], use.fields));
  }
  for (std::size_t k = 0; k < launch.each.size(); ++k) {
    if (k < launch.numbers.size() && launch.numbers[k]) {
      const bool own = launch.numbers[k]->kind == Projection::Kind::identity && launch.domain.rank == 1;
      parts.push_back(fmt::format("{}: {}", graph.slot_in(node, k), own ? "i" : "f(i)"));
      continue;
    }
    parts.push_back(fmt::format("{}: {}{}", graph.slot_in(node, k), ref_text(graph, graph.in(node)[k]),
                                launch.each[k] ? "[i]" : ""));
  }
  return (launch.single ? "" : " over " + launch.domain.text() + " ") + ("(" + joined(parts, ", ") + ")");
}

// "(x: src#0.y, axis: 0)": tensors by slot, then what the host gave.
std::string operands_text(const TaskGraph& graph, NodeId node) {
  if (is_launch(graph, node) && !graph.points(node)) return launch_text(graph, node);
  std::vector<std::string> parts;
  for (std::size_t slot = 0; slot < graph.in(node).size(); ++slot)
    parts.push_back(fmt::format("{}: {}", graph.slot_in(node, slot), ref_text(graph, graph.in(node)[slot])));
  static const std::vector<Value> hidden;  // what a structured node takes along for its body
  const std::vector<Value>& arguments = graph.definition(node).structured() ? hidden : graph.arguments(node);
  const OpDef* op = graph.definition(node).op;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k].is_none()) continue;
    bool named = op && k < op->operands.size();
    parts.push_back(named ? fmt::format("{}: {}", op->operands[k].name, short_text(arguments[k]))
                          : short_text(arguments[k]));
  }
  return "(" + joined(parts, ", ") + ")";
}

std::string outputs_text(const TaskGraph& graph, NodeId node) {
  std::vector<std::string> parts;
  for (std::size_t slot = 0; slot < graph.out(node).size(); ++slot)
    parts.push_back(fmt::format("{}: {}", graph.slot_out(node, slot), graph.type(graph.out(node)[slot]).text()));
  return joined(parts, ", ");
}

// Order edges as the reader of a graph wants them: what must have run before, and why.
std::string orders_text(const TaskGraph& graph, NodeId node) {
  std::vector<std::string> parts;
  for (const TaskEdge& edge : graph.edges_into(node)) {
    if (edge.kind != EdgeKind::order) continue;
    std::string text = graph.text(edge);  // "bump#0 -> peek#0 (RAW r)"
    parts.push_back(graph.path(edge.from) + text.substr(text.rfind(" (")));
  }
  return parts.empty() ? "" : "after " + joined(parts, ", ");
}

std::string signature_text(const TaskGraph& graph) {
  std::vector<std::string> inputs, results;
  for (const GraphInput& input : graph.inputs())
    inputs.push_back(fmt::format("{}{}: {}", privilege_text(input.privilege), input.name, input.type.text()));
  for (const GraphResult& result : graph.results())
    results.push_back(fmt::format("{}: {}", result.name, result.type.text()));
  std::string text = fmt::format("graph {}({})", graph.name, joined(inputs, ", "));
  return results.empty() ? text : text + " -> (" + joined(results, ", ") + ")";
}

// Lines whose columns stand below one another, as far as the texts are short enough for it.
std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  constexpr std::size_t widest = 56;
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (widths.size() <= k) widths.push_back(0);
      widths[k] = std::max(widths[k], std::min(widest, row[k].size()));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) line += fmt::format("  {:<{}}", row[k], widths[k]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string ref_text(const TaskGraph& graph, Ref ref) {
  switch (ref.kind) {
    case Ref::Kind::input:
      return graph.inputs()[ref.id].name;
    case Ref::Kind::field:
      return graph.place_name(graph.place(RegionId(ref.id), ref.slot));
    case Ref::Kind::future:
      return graph.path(ref.node()) + "." + graph.slot_out(ref.node(), ref.slot);
    case Ref::Kind::constant:
      break;
  }
  const Value& value = graph.constant(ref.id);
  return value.is_array() || value.is_none() ? "const " + graph.type(ref).text() : short_text(value);
}

std::string graph_text(const TaskGraph& graph) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    NodeId node(i);
    rows.push_back(
        {graph.path(node) + operands_text(graph, node), "-> " + outputs_text(graph, node), orders_text(graph, node)});
  }
  for (const GraphResult& result : graph.results()) rows.push_back({result.name + " = " + ref_text(graph, result.ref)});
  return signature_text(graph) + "\n" + table_text(rows);
}

// ---- plans ----------------------------------------------------------------------------------------

namespace {

class PlanText {
 public:
  explicit PlanText(const Plan& plan) : plan_(plan), graph_(*plan.graph), names_(plan.buffers.size()) {
    for (std::size_t t = 0; t < plan.tasks.size(); ++t)
      for (std::size_t k = 0; k < outputs(t).size(); ++k)
        names_[outputs(t)[k].index()] = ref_text(graph_, Ref::future(plan.tasks[t].node, k));
    before_.resize(plan.steps());
    for (std::size_t s = 0; s < plan.steps(); ++s)
      for (std::size_t k = plan.successor_starts[s]; k < plan.successor_starts[s + 1]; ++k)
        before_[plan.successors[k]].push_back(std::to_string(s));
  }

  std::string run() const {
    std::string text =
        fmt::format("plan {}: {} in {}\n", graph_.name, plural(graph_.size(), "task"), plural(plan_.steps(), "step"));
    text += fmt::format("arena {}, scratch {} per worker; alive at once {}, without chains {}\n",
                        plural(plan_.arena_bytes, "byte"), plural(plan_.scratch_bytes, "byte"),
                        plural(plan_.peak_bytes, "byte"), plan_.peak_without_chains);
    for (std::size_t s = 0; s < plan_.steps(); ++s) {
      text += fmt::format("\nstep {}{}{}\n", s, before_[s].empty() ? "" : " after ", joined(before_[s], ", "));
      std::vector<std::vector<std::string>> rows;
      for (std::size_t t = plan_.step_starts[s]; t < plan_.step_starts[s + 1]; ++t) {
        NodeId node = plan_.tasks[t].node;
        rows.push_back({graph_.path(node) + operands_text(graph_, node), values_text(t)});
      }
      text += table_text(rows);
    }
    for (std::size_t i = 0; i < plan_.results.size(); ++i) text += result_text(i);
    return text;
  }

 private:
  std::span<const BufferId> outputs(std::size_t t) const {
    std::size_t end = t + 1 < plan_.tasks.size() ? plan_.tasks[t + 1].first_in : plan_.operands.size();
    return std::span(plan_.operands).subspan(plan_.tasks[t].first_out, end - plan_.tasks[t].first_out);
  }

  // "y at arena 64, 16 bytes", "y over src#0.y at arena 0, 16 bytes"
  std::string values_text(std::size_t t) const {
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < outputs(t).size(); ++k) {
      const Buffer& buffer = plan_.buffers[outputs(t)[k].index()];
      std::string over = buffer.shares == UINT32_MAX ? "" : " over " + name(buffer.shares);
      parts.push_back(fmt::format("{}{} {}, {}", graph_.slot_out(plan_.tasks[t].node, k), over, home_text(buffer),
                                  plural(buffer.type->bytes(), "byte")));
    }
    return parts.empty() ? "" : "-> " + joined(parts, "; ");
  }

  std::string name(std::uint32_t buffer) const {
    if (!names_[buffer].empty()) return names_[buffer];
    const Buffer& b = plan_.buffers[buffer];
    return ref_text(graph_, b.home == Buffer::Home::input ? Ref::input(b.index) : Ref::constant(b.index));
  }

  std::string home_text(const Buffer& buffer) const {
    switch (buffer.home) {
      case Buffer::Home::input:
        return "in input " + graph_.inputs()[buffer.index].name;
      case Buffer::Home::constant:
        return "in a constant";
      case Buffer::Home::result:
        return "in result " + graph_.results()[buffer.index].name;
      case Buffer::Home::arena:
        return fmt::format("at arena {}", buffer.offset);
      case Buffer::Home::scratch:
        return fmt::format("at scratch {}", buffer.offset);
    }
    return "";
  }

  std::string result_text(std::size_t i) const {
    const Buffer& buffer = plan_.buffers[plan_.results[i].index()];
    bool copied = buffer.home != Buffer::Home::result || buffer.index != i;
    return fmt::format("\nresult {} = {}{}", graph_.results()[i].name, copied ? "copy of " : "",
                       name(plan_.results[i].value)) +
           (i + 1 == plan_.results.size() ? "\n" : "");
  }

  const Plan& plan_;
  const TaskGraph& graph_;
  std::vector<std::string> names_;                // of the outputs, by buffer
  std::vector<std::vector<std::string>> before_;  // by step
};

}  // namespace

std::string plan_text(const Plan& plan) { return PlanText(plan).run(); }

}  // namespace taskspec
