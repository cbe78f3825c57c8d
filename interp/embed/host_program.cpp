#include "interp/embed/host_program.hpp"

#include <algorithm>

#include "frontend/dsl/record.hpp"
#include "interp/embed/checked.hpp"
#include "interp/embed/cut_call.hpp"
#include "interp/embed/natives.hpp"
#include "ir/base/text.hpp"
#include "taskspec/declare.hpp"

namespace taskspec::dsl::detail {

namespace {

RunSettings settings_with(const Natives& natives) {
  RunSettings settings;
  settings.natives = &natives;
  settings.output = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  return settings;
}

bool is_open(const Node& node) {
  return node.kind == Node::Kind::list || node.kind == Node::Kind::tuple || node.kind == Node::Kind::callable;
}

// A call of a fn: it runs as a program of its own.
bool is_apart(const Node& call) {
  const Function* called = call.kind == Node::Kind::invoke ? call.in[0]->function.get() : nullptr;
  return called && called->kind == Kind::fn;
}

// Does the call change the place that its operand `i` names?
bool changes(const Node& call, std::size_t i) {
  const std::vector<Parameter>& parameters = call.in[0]->function->parameters;
  const std::string name = i < call.names.size() ? call.names[i] : "";
  for (std::size_t k = 0; k < parameters.size(); ++k)
    if (name.empty() ? k + 1 == i : parameters[k].name.text == name)
      return parameters[k].privilege == "inout" && call.in[i]->kind == Node::Kind::name && call.in[i]->entered;
  return false;
}

bool gives_nothing(const Node& node) {
  const Function* called = node.kind == Node::Kind::invoke ? node.in[0]->function.get() : nullptr;
  return called && called->kind == Kind::fn && called->outputs.empty();
}

ast::Item statement(Span span, ast::Stmt stmt) { return {span, std::move(stmt)}; }

// That of the let which was entered last.
VariableId newest_variable(const Program& program, const std::string& name) {
  const auto& variables = program[program.main().top_level].variables;
  for (std::size_t i = variables.size(); i-- > 0;)
    if (variables[i].name == name) return VariableId(i);
  bug("a let without a variable");
}

}  // namespace

// A name of the program, free again when nobody holds the value. Outlives the program only as a string.
struct HostProgram::Lease final : Entered {
  explicit Lease(std::weak_ptr<HostProgram> p) : program(std::move(p)) {}
  ~Lease() override {
    if (auto alive = program.lock()) alive->give_back(*this);
  }
  std::weak_ptr<HostProgram> program;
  std::string wanted;
  std::size_t variant = 0;
  VariableId variable;
};

HostProgram& HostProgram::here() {
  thread_local std::shared_ptr<HostProgram> program = std::make_shared<HostProgram>();
  return *program;
}

HostProgram::HostProgram() { begin(); }

// An entry takes the same time however long the program is, but what it says stays, some kilobytes each. So a loop that
// keeps nothing from turn to turn begins anew now and then.
void HostProgram::begin() {
  constexpr std::size_t long_enough = 16'384;
  auto holds_values = [&] {
    std::lock_guard lock(leases_mutex_);
    return leased_ > 0;
  };
  if (live_ && (entries_ < long_enough || waiting_ || holds_values())) return;
  places_.reset();
  live_ = std::make_unique<LiveProgram>(toolbox(), LoadOptions{}, settings_with(natives_));
  places_ = std::make_unique<Places>(live_->sources());
  declared_ = Declared();
  entries_ = 0;
}

std::shared_ptr<HostProgram::Lease> HostProgram::lease(const std::string& wanted) {
  auto made = std::make_shared<Lease>(weak_from_this());
  made->wanted = wanted;
  {
    std::lock_guard lock(leases_mutex_);
    Variants& variants = variants_[wanted];
    if (variants.free.empty()) variants.free.insert(++variants.given);
    made->variant = variants.free.extract(variants.free.begin()).value();
    ++leased_;
  }
  const std::string number = std::to_string(made->variant);
  made->name = wanted.empty() ? "%" + number : wanted + (made->variant == 1 ? "" : "'" + number);
  return made;
}

void HostProgram::give_back(const Lease& lease) {
  std::lock_guard lock(leases_mutex_);
  variants_[lease.wanted].free.insert(lease.variant);
  --leased_;
}

HostProgram::Lease& HostProgram::lease_of(const Node& node, At at) {
  auto& lease = static_cast<Lease&>(*node.entered);
  if (lease.program.lock().get() != this)
    fail("E1001", at, "this value belongs to another thread", "values go from thread to thread by their contents");
  return lease;
}

// ---- entries --------------------------------------------------------------------------------------

void HostProgram::run(const Node& node, FunctionRef<void(ExprMaker&, std::vector<ast::Item>&)> write) {
  Span span = places_->line(node.at);
  Ast entry(span.source, needed_by(node, *places_, declared_));
  for (const auto& [symbol, function] : declared_.natives) define_body(natives_, symbol, function);
  ExprMaker make(*places_, declared_.names);
  write(make, entry.items);
  ++entries_;
  LiveProgram::Step step = live_->enter(std::move(entry));
  if (step.exit_code == 1)
    declared_.forget_new();
  else
    declared_.keep_new();
  if (step.exit_code != 0) throw error_of(live_->sources(), step.diags);
}

void HostProgram::enter(const NodePtr& node) {
  if (waiting_ == node) waiting_ = nullptr;
  enter_operands(*node, node->at);
  Span span = places_->line(node->at);
  if (gives_nothing(*node)) {
    node->gone = true;
    return run(*node, [&](ExprMaker& make, std::vector<ast::Item>& items) {
      items.push_back(statement(span, {span, ast::ExprStmt{make.content(*node)}}));
    });
  }
  std::shared_ptr<Lease> own = lease(node->kind == Node::Kind::region ? node->text : "");
  run(*node, [&](ExprMaker& make, std::vector<ast::Item>& items) {
    ast::Let let{false, {span, {{own->name, span}}}, nullptr, make.content(*node)};
    items.push_back(statement(span, {span, std::move(let)}));
  });
  own->variable = newest_variable(live_->program(), own->name);
  node->entered = std::move(own);
  node->bound = true;
  node->in.clear();  // it is a name from here on, and keeps nothing else alive
  node->items.clear();
  node->points.clear();
}

void HostProgram::enter_operands(const Node& node, At at) {
  auto consider = [&](const NodePtr& part) {
    if (!part) return;
    if (part->entered)
      lease_of(*part, at);
    else if (is_open(*part) || part->part || part->owner == nobody)
      enter_operands(*part, at);
    else if (node.kind == Node::Kind::run && part == node.in[0])
      enter_operands(*part, at);  // the call itself goes into the session that is opened
    else
      enter(part);
  };
  for (const NodePtr& part : node.in) consider(part);
  for (const Item& item : node.items) {
    consider(item.low);
    consider(item.high);
  }
}

void HostProgram::flush() {
  if (NodePtr call = std::move(waiting_)) enter(call);
}

void HostProgram::perform(Node call) {
  flush();
  begin();
  enter_operands(call, call.at);
  const Span span = places_->line(call.at);
  run(call, [&](ExprMaker& make, std::vector<ast::Item>& items) {
    items.push_back(statement(span, {span, ast::ExprStmt{make.content(call)}}));
  });
}

// ---- values ---------------------------------------------------------------------------------------

NodePtr HostProgram::value(Node node) {
  node.owner = host_program;
  auto made = std::make_shared<Node>(std::move(node));
  if (made->kind == Node::Kind::agent) return made;  // its struct is not complete yet
  bool runs = made->kind == Node::Kind::run;
  if (runs && waiting_ == made->in[0]) waiting_ = nullptr;
  flush();
  begin();
  if (runs && is_apart(*made->in[0])) return run_apart(*made);
  const Function* called = made->kind == Node::Kind::invoke ? made->in[0]->function.get() : nullptr;
  if (called && called->kind != Kind::task) {
    enter_operands(*made, made->at);
    if (!called->typed) settle_types(*made->in[0]->function, *made);
    check_waiting(made);
    waiting_ = made;
  } else {
    enter(made);
  }
  return made;
}

taskspec::Type HostProgram::type_of(const Node& node) {
  Span span = places_->line(node.at);
  Ast entry{span.source, needed_by(node, *places_, declared_)};
  ExprMaker make(*places_, declared_.names);
  entry.items.push_back(statement(span, {span, ast::ExprStmt{node.entered ? make(node) : make.content(node)}}));
  declared_.forget_new();
  taskspec::Result<taskspec::Type> type = live_->type_of(std::move(entry));
  if (!type) throw error_of(live_->sources(), type.diags());
  return std::move(*type);
}

// What is wrong with a call is said where it stands.
void HostProgram::check_call(const Node& node) {
  if (!gives_nothing(node)) (void)type_of(node);  // else it has no type; its run says what is wrong
}

// A call that is wrong by itself may be right in a run that gives it a slice in each time step. Otherwise that is said
// where it stands; of one that is used without such a run, where it is used.
void HostProgram::check_waiting(const NodePtr& call) {
  try {
    check_call(*call);
  } catch (const Error&) {
    if (!fits_time_steps(call)) throw;
  }
}

bool HostProgram::fits_time_steps(const NodePtr& call) {
  for (std::size_t i = 1; i < call->in.size(); ++i) {
    if (is_open(*call->in[i])) continue;
    const taskspec::Type type = type_of(*call->in[i]);
    const taskspec::Type& given =
        type.is(taskspec::Type::Kind::invocation) && type.parts.size() == 1 ? type.parts[0] : type;
    if (!given.is_tensor() || given.dims.empty() || !given.dims[0].is_constant()) continue;
    Node run;
    run.kind = Node::Kind::run;
    run.at = call->at;
    run.text = "host";
    run.names.emplace_back();
    run.real = static_cast<double>(*given.dims[0].constant());
    run.in.push_back(call);
    try {
      (void)type_of(run);
      return true;
    } catch (const Error&) {
    }
  }
  return false;
}

void HostProgram::check_run(const Node& run) {
  if (!gives_nothing(*run.in[0])) return (void)type_of(run);
  Node backend;
  backend.kind = Node::Kind::library;
  backend.text = run.text;
  backend.at = run.at;
  const auto give = [&](const std::string& name, NodePtr value) {
    backend.in.push_back(std::move(value));
    backend.names.push_back(name);
  };
  if (run.integer != 0) give("threads", Operand(run.integer, run.at).take());
  if (!run.names[0].empty()) give("schedule", Operand(run.names[0], run.at).take());
  for (std::size_t i = 1; i < run.in.size(); ++i) give(run.names[i], run.in[i]);
  if (!type_of(backend).is(taskspec::Type::Kind::backend)) fail("E1004", run.at, "'" + run.text + "' is no backend");
}

namespace {

// As it is written in a signature; a call with one output goes through to it.
Type written(const taskspec::Type& type, At at) {
  if (type.is(taskspec::Type::Kind::invocation) && type.parts.size() == 1) return written(type.parts[0], at);
  Type made;
  if (!type.is_tensor() && !type.is_number() && !type.is(taskspec::Type::Kind::boolean))
    fail("E1004", at, "this is " + type.text() + ", which no graph takes or gives", "declare the types of the graph");
  if (!type.is_tensor()) return {type.text(), {}};
  made.name = info(type.precision).name;
  for (const taskspec::Dim& dim : type.dims) made.dims.emplace_back(dim.text());
  return made;
}

}  // namespace

void HostProgram::settle_types(Function& function, const Node& call) {
  if (call.in.size() != function.parameters.size() + 1)
    fail("E1003", call.at,
         described(function) + " takes " + plural(function.parameters.size(), "value") + ", here are " +
             std::to_string(call.in.size() - 1));
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    function.parameters[i].type = written(type_of(*call.in[i + 1]), call.at);
  Checker checker({.ops = toolbox().ops, .builtins = toolbox().builtins, .blocks = toolbox().blocks});
  Places places(checker.sources());
  taskspec::Result<taskspec::Type> types = checker.type_of(output_probe(function, places));
  if (!types) throw error_of(checker.sources(), types.diags());
  for (std::size_t i = 0; i < function.outputs.size(); ++i)
    function.outputs[i].type = written(function.outputs.size() == 1 ? *types : types->parts[i], call.at);
  function.typed = true;
}

NodePtr HostProgram::var(const Name& name, Operand initial) {
  flush();
  Node node;
  node.at = name.at;
  node.in.push_back(use(initial));
  enter_operands(node, name.at);
  std::shared_ptr<Lease> own = lease(name.text);
  Span span = places_->line(name.at);
  run(node, [&](ExprMaker& make, std::vector<ast::Item>& items) {
    ast::Let let{true, {span, {{own->name, span}}}, nullptr, make(*node.in[0])};
    items.push_back(statement(span, {span, std::move(let)}));
  });
  own->variable = newest_variable(live_->program(), own->name);
  NodePtr place = name_node(own->name, name.at, host_program, true);
  place->entered = std::move(own);
  return place;
}

void HostProgram::assign(const NodePtr& target, const char* op, Operand value) {
  flush();
  Node node;
  node.at = value.at();
  node.in.push_back(use(value));
  lease_of(*target, node.at);
  enter_operands(node, node.at);
  Span span = places_->line(node.at);
  run(node, [&](ExprMaker& make, std::vector<ast::Item>& items) {
    ast::Assign assign{make(*target), {op, span}, make(*node.in[0])};
    items.push_back(statement(span, {span, std::move(assign)}));
  });
}

Value HostProgram::known(const NodePtr& node, At at) {
  flush();
  if (node->owner != host_program || node->part) {  // a literal, or a place of the moment
    Node copy = *node;
    copy.at = at;
    copy.part = false;
    auto made = std::make_shared<Node>(std::move(copy));
    made->owner = host_program;
    enter(made);
    return live_->value(static_cast<Lease&>(*made->entered).variable);
  }
  if (!node->entered) enter(node);
  return live_->value(lease_of(*node, at).variable);
}

Array HostProgram::contents(const Value& value, At at) {
  Array array;
  with_places(live_->sources(), at, [&] { array = value.is_array() ? value.array() : live_->contents(value); });
  return array;
}

void HostProgram::look_at(const NodePtr& graph, At at, ViewContents contents,
                          FunctionRef<void(const Program&, const GraphView&)> use) {
  const Value value = known(graph, at);
  auto* callable = value.as<Callable>();
  with_places(live_->sources(), at,
              [&] { use(live_->program(), *live_->view(callable->function, callable->agent, contents)); });
}

// ---- programs of their own ------------------------------------------------------------------------

// An operand as it is now.
NodePtr HostProgram::literal(const NodePtr& operand, At at) {
  Value value = only_output(known(operand, at), at);
  return literal_of(value.as<taskspec::Tensor>() ? Value(contents(value, at)) : value, operand->at);
}

// The call with what its operands are now. A place that it changes is a variable of its program, which goes by the same
// name wherever it is given: two parameters may not be one place.
CutCall HostProgram::cut(const Node& call, At at, std::vector<NodePtr>& changed) {
  enter_operands(call, at);
  Node made = call;
  std::vector<CutPlace> places;
  for (std::size_t i = 1; i < call.in.size(); ++i) {
    const NodePtr& place = call.in[i];
    if (!changes(call, i) || std::ranges::find(changed, place) != changed.end()) continue;
    places.push_back({"%place" + std::to_string(places.size() + 1), literal(place, at)});
    changed.push_back(place);
  }
  for (std::size_t i = 1; i < made.in.size(); ++i) {
    NodePtr& operand = made.in[i];
    const auto same = std::ranges::find(changed, operand);
    if (same != changed.end())
      operand = name_node(places[static_cast<std::size_t>(same - changed.begin())].name, operand->at, nobody, false);
    else if (operand->owner != nobody || operand->entered || is_open(*operand))
      operand = literal(operand, at);
  }
  return CutCall(made, std::move(places));
}

NodePtr HostProgram::run_apart(const Node& run) {
  const Node& call = *run.in[0];
  if (run.real > 0)
    fail("E1004", run.at, "time steps repeat a graph, and this is a fn", "call run() on the graph inside of it");
  check_run(run);
  std::vector<NodePtr> changed;
  CutCall program = cut(call, run.at, changed);
  CutCall::On backend{run.text, run.integer, run.names[0]};
  for (std::size_t i = 1; i < run.in.size(); ++i)
    backend.options.emplace_back(run.names[i], only_output(known(run.in[i], run.at), run.at));
  NodePtr result = program.run(backend, run.at);
  for (std::size_t i = 0; i < changed.size(); ++i) assign(changed[i], "=", Operand(program.places()[i].value, run.at));
  return result;
}

std::string HostProgram::cut_json_of(const NodePtr& call, At at) {
  if (!is_apart(*call) || call->entered)
    fail("E1004", at, "two programs are made of a call of a fn that is not used yet", "slices_json(episode(x))");
  if (waiting_ == call) waiting_ = nullptr;
  flush();
  std::vector<NodePtr> changed;
  return cut(*call, at, changed).cut_json();
}

NodePtr host_value(Node node) { return HostProgram::here().value(std::move(node)); }
void host_perform(Node call) { HostProgram::here().perform(std::move(call)); }
NodePtr host_var(const Name& name, Operand initial) { return HostProgram::here().var(name, std::move(initial)); }
void host_assign(const NodePtr& target, const char* op, Operand value) {
  HostProgram::here().assign(target, op, std::move(value));
}

}  // namespace taskspec::dsl::detail
