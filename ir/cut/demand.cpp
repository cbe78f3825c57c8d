#include "ir/cut/demand.hpp"

#include <algorithm>

#include "ir/cut/search.hpp"

namespace taskspec {

namespace {

// Its callers must give tensors of extents that it says.
bool checks_extents(const Function& function) {
  return std::ranges::any_of(function.parameters, [](const Parameter& parameter) {
    bool found = false;
    Function one;
    one.parameters = {parameter};
    for_each_host_symbol(one, [&](CallId) { found = true; });
    return found;
  });
}

template <class Test>
std::vector<bool> functions_where(const Program& program, const Test& test) {
  std::vector<bool> found;
  for (const Function& function : program.functions) found.push_back(test(function));
  return found;
}

constexpr Part sides[] = {Part::host, Part::graph};

// Functions that the graph program alone calls, for pieces of partitions, elements of maps and the ints of points, and
// what they call: nobody could send what they need.
std::vector<bool> asked_by_graph(const Program& program) {
  std::vector<bool> asked(program.functions.size(), false);
  std::vector<FunctionId> todo;
  auto ask = [&](FunctionId id) {
    if (!id.valid() || asked[id.index()]) return;
    asked[id.index()] = true;
    todo.push_back(id);
  };
  // What it was given it calls whoever gave it: any that has so many arguments.
  const auto ask_values = [&](std::size_t arguments) {
    for (const Function& function : program.functions)
      for (const Call& call : function.calls)
        if (is_value(call.form) && call.callee.valid() && program[call.callee].kind == FunctionKind::fn &&
            argument_count(program[call.callee]) == arguments)
          ask(call.callee);
  };
  for (const Function& function : program.functions)
    for (const Call& call : function.calls)
      if (graph_asks(function, call))
        for (const CallId in : call.in)
          if (in.valid() && function[in].type.is(Type::Kind::function)) {
            const Call& one = function[in];
            one.callee.valid() ? ask(one.callee) : ask_values(one.type.parts.size() - 1);
          }
  while (!todo.empty()) {
    const Function& function = program[todo.back()];
    todo.pop_back();
    for (const Call& call : function.calls) {
      if (call.form == Form::call || is_value(call.form)) ask(call.callee);  // also what it hands to map, say
      if (call.form == Form::apply && function[call.in[0]].type.is(Type::Kind::function))
        ask_values(call.in.size() - 1);
    }
  }
  return asked;
}

}  // namespace

Search::Search(const Program& program, const CutOptions& options)
    : program_(program),
      options_(options),
      reach_(program),
      calls_(program),
      shows_(calls_.with_callers(functions_where(program, prints))),
      exits_(calls_.with_callers(
          functions_where(program, [](const Function& f) { return std::ranges::any_of(f.calls, exits); }))),
      asked_(asked_by_graph(program)),
      demand_(program.functions.size()),
      groups_(2 * reach_.groups.size()) {
  for (FunctionId id : reach_.functions) begin(id, options.fold || asked_[id.index()]);
}

void Search::begin(FunctionId id, bool fold) {
  const Function& f = program_[id];
  FunctionDemand& d = demand_[id.index()];
  d.reached = true;
  for (Part side : sides) {
    d[side].runs.resize(f.calls.size(), false);
    d[side].wanted.resize(f.calls.size(), false);
    d[side].variables.resize(f.variables.size(), false);
    d[side].parameters.resize(f.parameters.size(), false);
  }
  for (auto* flags : {&d.sent, &d.received, &d.named, &d.entered, &d.counted, &d.ordered, &d.passed})
    flags->resize(f.calls.size(), false);
  Known& known = known_.emplace_back();
  known_of_.emplace(id.value, known_.size() - 1);
  known.tree = std::make_unique<CallTree>(f);
  const std::vector<bool>* called = asked_[id.index()] ? &asked_ : nullptr;
  known.repeatable = std::make_unique<Repeatable>(f, *known.tree, fold, called);
  for (std::unique_ptr<Exits>& exits : known.exits) {
    exits = std::make_unique<Exits>(f, *known.tree);
    for (CallId exit : known.tree->exits()) exits->add(exit);
  }
  known.writes.resize(f.variables.size());
  for (std::size_t i = 0; i < f.calls.size(); ++i) {
    const Call& call = f.calls[i];
    if (!known.tree->listed(CallId(i))) continue;
    if (call.form->writes()) known.writes[call.variable.index()].push_back(CallId(i));
    for (const Place& place : call.places) known.writes[place.variable.index()].push_back(CallId(i));
    if (call.form->leaves == FormRecord::Leaves::function) known.returns.push_back(CallId(i));
  }
}

std::vector<FunctionDemand> Search::run() {
  for (FunctionId id : reach_.graphs) want_global(program_[id]);
  for (FunctionId id : reach_.functions) start_from_effects(id);
  settle();
  // Every host value is computed on one side at least, so that what is wrong in it is found.
  for (bool more = true; more;) {
    more = false;
    for (FunctionId id : reach_.functions) more = take_in(id) || more;
    settle();
  }
  order_exits();
  order_effects();
  for (FunctionId id : reach_.functions) settle_double(id);
  return std::move(demand_);
}

void Search::want_global(const Function& function) {
  for (const Call& call : function.calls)
    if (call.form == Form::global)
      want_variable(program_.modules[call.module.index()].top_level, call.variable, Part::graph);
}

void Search::start_from_effects(FunctionId f) {
  const Function& function = program_[f];
  if (!function.extern_symbol.empty()) {  // C++: all of it is the host's
    enter(f, Part::host);
    for (std::size_t k = 0; k < function.parameters.size(); ++k) want_parameter(f, k, Part::host);
  }
  if (checks_extents(function)) {
    enter(f, Part::graph);
    for (std::size_t k = 0; k < function.parameters.size(); ++k)
      if (function.parameters[k].type.is_tensor()) want_parameter(f, k, Part::graph);
  }
  for (std::size_t i = 0; i < function.calls.size(); ++i) {
    const CallId c(i);
    const Call& call = function.calls[i];
    if (!known(f).tree->listed(c)) continue;
    if (call.builtin && call.builtin->effect != Effect::pure) {
      run_call(f, c, Part::host);
      if (call.builtin->runs_in == RunsIn::asked)  // behind what the host does before it: they may share a file
        host_wants(f, c), of(f).ordered[c.index()] = true;
      else
        want_operands_on_host(f, c);
    }
    if (call.form == Form::call && !call.guards.empty()) {
      enter(call.callee, Part::graph);
      run_call(f, c, Part::graph);
    }
    if (acts_on_graph(program_, function, call, options_.dead_code)) {
      if (home_of(call.type) == ValueSide::host)
        run_call(f, c, Part::graph), want_all(f, call, Part::graph);
      else
        want(f, c, Part::graph), run_call(f, c, Part::graph);
    }
  }
}

// What is sent and yet runs on the graph's side, because of something inside it.
void Search::settle_double(FunctionId f) {
  FunctionDemand& d = of(f);
  for (std::size_t i = 0; i < d.sent.size(); ++i) {
    if (!d.sent[i] || !d.graph.runs[i]) continue;
    const Form form = program_[f].calls[i].form;
    if (form->to_give == FormRecord::ToGive::running)
      d.sent[i] = false;  // then its value is known there
    else
      d.entered[i] = true;
  }
}

// Host values that nobody has asked for.
bool Search::take_in(FunctionId f) {
  bool more = false;
  const Function& function = program_[f];
  FunctionDemand& d = of(f);
  for (std::size_t i = 0; i < function.calls.size(); ++i) {
    const CallId c(i);
    const Call& call = function.calls[i];
    if (!known(f).tree->listed(c) || d.host.runs[i] || d.graph.runs[i] || d.host.wanted[i]) continue;
    if (!computes(call) || (options_.dead_code && call.form == Form::receive)) continue;
    const CallId owner = known(f).tree->owner(c);
    const bool there =
        owner.valid() ? d.graph.runs[owner.index()] && !d.host.runs[owner.index()] : d.graph.part && !d.host.part;
    const CallId decides = call.form->decides_inside() ? decision_of(call) : c;
    const bool stores = call.form->variable == FormRecord::Variable::changes;
    const Type& type = stores ? function.variables[call.variable.index()].type : call.type;
    const bool of_graph =
        home_of(type) == ValueSide::graph || (stores && home_of(type) == ValueSide::both);  // lists of tensors
    const Part side = of_graph || (there && known(f).repeatable->call(decides)) ? Part::graph : Part::host;
    if (stores) want_variable(f, call.variable, side);
    call.form->takes_time || stores ? run_call(f, c, side) : want(f, c, side);
    more = true;
  }
  return more;
}

ValueSide home_of(const Type& type) {
  switch (type.kind) {
    case Type::Kind::tensor:
    case Type::Kind::invocation:
    case Type::Kind::region:
    case Type::Kind::view:
    case Type::Kind::region_field:
    case Type::Kind::partition:
    case Type::Kind::launch_map:
      return ValueSide::graph;
    case Type::Kind::function:
    case Type::Kind::task:
    case Type::Kind::agent:
    case Type::Kind::training:
    case Type::Kind::optimizer:
    case Type::Kind::blocks:
      return ValueSide::both;
    case Type::Kind::list:
    case Type::Kind::tuple:
      return std::ranges::all_of(type.parts, [](const Type& part) { return home_of(part) == ValueSide::host; })
                 ? ValueSide::host
                 : ValueSide::both;
    default:
      return ValueSide::host;
  }
}

std::vector<FunctionDemand> find_demand(const Program& program, const CutOptions& options) {
  return Search(program, options).run();
}

}  // namespace taskspec
