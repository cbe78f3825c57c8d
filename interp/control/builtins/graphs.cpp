// Graphs as values: chains, check, edges, export.
#include "interp/control/block_contents.hpp"
#include "interp/control/block_task.hpp"
#include "interp/control/build_graph.hpp"
#include "interp/control/builtins/builtins.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/nir/net.hpp"
#include "interp/control/value_json.hpp"
#include "ir/files/files.hpp"
#include "ir/program/block_calls.hpp"
#include "ir/show/graph_text.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

// Only a graph can be looked at, and the steps of a training: a task is one node, a fn has a host part.
void want_graph(RuleContext& c) {
  const Type& type = c.type(0);
  if (type.is(Type::Kind::training)) return;
  if (!type.is(Type::Kind::task) && !type.is(Type::Kind::error)) builtins::wrong_type(c, 0, "a graph");
}

std::unique_ptr<GraphView> view(HostContext& host, const Value& value, ViewContents contents = ViewContents::none) {
  if (auto* own = dynamic_cast<HasGraph*>(value.object().get()))
    return own->graph(*host.interpreter, contents, host.span);
  auto* callable = value.as<Callable>();
  const bool is_graph = callable && host.program[callable->function].kind == FunctionKind::graph;
  if (!is_graph && !value.as<ComposedTask>()) throw failure("E1004", {}, "expected a graph, found " + print(value));
  return build_graph(*host.interpreter, value, contents);
}

Type chains_type(RuleContext& c) {
  want_graph(c);
  return Type::list(Type::list(Type::Kind::string));
}

Value run_chains(HostContext& host, std::span<const Value> values) {
  auto g = view(host, values[0]);
  Chains chains = aggregate(g->graph);
  List result;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    List names;
    for (NodeId node : chains.members(ChainId(i))) names.push_back(Value::name(g->graph.definition(node).title()));
    result.push_back(Value(std::move(names)));
  }
  return Value(std::move(result));
}

Value run_why(HostContext& host, std::span<const Value> values) {
  auto g = view(host, values[0]);
  Chains chains = aggregate(g->graph);
  List lines;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    ChainId chain(i);
    lines.push_back(Value::name(chain_text(g->graph, chains, chain) + " " + first_text(g->graph, chains, chain) + "; " +
                                last_text(g->graph, chains, chain)));
  }
  return Value(std::move(lines));
}

Type why_type(RuleContext& c) {
  want_graph(c);
  return Type::list(Type::Kind::string);
}

Type edges_type(RuleContext& c) {
  want_graph(c);
  if (const Value* kind = c.constant(1))
    if (const std::string& k = kind->string(); !k.empty() && k != "future" && k != "order")
      c.fail("E1003", "no kind of edge is called " + in_quotes(k), 1, "future or order; leave it out for both");
  return Type::list(Type::Kind::string);
}

Value run_edges(HostContext& host, std::span<const Value> values) {
  auto g = view(host, values[0]);
  const std::string& kind = values[1].string();
  List result;
  for (const TaskEdge& edge : g->graph.edges())
    if (kind.empty() || (kind == "order") == (edge.kind == EdgeKind::order))
      result.push_back(Value::name(g->graph.text(edge)));
  return Value(std::move(result));
}

Type check_type(RuleContext& c) {
  want_graph(c);
  Type record(Type::Kind::record);
  record.names = {"acyclic", "tasks", "chains", "depth"};
  record.parts = {Type::Kind::boolean, Type::Kind::integer, Type::Kind::integer, Type::Kind::integer};
  return record;
}

Value run_check(HostContext& host, std::span<const Value> values) {
  auto g = view(host, values[0]);
  Chains chains = aggregate(g->graph);
  // Depth: tasks on the longest path. Predecessors have smaller ids, so one pass is enough.
  std::vector<std::int64_t> depth(g->graph.size(), 1);
  std::int64_t deepest = 0;
  for (std::size_t i = 0; i < depth.size(); ++i) {
    for (const TaskEdge& edge : g->graph.edges_into(NodeId(i)))
      depth[i] = std::max(depth[i], depth[edge.from.index()] + 1);
    deepest = std::max(deepest, depth[i]);
  }
  auto record = std::make_shared<Record>();
  record->fields = {{"acyclic", Value(is_acyclic(g->graph))},
                    {"tasks", Value(static_cast<std::int64_t>(g->graph.size()))},
                    {"chains", Value(static_cast<std::int64_t>(chains.size()))},
                    {"depth", Value(deepest)}};
  return Value(std::static_pointer_cast<Object>(record));
}

Type export_type(RuleContext& c) {
  want_graph(c);
  builtins::want(c, 1, Type::Kind::string, "a path");
  return Type::Kind::none;
}

// That of an `ir` declaration, or one that a net was lowered to, in a format of others; the forms of graphs are written
// for a graph that calls the first, and for a call of the second.
bool export_blocks(HostContext& host, const Value& value, const std::string& path) {
  if (!host.write_blocks) return false;
  if (auto* blocks = value.as<BlockTask>(); blocks && !is_graph_form(path)) {
    if (host.is_seen()) host.write_blocks(blocks->lowered().graph, path);
    return true;
  }
  auto* callable = value.as<Callable>();
  if (!callable || !blocks_of(host.program, callable->function)) return false;
  const auto graph = with_contents(*host.interpreter, callable->function, callable->agent, host.span);
  if (host.is_seen()) host.write_blocks(*graph, path);
  return true;
}

Value run_export(HostContext& host, std::span<const Value> values) {
  // What a graph holds, all replicas receive; one of them writes it.
  if (export_blocks(host, values[0], values[1].string())) return builtins::written(host);
  if (host.write_nir && values[1].string().ends_with(".nir")) {
    auto* callable = values[0].as<Callable>();
    const bool is_alone = callable && callable->agent.is_none() && callable->captures.empty() &&
                          host.program[callable->function].kind == FunctionKind::graph;
    const auto step = is_alone ? nir_view(*host.interpreter, callable->function)
                               : view(host, values[0], contents_for(values[1].string()));
    if (host.is_seen()) host.write_nir(nir_net(host.program, *step), values[1].string());
    return builtins::written(host);
  }
  auto g = view(host, values[0], contents_for(values[1].string()));
  if (host.is_seen()) export_graph(host.program, *g, values[1].string());
  return builtins::written(host);
}

bool is_record(const Type& type) { return type.is(Type::Kind::record); }

Type export_record_type(RuleContext& c) {
  builtins::want(c, 1, Type::Kind::string, "a path");
  return Type::Kind::none;
}

Value run_export_record(HostContext& host, std::span<const Value> values) {
  const std::string& path = values[1].string();
  if (!path.ends_with(".json")) throw failure("E7003", {}, "'" + path + "' names no form of a record; end it in .json");
  if (host.is_seen()) write_text(path, value_json(values[0]) + "\n");
  return builtins::written(host);
}

constexpr Operand graph_operand[] = {{"g", OperandKind::value}};
constexpr Operand edges_operands[] = {{"g", OperandKind::value}, {"kind", OperandKind::string, ""}};
constexpr Operand export_operands[] = {{"g", OperandKind::value}, {"path", OperandKind::string}};
constexpr Operand export_record_operands[] = {{"r", OperandKind::value}, {"path", OperandKind::string}};

}  // namespace

constinit const Builtin builtin_chains = BuiltinFields{
    .name = "chains",
    .operands = graph_operand,
    .doc =
        "The chains of a graph: lists of task names, in program order of their first tasks. Slots of agents made "
        "outside of it have their first values before it runs; those of agents made inside are tasks of it.",
    .example =
        "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
        "graph g(x: f32[N]) -> (y: f32[N]) { y = inc(inc(x).y).y }\nprint(chains(g))\n// expect: [[inc, inc]]",
    .type = chains_type,
    .run = run_chains,
    .runs_in = RunsIn::asked};

constinit const Builtin builtin_edges = BuiltinFields{
    .name = "edges",
    .operands = edges_operands,
    .doc =
        "The edges of a graph as text: futures as src#0.y -> inc#0.x, orders as bump#0 -> peek#0 (RAW r). "
        "kind is \"future\", \"order\" or left out.",
    .example =
        "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
        "graph g(x: f32[N]) -> (y: f32[N]) { y = inc(inc(x).y).y }\nprint(edges(g))\n// expect: [inc#0.y -> inc#1.x]",
    .type = edges_type,
    .run = run_edges,
    .runs_in = RunsIn::asked};

constinit const Builtin builtin_check = BuiltinFields{
    .name = "check",
    .operands = graph_operand,
    .doc = "What can be said about a graph before it runs: acyclic, tasks, chains, depth (tasks on the longest path).",
    .example =
        "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
        "graph g(x: f32[N]) -> (y: f32[N]) { y = inc(inc(x).y).y }\nprint(check(g).depth)\n// expect: 2",
    .type = check_type,
    .run = run_check,
    .runs_in = RunsIn::asked};

constinit const Builtin builtin_why =
    BuiltinFields{.name = "why",
                  .operands = graph_operand,
                  .doc =
                      "For each chain of a graph, in one line: its tasks, and by which rule and because of which tasks "
                      "it begins and ends there.",
                  .example =
                      "task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"
                      "graph g(x: f32[N]) -> (y: f32[N]) { y = inc(inc(x).y).y }\nfor line in why(g) { print(line) }\n"
                      "// expect: [inc, inc] starts with inc#0, because it needs only inputs and constants (input); "
                      "ends with inc#1, because it is the result y (result)",
                  .type = why_type,
                  .run = run_why,
                  .runs_in = RunsIn::asked};

constinit const Builtin builtin_export =
    BuiltinFields{.name = "export",
                  .operands = export_operands,
                  .doc =
                      "Writes a graph by suffix: .json (the published schema), .dot (Graphviz), .svg (a picture) or "
                      ".html (a page to walk "
                      "through), whole or not at all; blocks of an `ir` declaration or of a net that was lowered also "
                      "to .task.txt and .task.pb (Task IR files), one time step of a spiking network, in the words of "
                      "module nir, to .nir (E4037). It says what the text says: slots of agents have their first "
                      "values in it, also when the program has changed them. Of a training it is the graph of its last "
                      "step: what its tasks do, not what its weights hold. A composite goes to .dot, .svg and .html.",
                  .example =
                      "graph g(x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\nexport(g, \"export_example.json\")\n"
                      "print(len(read(\"export_example.json\")) > 0)\n// expect: true",
                  .type = export_type,
                  .effect = Effect::host,
                  .run = run_export,
                  .runs_in = RunsIn::asked,
                  .takes = [](const Type& first) { return !is_record(first); }};

constinit const Builtin builtin_export_record = BuiltinFields{
    .name = "export",
    .operands = export_record_operands,
    .doc =
        "Writes a record, such as m.cost, check(g) or the report of a run, as JSON: an object with its fields in their "
        "order, whole or not at all. E7003 for a path that does not end in .json.",
    .example =
        "graph g(x: f32[2]) -> (y: f32[2]) { y = x + 1.0 }\nexport(check(g), \"export_record_example.json\")\n"
        "print(split(read(\"export_record_example.json\"), \"\\n\")[0])\n"
        "// expect: {\"acyclic\":true,\"tasks\":1,\"chains\":1,\"depth\":1}",
    .type = export_record_type,
    .effect = Effect::host,
    .run = run_export_record,
    .takes = is_record};

}  // namespace taskspec
