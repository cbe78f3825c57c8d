#include <fmt/format.h>

#include <unordered_map>

#include "ir/graph/launch.hpp"
#include "ir/json/blocks.hpp"
#include "ir/json/body.hpp"
#include "ir/json/format.hpp"
#include "ir/json/json.hpp"
#include "ir/json/recorded.hpp"
#include "ir/program/block_calls.hpp"
#include "ir/program/top_level.hpp"
#include "ir/show/graph_layout.hpp"

namespace taskspec {

namespace {

class GraphWriter {
 public:
  GraphWriter(const Program& program, FunctionId function, const TaskGraph& graph, const Chains& chains, bool contents)
      : contents_(contents),
        program_(function.valid() ? with_needed_top_level(program, function)
                                  : with_needed_top_level(program, embedded_functions(graph))),
        function_(function),
        graph_(graph),
        chains_(chains),
        defs_(program_, function, graph),
        insides_(program_, defs_) {}

  std::string run(const Plan* plan) {
    out_.open('{').line().member("format", graph_format).line().member("version", graph_version);
    out_.line().member("name", graph_.name);
    inputs();
    results();
    list("defs", defs_.all().size(), [&](std::size_t i) { def(i); });
    list("scopes", graph_.scopes().size(), [&](std::size_t i) { scope(i); });
    list("nodes", graph_.size(), [&](std::size_t i) { node(NodeId(i)); });
    list("edges", graph_.edges().size(), [&](std::size_t i) { edge(i); });
    list("chains", chains_.size(), [&](std::size_t i) { chain(ChainId(i)); });
    list("agents", graph_.agents().size(), [&](std::size_t i) { agent(i); });
    list("consts", graph_.constant_count(), [&](std::size_t i) { constant(i); });
    put_regions(out_, graph_);
    blocks();
    if (!contents_) insides_.put(out_.line());
    if (plan) put_plan(out_, *plan);
    spans();
    layout();
    return out_.line().close('}').take() + "\n";
  }

 private:
  template <class Element>
  void list(const char* key, std::size_t count, const Element& element) {
    out_.line().key(key).open('[');
    for (std::size_t i = 0; i < count; ++i) element(i);
    if (count > 0) out_.line();
    out_.close(']');
  }
  void number(const char* key, std::size_t value) { out_.member(key, static_cast<std::int64_t>(value)); }

  void def(std::size_t i) {
    if (contents_) return put_def(out_, program_, graph_, defs_, i);
    const Def& def = defs_.all()[i];
    if (def.kind == Def::Kind::fields) return put_def(out_, program_, graph_, defs_, i);
    bool function = def.kind == Def::Kind::function, agent = def.kind == Def::Kind::agent;
    out_.line().open('{');
    number("id", i);
    out_.member("kind", function ? function_kind_name(program_[def.function].kind) : agent ? "agent" : "op");
    out_.member("name", function ? program_.display_name(def.function)
                        : agent  ? program_[def.agent].name
                        : def.op ? std::string(def.op->name)
                                 : graph_.definitions()[def.native.index()].title());
    out_.close('}');
  }

  // ---- interface ----

  void inputs() {
    list("inputs", graph_.inputs().size(), [&](std::size_t i) {
      const GraphInput& input = graph_.inputs()[i];
      out_.line()
          .open('{')
          .member("name", input.name)
          .member("type", input.type.text())
          .member("priv", privilege_name(input.privilege))
          .close('}');
    });
  }

  void results() {
    list("results", graph_.results().size(), [&](std::size_t i) {
      const GraphResult& result = graph_.results()[i];
      out_.line().open('{').member("name", result.name).member("type", result.type.text()).key("ref");
      ref(result.ref, {});
      out_.close('}');
    });
  }

  // The outermost scope is the graph itself.
  void scope(std::size_t i) {
    const Scope& scope = graph_.scopes()[i];
    FunctionId function = scope.parent.valid() ? scope.function : function_;
    out_.line().open('{');
    number("id", i);
    out_.key("parent");
    if (scope.parent.valid())
      out_.number(scope.parent.value);
    else
      out_.null();
    out_.member("name", scope.parent.valid() ? scope.name : graph_.name).key("def");
    if (function.valid())
      out_.number(static_cast<std::int64_t>(defs_.of(function)));
    else
      out_.null();
    out_.close('}');
  }

  // ---- nodes ----

  void node(NodeId id) {
    const TaskNode& node = graph_[id];
    const Definition& definition = graph_.definition(id);
    out_.line().open('{');
    number("id", id.index());
    out_.member("name", graph_.label(id));
    number("def", defs_.of_node(node.definition));
    number("scope", node.scope.index());
    if (node.agent.valid() && node.agent.index() < graph_.agents().size()) number("agent", node.agent.index());
    out_.key("args").open('{');
    const bool is_launch = definition.kind == Definition::Kind::launch;  // or one of its points, which has no such part
    if (!definition.structured() && !is_launch) arguments(definition, graph_.arguments(id));
    out_.close('}');
    if (is_launch && !graph_.arguments(id).empty())
      if (auto* launch = graph_.arguments(id).front().as<Launch>()) put_launch(out_, graph_, *launch);
    out_.key("in").open('[');
    std::span<const Ref> in = graph_.in(id);
    for (std::size_t slot = 0; slot < in.size(); ++slot) {
      out_.open('{').member("slot", graph_.slot_in(id, slot)).key("ref");
      ref(in[slot], id);
      out_.close('}');
    }
    out_.close(']').key("out").open('[');
    for (std::size_t slot = 0; slot < graph_.out(id).size(); ++slot)
      out_.open('{').member("slot", graph_.slot_out(id, slot)).member("type", type_of(graph_.out(id)[slot])).close('}');
    out_.close(']');
    number("chain", chains_.chain_of(id).index());
    number("steps", chains_.steps(id));
    if (!contents_ && definition.structured()) inside(definition);
    if (contents_ && definition.structured() && definition.function.valid())
      put_structure(out_, program_, defs_, definition);
    out_.close('}');
  }

  void inside(const Definition& definition) {
    out_.key("control").boolean(true);
    if (definition.function.valid()) number("inside", insides_.of(definition));
  }

  // A million nodes have a handful of types.
  const std::string& type_of(TypeId id) {
    if (type_texts_.size() <= id.index()) type_texts_.resize(id.index() + 1);
    std::string& text = type_texts_[id.index()];
    if (text.empty()) text = graph_.type(id).text();
    return text;
  }

  // Host operands by name: attributes of an op, scalar parameters of a task.
  void arguments(const Definition& definition, const std::vector<Value>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].is_none()) continue;
      out_.key(argument_name(definition, i));
      put_value(out_, values[i], values[i].is_real() ? Type::Kind::real : Type::Kind::none,
                [](const Type& type) { return type.text(); });
    }
  }

  std::string argument_name(const Definition& definition, std::size_t i) const {
    if (definition.function.valid() && i < program_[definition.function].parameters.size())
      return program_[definition.function].parameters[i].name;
    if (!definition.op || definition.op->operands.empty()) return "a" + std::to_string(i);
    std::span<const Operand> operands = definition.op->operands;
    if (i + 1 < operands.size() || !operands.back().variadic) return std::string(operands[i].name);
    return fmt::format("{}[{}]", operands.back().name, i + 1 - operands.size());
  }

  // ---- references and edges ----

  void ref(Ref ref, NodeId reader) {
    out_.open('{');
    if (ref.kind == Ref::Kind::constant) {
      number("const", ref.id);
    } else if (ref.kind == Ref::Kind::input) {
      number("input", ref.id);
    } else if (ref.kind == Ref::Kind::field) {
      number("region", ref.id);
      out_.member("view", graph_.regions[RegionId(ref.id)].fields[ref.slot].name);
    } else {
      if (ref.through_place && reader.valid()) place(ref, reader);
      number("node", ref.id);
      out_.member("slot", graph_.slot_out(ref.node(), ref.slot));
    }
    out_.close('}');
  }

  // A version of a place: that which the node of `ref` wrote.
  void place(Ref ref, NodeId reader) {
    std::string slot = graph_.slot_out(ref.node(), ref.slot);
    PlaceId place;
    for (const TaskEdge& edge : graph_.edges_into(reader)) {
      if (edge.kind != EdgeKind::order || edge.from != ref.node() || edge.why != Hazard::raw) continue;
      const std::string& name = graph_.place_name(edge.place);
      if (!place.valid() || name == slot || name.ends_with("." + slot)) place = edge.place;
    }
    if (!place.valid()) return;
    out_.member("place", graph_.place_name(place)).member("version", version(ref.node(), place));
  }

  // How often the place was written when `writer` was done; writers before it have smaller ids.
  std::int64_t version(NodeId writer, PlaceId place) {
    std::vector<std::uint64_t> way;
    std::int64_t known = 0;
    for (NodeId at = writer; at.valid();) {
      std::uint64_t key = std::uint64_t{place.value} << 32 | at.value;
      if (auto found = versions_.find(key); found != versions_.end()) {
        known = found->second;
        break;
      }
      way.push_back(key);
      NodeId before;
      for (const TaskEdge& edge : graph_.edges_into(at))
        if (edge.kind == EdgeKind::order && edge.place == place && edge.why != Hazard::war) before = edge.from;
      at = before;
    }
    for (; !way.empty(); way.pop_back()) versions_[way.back()] = ++known;
    return known;
  }

  void edge(std::size_t i) {
    const TaskEdge& edge = graph_.edges()[i];
    out_.line().open('{');
    number("id", i);
    out_.member("kind", edge.kind == EdgeKind::future ? "future" : "order");
    number("from", edge.from.index());
    number("to", edge.to.index());
    if (edge.kind == EdgeKind::future) {
      out_.member("slot_from", graph_.slot_out(edge.from, edge.slot_from));
      out_.member("slot_to", graph_.slot_in(edge.to, edge.slot_to));
    } else {
      out_.member("why", edge.why == Hazard::raw ? "RAW" : edge.why == Hazard::waw ? "WAW" : "WAR");
      out_.member("place", graph_.place_name(edge.place));
    }
    out_.close('}');
  }

  void chain(ChainId id) {
    out_.line().open('{');
    number("id", id.index());
    out_.key("nodes").open('[');
    for (NodeId node : chains_.members(id)) out_.number(node.value);
    out_.close(']').member("first", stop_name(chains_.first(graph_, id).rule));
    out_.member("last", stop_name(chains_.last(graph_, id).rule)).close('}');
  }

  // ---- tables ----

  void agent(std::size_t i) {
    const AgentInstance& instance = graph_.agents()[i];
    const AgentDef& def = program_[instance.definition];
    out_.line().open('{');
    number("id", i);
    number("def", defs_.of(instance.definition));
    out_.member("name", fmt::format("{}#{}", instance.path, agent_counts_[instance.path]++)).key("args").open('{');
    for (std::size_t k = 0; k < instance.arguments.size() && k < def.parameters.size(); ++k) {
      out_.key(def.parameters[k].name);
      put_value(out_, instance.arguments[k], def.parameters[k].type, [](const Type& type) { return type.text(); });
    }
    out_.close('}').key("slots").open('[');
    slots(instance, "");
    out_.close(']').close('}');
  }

  // Its own ones, and behind them those of the agents that it holds, by path: "c1.w".
  void slots(const AgentInstance& instance, const std::string& path) {
    for (const Slot& slot : program_[instance.definition].slots) {
      if (slot.kind == SlotKind::layer) continue;
      out_.open('{').member("name", path + slot.name).member("kind", slot_kind_name(slot.kind));
      out_.member("type", slot.type.text()).close('}');
    }
    for (const auto& [name, inner] : instance.layers)
      if (graph_.agents().contains(inner.index())) slots(graph_.agents()[inner.index()], path + name + ".");
  }

  void constant(std::size_t i) {
    const Value& value = graph_.constant(i);
    out_.line().open('{');
    number("id", i);
    out_.member("type", graph_.constant_type(i).text());
    if (!contents_) {
      // its type is enough to look at it
    } else if (value.is_array()) {
      put_data(out_, value.array());
    } else {
      out_.key("value");
      put_value(out_, value, graph_.constant_type(i), [](const Type& type) { return type.text(); });
    }
    out_.close('}');
  }

  // Graphs of Task IR blocks, each with the nodes that run it.
  void blocks() {
    std::map<std::uint32_t, std::vector<NodeId>> nodes;  // by function
    for (std::size_t i = 0; i < graph_.size(); ++i)
      if (const FunctionId function = graph_.definition(NodeId(i)).function; blocks_of(program_, function))
        nodes[function.value].push_back(NodeId(i));
    out_.line().key("blocks").open('[');
    for (const auto& [function, list] : nodes) {
      out_.line().open('{').key("nodes").open('[');
      for (NodeId node : list) out_.number(node.value);
      out_.close(']').key("graph");
      put_block_graph(out_, *blocks_of(program_, FunctionId(function)));
      out_.close('}');
    }
    if (!nodes.empty()) out_.line();
    out_.close(']');
  }

  // ---- places in the text ----

  void spans() {
    SpanWriter spans(out_, program_.sources);
    for (std::size_t i = 0; i < graph_.size(); ++i) spans.note(graph_[NodeId(i)].span);
    std::vector<Def> with_spans = contents_ ? defs_.all() : std::vector<Def>();
    for (const Def& def : with_spans) {
      spans.note(span_of(def));
      for (Span span : call_spans(def)) spans.note(span);
    }
    out_.line().key("spans").open('{').line().key("files").open('[');
    for (const std::string& path : spans.paths()) out_.string(path);
    out_.close(']').line().key("nodes").open('[');
    for (std::size_t i = 0; i < graph_.size(); ++i) spans.put(graph_[NodeId(i)].span);
    out_.close(']').line().key("defs").open('[');
    for (const Def& def : with_spans) {
      out_.line().open('{').key("at");
      spans.put(span_of(def));
      out_.key("calls").open('[');
      for (Span span : call_spans(def)) spans.put(span);
      out_.close(']').close('}');
    }
    out_.close(']').close('}');
  }

  Span span_of(const Def& def) const {
    if (def.kind == Def::Kind::function) return program_[def.function].span;
    if (def.kind == Def::Kind::fields) return program_[def.fields].span;
    return def.kind == Def::Kind::agent ? program_[def.agent].span : Span();
  }

  std::vector<Span> call_spans(const Def& def) const {
    std::vector<Span> spans;
    if (def.kind == Def::Kind::native) return line_spans(graph_.definitions()[def.native.index()]);
    if (def.kind == Def::Kind::function)
      for (CallId id : defs_.numbers(def.function).call_order) spans.push_back(program_[def.function][id].span);
    return spans;
  }

  void layout() {
    Layout sheet = lay_out(graph_);
    out_.line().key("layout").open('{').line().key("nodes").open('[');
    for (const LayoutBox& box : sheet.nodes)
      out_.open('[').number(box.x).number(box.y).number(box.width).number(box.height).close(']');
    out_.close(']').line().key("scopes").open('[');  // their frames
    for (const LayoutBox& frame : sheet.frames) {
      if (frame.width == 0)
        out_.null();
      else
        out_.open('[').number(frame.x).number(frame.y).number(frame.width).number(frame.height).close(']');
    }
    out_.close(']').line().key("edges").open('[');
    for (const std::vector<PlanePoint>& line : sheet.edges) {
      out_.open('[');
      for (PlanePoint point : line) out_.open('[').number(point.x).number(point.y).close(']');
      out_.close(']');
    }
    out_.close(']').close('}');
  }

  bool contents_;
  const Program program_;
  FunctionId function_;
  const TaskGraph& graph_;
  const Chains& chains_;
  Defs defs_;
  InsideTable insides_;
  JsonText out_;
  std::vector<std::string> type_texts_;
  std::unordered_map<std::uint64_t, std::int64_t> versions_;  // (place, writer); only looked up
  std::map<std::string, int> agent_counts_;
};

}  // namespace

std::string graph_json(const Program& program, FunctionId function, const TaskGraph& graph, const Chains& chains,
                       const Plan* plan, bool contents) {
  return GraphWriter(program, function, graph, chains, contents).run(plan);
}

}  // namespace taskspec
