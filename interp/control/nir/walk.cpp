#include "interp/control/nir/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interp/control/immediate.hpp"
#include "ir/base/ascii.hpp"
#include "ir/base/text.hpp"

namespace taskspec::nir_walk {

std::int64_t volume(const Extents& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

std::string shape_text(const Extents& shape) {
  std::vector<std::string> words;
  for (const std::int64_t extent : shape) words.push_back(std::to_string(extent));
  return "[" + joined(words, ", ") + "]";
}

// A number of its own stays one.
Array reshaped(const Array& array, const Extents& shape) {
  return array.elements() == volume(shape) ? Array::wrap({array.precision(), shape}, array.storage()) : array;
}

Walk::Walk(const Program& program, const GraphView& view) : program_(program), view_(view) {}

NirNet Walk::run() {
  const TaskGraph& graph = view_.graph;
  note_uses();
  note_time_step();
  note_backward_edges();
  for (std::size_t i = 0; i < graph.constant_count(); ++i) {
    const Value& value = graph.constant(i);
    constants_.push_back(back_of(Ref::constant(i)) ? read_place(Ref::constant(i), graph.constant_type(i))
                         : value.is_array()        ? Seen(Known{value.array(), value.array()})
                                                   : Seen(Refused{}));
  }
  add_inputs();
  for (std::size_t i = 0; i < graph.size(); ++i) read(NodeId(i));
  add_results();
  if (diags_.has_errors()) throw Error(std::move(diags_));
  name_the_rest();
  add_edges();
  for (const auto& [name, values] : choices_)
    net_.notes.push_back(fmt::format("{} {} is not in the file: who imports it says so", name,
                                     joined(std::vector<std::string>(values.begin(), values.end()), ", ")));
  return std::move(net_);
}

void Walk::refuse(Span span, const std::string& what, const std::string& why) {
  diags_.error("E4037", span, fmt::format("{}: {}", what, why));
}

// ---- what is known before ---------------------------------------------------------------------------

void Walk::note_uses() {
  const TaskGraph& graph = view_.graph;
  for (std::size_t i = 0; i < graph.size(); ++i) uses_.emplace_back(graph.out(NodeId(i)).size());
  auto use = [&](Ref ref) {
    if (ref.is_future()) ++uses_[ref.node().index()][ref.slot];
  };
  for (std::size_t i = 0; i < graph.size(); ++i)
    for (const Ref ref : graph.in(NodeId(i))) use(ref);
  for (const GraphResult& result : graph.results()) use(result.ref);
}

namespace {

bool is_of_nir(const Program& program, const Definition& definition) {
  if (definition.kind != Definition::Kind::task) return false;
  const std::string& module = program.modules[program[definition.function].module.index()].name;
  return module == "nir" || module == "nir64";
}

}  // namespace

// A value that is kept in a slot for the next step is an edge backwards, to wherever the slot is read.
void Walk::note_backward_edges() {
  const TaskGraph& graph = view_.graph;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeId id(i);
    const Definition& definition = graph.definition(id);
    if (!is_of_nir(program_, definition) || !is_keeper(program_[definition.function].name)) continue;
    if (definition.outputs.size() > 1 && uses_[i][0] > 0) continue;  // a Delay
    back_.push_back({graph.in(id)[1], graph.in(id)[0]});
  }
}

// That of the first factor; or a let `dt`, of a net in which only delays know it.
void Walk::note_time_step() {
  const TaskGraph& graph = view_.graph;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Definition& definition = graph.definition(NodeId(i));
    if (!is_of_nir(program_, definition) || program_[definition.function].name != "factor") continue;
    for (const Value& argument : graph.arguments(NodeId(i)))
      if (argument.is_number()) {
        choices_["dt"].insert(fmt::format("{}", argument.real()));
        if (choices_["dt"].size() == 1) dt_ = argument.real();
      }
  }
  if (!choices_.contains("dt"))
    for (const Module& module : program_.modules)
      for (const Function& top = program_[module.top_level]; const Call& call : top.calls)
        if (call.form == Form::write && call.variable.valid() && top.variables[call.variable.index()].name == "dt" &&
            top[call.in[0]].form == Form::constant && top[call.in[0]].value.is_number())
          dt_ = top[call.in[0]].value.real();
}

void Walk::add_inputs() {
  for (const GraphInput& input : view_.graph.inputs()) {
    if (!input.type.is_tensor() || input.type.has_symbols()) {
      refuse({}, "input '" + input.name + "'",
             "it is " + input.type.text() + ", and NIR wants numbers for its extents");
      inputs_.emplace_back(Refused{});
      continue;
    }
    const Extents shape = concrete(input.type).extents;
    Array extents = Array::make({Precision::i64, {static_cast<std::int64_t>(shape.size())}});
    for (std::size_t i = 0; i < shape.size(); ++i) extents.set_integer(static_cast<std::int64_t>(i), shape[i]);
    Signal none;
    none.whole = none.shape = shape;
    inputs_.emplace_back(add("Input", none, shape, {{"shape", extents}}));
    net_.nodes.back().name = input.name;
  }
}

// ---- what readers ask -------------------------------------------------------------------------------

std::optional<std::size_t> Walk::back_of(Ref place) const {
  for (std::size_t i = 0; i < back_.size(); ++i)
    if (is_same(back_[i].initial, place)) return i;
  return std::nullopt;
}

// A slot of an agent that was made before is a constant in each place that reads it: they share its bytes.
bool Walk::is_same(Ref a, Ref b) const {
  if (a.kind != b.kind) return false;
  if (a.id == b.id && a.slot == b.slot) return true;
  if (a.kind != Ref::Kind::constant) return false;
  const Value &x = view_.graph.constant(a.id), &y = view_.graph.constant(b.id);
  return x.is_array() && y.is_array() && x.array().raw() && x.array().raw() == y.array().raw();
}

Seen Walk::read_place(Ref ref, const Type& type) const {
  Signal signal;
  signal.sources = {{*back_of(ref), true}};
  signal.whole = signal.shape = concrete(type).extents;
  return signal;
}

const Seen& Walk::seen(Ref ref) const {
  if (ref.kind == Ref::Kind::constant) return constants_[ref.id];
  if (ref.kind == Ref::Kind::input) return inputs_[ref.id];
  return made_[ref.node().index()][ref.slot];
}

const Signal& Walk::signal(const Here& here, std::size_t slot) const {
  const Seen& value = in(here, slot);
  if (const auto* found = std::get_if<Signal>(&value)) return *found;
  if (std::holds_alternative<Refused>(value)) throw Problem{};
  throw Problem{std::holds_alternative<Known>(value)
                    ? "it works on what is known before, and no node of NIR gives a constant"
                    : "it reads the state of a neuron, which NIR has no edge for"};
}

const Known& Walk::known(const Here& here, std::size_t slot) const {
  const Seen& value = in(here, slot);
  if (const auto* found = std::get_if<Known>(&value)) return *found;
  if (std::holds_alternative<Refused>(value)) throw Problem{};
  throw Problem{"'" + view_.graph.slot_in(here.id, slot) + "' is not known before the graph runs"};
}

Extents Walk::extents(const Here& here, std::size_t output) const {
  return concrete(view_.graph.type(view_.graph.out(here.id)[output])).extents;
}

std::size_t Walk::uses(const Here& here, std::size_t output) const { return uses_[here.id.index()][output]; }

// What begins right behind `let NAME =` in the text: the last node that does is what the let is.
std::optional<std::string> Walk::let_of(const Here& here) const {
  const Span span = view_.graph[here.id].span;
  if (!span.valid() || span.source.index() >= program_.sources.size()) return std::nullopt;
  std::string_view before = program_.sources[span.source].text().substr(0, span.begin);
  auto skip_blanks = [&] {
    while (!before.empty() && (before.back() == ' ' || before.back() == '\n')) before.remove_suffix(1);
  };
  skip_blanks();
  if (!before.ends_with('=')) return std::nullopt;
  before.remove_suffix(1);
  skip_blanks();
  std::size_t begin = before.size();
  while (begin > 0 && is_word(before[begin - 1])) --begin;
  const std::string name(before.substr(begin));
  before.remove_suffix(name.size());
  if (name.empty() || !before.ends_with(' ')) return std::nullopt;
  skip_blanks();
  return before.ends_with("let") ? std::optional(name) : std::nullopt;
}

NirNode* Walk::only_source(const Signal& from, const Here& here, std::size_t slot) {
  const Ref ref = view_.graph.in(here.id)[slot];
  const bool only =
      from.sources.size() == 1 && !from.sources[0].back && ref.is_future() && uses_[ref.node().index()][ref.slot] == 1;
  return only ? &net_.nodes[from.sources[0].at] : nullptr;
}

Signal Walk::add(std::string type, Signal from, Extents gives,
                 std::vector<std::pair<std::string, std::variant<Array, std::string>>> parameters) {
  const std::size_t at = net_.nodes.size();
  net_.nodes.push_back({"", std::move(type), std::move(parameters)});
  from_.push_back(std::move(from.sources));
  gives_.push_back(gives);
  Signal made;
  made.sources = {{at, false}};
  made.whole = made.shape = std::move(gives);
  return made;
}

// ---- the walk ---------------------------------------------------------------------------------------

// What only known values lead to is worked out here.
std::optional<std::vector<Seen>> Walk::computed(const Here& here) const {
  const TaskGraph& graph = view_.graph;
  if (here.definition.kind != Definition::Kind::op) return std::nullopt;
  OpInstance call{here.definition.op, {}, here.arguments, {}};
  std::vector<Array> arrays;
  const Known* first = nullptr;
  for (const Ref ref : graph.in(here.id)) {
    const auto* known = std::get_if<Known>(&seen(ref));
    if (!known) return std::nullopt;
    if (!first) first = known;
    call.in.push_back(known->array.type());
    arrays.push_back(known->array);
  }
  for (const TypeId type : graph.out(here.id)) call.out.push_back(concrete(graph.type(type)));
  std::vector<Seen> made;
  const bool only_seen_otherwise = first && here.definition.name == "reshape";
  for (const Array& array : compute(call, arrays))
    made.emplace_back(Known{array, only_seen_otherwise ? first->written : array});
  return made;
}

std::vector<Seen> Walk::read_node(const Here& here) {
  if (auto made = computed(here)) return *std::move(made);
  std::optional<std::vector<Seen>> made;
  if (here.definition.kind == Definition::Kind::op) made = read_layer(*this, here);
  if (is_of_nir(program_, here.definition)) made = read_neuron(*this, here, program_[here.definition.function]);
  if (!made) throw Problem{"NIR has no node for it"};
  return *std::move(made);
}

// A node that ends an expression has the name of its let.
void Walk::name_after(const Here& here, const std::vector<Seen>& made) {
  const std::optional<std::string> let = let_of(here);
  const auto* signal = made.empty() ? nullptr : std::get_if<Signal>(&made[0]);
  if (!let || !signal || signal->sources.size() != 1 || signal->sources[0].back) return;
  std::string& name = net_.nodes[signal->sources[0].at].name;
  if (name.empty()) name = *let;
}

void Walk::read(NodeId id) {
  const TaskGraph& graph = view_.graph;
  const Here here{id, graph.definition(id), graph.arguments(id)};
  const std::size_t outputs = graph.out(id).size();
  made_.emplace_back(outputs, Seen(Refused{}));
  try {
    std::vector<Seen> made = read_node(here);
    made.resize(outputs, Seen(State{}));
    name_after(here, made);
    made_.back() = std::move(made);
  } catch (const Problem& problem) {
    if (!problem.text.empty()) refuse(graph[id].span, "'" + graph.path(id) + "'", problem.text);
  }
  // The first value of a slot that carries an edge backwards.
  for (std::size_t slot = 0; slot < outputs; ++slot)
    if (const Ref ref = Ref::future(id, slot); back_of(ref)) made_.back()[slot] = read_place(ref, graph.type(ref));
}

void Walk::add_results() {
  for (const GraphResult& result : view_.graph.results()) {
    const Seen& value = seen(result.ref);
    const auto* signal = std::get_if<Signal>(&value);
    if (!signal) {
      if (!std::holds_alternative<Refused>(value))
        refuse({}, "output '" + result.name + "'", "it is no value that comes from an input");
      continue;
    }
    const Extents shape = signal->shape;
    Array extents = Array::make({Precision::i64, {static_cast<std::int64_t>(shape.size())}});
    for (std::size_t i = 0; i < shape.size(); ++i) extents.set_integer(static_cast<std::int64_t>(i), shape[i]);
    add("Output", *signal, shape, {{"shape", extents}});
    net_.nodes.back().name = result.name;
  }
}

void Walk::name_the_rest() {
  std::set<std::string> taken;
  for (const bool named : {true, false})
    for (NirNode& node : net_.nodes) {
      if (node.name.empty() == named) continue;
      std::string base = node.name;
      if (!named)
        for (const char c : node.type) base += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      node.name = base;
      for (int k = 2; !taken.insert(node.name).second; ++k) node.name = fmt::format("{}_{}", base, k);
    }
}

void Walk::add_edges() {
  for (std::size_t to = 0; to < net_.nodes.size(); ++to)
    for (const Source& source : from_[to]) {
      const auto* kept = source.back ? std::get_if<Signal>(&seen(back_[source.at].value)) : nullptr;
      const std::vector<Source> from = source.back ? kept ? kept->sources : std::vector<Source>() : std::vector{source};
      for (const Source& one : from)
        if (!one.back) net_.edges.emplace_back(net_.nodes[one.at].name, net_.nodes[to].name);
    }
}

}  // namespace taskspec::nir_walk

namespace taskspec {

NirNet nir_net(const Program& program, const GraphView& view) { return nir_walk::Walk(program, view).run(); }

namespace {

struct NetInside {
  FunctionId member;
  Value agent;
};

// The graph that an import writes makes its net and calls it once. The net is made here instead: its weights are read
// from a file, and a graph that is only looked at reads none.
std::optional<NetInside> net_made_inside(Interpreter& interpreter, FunctionId graph) {
  const Program& program = interpreter.program();
  const Function& function = program[graph];
  const Call *made = nullptr, *called = nullptr;
  for (const Call& call : function.calls) {
    if (call.form == Form::op || call.form == Form::call || call.form == Form::apply) return std::nullopt;
    const Call*& place = call.form == Form::agent ? made : called;
    if (call.form != Form::agent && call.form != Form::invoke) continue;
    if (place) return std::nullopt;
    place = &call;
  }
  if (!made || !called || program[called->callee].agent != made->agent ||
      program[called->callee].kind != FunctionKind::graph)
    return std::nullopt;
  std::vector<Value> arguments;
  for (const CallId in : made->in) {
    if (in.valid() && function[in].form != Form::constant) return std::nullopt;
    arguments.push_back(in.valid() ? function[in].value : Value());
  }
  return NetInside{called->callee, interpreter.make_agent(made->agent, std::move(arguments), {made->span})};
}

}  // namespace

std::unique_ptr<GraphView> nir_view(Interpreter& interpreter, FunctionId graph) {
  if (interpreter.program()[graph].agent.valid())
    return build_graph(interpreter, graph, interpreter.agent_for(graph), ViewContents::all);
  if (const std::optional<NetInside> net = net_made_inside(interpreter, graph))
    return build_graph(interpreter, net->member, net->agent, ViewContents::all);
  return build_graph(interpreter, graph, {}, ViewContents::all);
}

}  // namespace taskspec
