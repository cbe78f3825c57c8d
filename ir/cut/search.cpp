#include "ir/cut/search.hpp"

#include <algorithm>
#include <utility>

namespace taskspec {

namespace {

// Direct calls of host results are sent by the caller; functions inside builtins give theirs themselves.
bool gives_result(const Call& call, Part side) {
  return call.builtin || side == Part::host || home_of(call.type) != ValueSide::host;
}

bool mentions(const Dim& dim, const Symbol& symbol) {
  if (dim.is_constant()) return false;
  const std::vector<Symbol> symbols = dim.symbols();
  return std::ranges::find(symbols, symbol) != symbols.end();
}

}  // namespace

// ---- what is found --------------------------------------------------------------------------------

void Search::run_call(FunctionId f, CallId c, Part side) {
  if (!c.valid() || of(f)[side].runs[c.index()]) return;
  of(f)[side].runs[c.index()] = true;
  todo_.push_back({f, c, side, false});
}

void Search::want(FunctionId f, CallId c, Part side) {
  if (!c.valid() || of(f)[side].wanted[c.index()]) return;
  of(f)[side].wanted[c.index()] = true;
  todo_.push_back({f, c, side, true});
}

void Search::want_all(FunctionId f, const Call& call, Part side) {
  for (CallId in : call.in) want(f, in, side);
}

void Search::want_variable(FunctionId f, VariableId v, Part side) {
  if (of(f)[side].variables[v.index()]) return;
  of(f)[side].variables[v.index()] = true;
  for (CallId write : known(f).writes[v.index()]) run_call(f, write, side);
  const Function& function = program_[f];
  for (std::size_t k = 0; k < function.parameters.size(); ++k)
    if (function.parameters[k].variable == v) want_parameter(f, k, side);
}

void Search::want_parameter(FunctionId f, std::size_t k, Part side) {
  if (of(f)[side].parameters[k]) return;
  of(f)[side].parameters[k] = true;
  const CallId standard = program_[f].parameters[k].default_value;
  want(f, standard, side);
  // Both sides must agree on whether an argument was given.
  if (standard.valid()) want_parameter(f, k, side == Part::host ? Part::graph : Part::host);
  for (const CallRef& site : reach_.sites[f.index()])
    if (of(site.function)[side].runs[site.call.index()]) want_argument(site, f, k, side);
  const std::optional<std::size_t> position = declared_position(program_[f], k);
  if (position && reach_.group_of(f) != HostCode::none) want_group_argument(reach_.group_of(f), *position, side);
}

void Search::want_group_argument(std::size_t group, std::size_t position, Part side) {
  std::vector<bool>& arguments = of_group(group, side).arguments;
  arguments.resize(std::max(arguments.size(), position + 1), false);
  if (arguments[position]) return;
  arguments[position] = true;
  for (const CallRef& site : reach_.groups[group].sites)
    if (of(site.function)[side].runs[site.call.index()])
      want(site.function, argument_at(program_[site.function][site.call], position), side);
}

void Search::want_argument(const CallRef& site, FunctionId callee, std::size_t parameter, Part side) {
  want(site.function, argument_of(program_, site, callee, parameter), side);
}

void Search::want_result(FunctionId f, Part side) {
  if (of(f)[side].result) return;
  of(f)[side].result = true;
  for (CallId c : known(f).returns) {
    run_call(f, c, side);
    if (!program_[f][c].in.empty()) want(f, program_[f][c].in[0], side);
  }
}

// Something happens there on this side: control must come to it as often as in the whole function.
void Search::stand(FunctionId f, CallId c, Part side) {
  enter(f, side);
  run_call(f, known(f).tree->owner(c), side);
  exits_of(f, side).each_new(c, [&](CallId exit) { run_call(f, exit, side); });
}

void Search::enter(FunctionId f, Part side) {
  if (of(f)[side].part) return;
  of(f)[side].part = true;
  for (const CallRef& site : reach_.sites[f.index()]) {
    // What the graph asks for itself nobody else calls along with it.
    if (asked_[f.index()] && asked_[site.function.index()] != (side == Part::graph)) continue;
    run_call(site.function, site.call, side);
  }
  if (const std::size_t group = reach_.group_of(f);
      group != HostCode::none && !std::exchange(of_group(group, side).entered, true))
    for (const CallRef& site : reach_.groups[group].sites)
      if (side == Part::graph || !only_graph_asks(program_[site.function], program_[site.function][site.call]))
        run_call(site.function, site.call, side);
  if (side == Part::graph) want_signature(f);
}

// Host integers in the types and guards of what the graph does, and the tensors in which a dimension is found.
void Search::want_extents(FunctionId f, const Call& call) {
  for_each_host_symbol(call, [&](CallId value) { want(f, value, Part::graph); });
  if (call.form->payload == Payload::symbol) want_dimensions(f, Dim(call.symbol));
  if (call.form->payload == Payload::type) want_dimensions(f, call.type);
  for (const Guard& guard : call.guards) {
    want_dimensions(f, guard.left);
    want_dimensions(f, guard.right);
  }
}

void Search::want_dimensions(FunctionId f, const Type& type) {
  for (const Dim& dim : type.dims) want_dimensions(f, dim);
  for (const Type& part : type.parts) want_dimensions(f, part);
}

// A call finds dimensions in the arguments of the parameters that name them.
void Search::want_dimensions(FunctionId f, const Dim& dim) {
  const std::vector<Parameter>& parameters = program_[f].parameters;
  for (const Symbol& symbol : dim.symbols()) {
    if (symbol->host) continue;
    for (std::size_t k = 0; k < parameters.size(); ++k)
      if (std::ranges::any_of(parameters[k].type.dims, [&](const Dim& extent) { return mentions(extent, symbol); }))
        want_parameter(f, k, Part::graph);
  }
}

void Search::want_signature(FunctionId f) {
  for_each_host_symbol(program_[f], [&](CallId value) { want(f, value, Part::graph); });
}

void Search::settle() {
  while (!todo_.empty()) {
    Item item = todo_.back();
    todo_.pop_back();
    if (item.value)
      follow_value(item.function, item.call, item.side);
    else
      follow_run(item.function, item.call, item.side);
  }
}

// ---- a call that runs on a side -------------------------------------------------------------------

void Search::follow_run(FunctionId f, CallId c, Part side) {
  const Function& function = program_[f];
  const Call& call = function[c];
  stand(f, c, side);
  if (side == Part::graph) want_extents(f, call);
  switch (call.form->to_run) {
    case FormRecord::ToRun::nothing:
      break;
    case FormRecord::ToRun::operands:
      want_all(f, call, side);
      break;
    case FormRecord::ToRun::decision:
      want(f, decision_of(call), side);
      if (call.form->gives == FormRecord::Gives::value) want(f, call.blocks[0].result, side);
      break;
    case FormRecord::ToRun::turns:
      run_loop(f, c, side);
      break;
    case FormRecord::ToRun::session:
      if (side == Part::host) break;
      want(f, call.in[0], side);
      if (!function[call.blocks[0].result].type.is(Type::Kind::none)) want(f, call.blocks[0].result, side);
      break;
    case FormRecord::ToRun::result:
      if (of(f)[side].result) want_all(f, call, side);
      break;
  }
  for (const Place& place : call.places) run_place(f, call, place, side);
  if (reach_.is_site(f, c)) run_site(f, c, side);
}

// A call with an inout argument makes a new version of a variable.
void Search::run_place(FunctionId f, const Call& call, const Place& place, Part side) {
  const bool here =
      home_of(program_[f].variables[place.variable.index()].type) == ValueSide::host || side == Part::graph;
  if (!here) return;
  want(f, call.in[place.operand], side);
  want_variable(f, place.variable, side);
}

// Functions that a call may enter: those of its callee, or of a value.
void Search::run_site(FunctionId f, CallId c, Part side) {
  const Call& call = program_[f][c];
  if (call.form == Form::apply) want(f, call.in[0], side);
  const bool applies_task = call.form == Form::apply && program_[f][call.in[0]].type.is(Type::Kind::task);
  if (call.builtin || (applies_task && side == Part::graph)) want_all(f, call, side);
  if (call.form == Form::call)
    run_call_of(call.callee, {f, c}, side);
  else if (const std::size_t group = reach_.group_of(f, c); group != HostCode::none)
    run_call_of_value(group, {f, c}, side);
}

void Search::run_call_of(FunctionId callee, const CallRef& site, Part side) {
  const Call& call = program_[site.function][site.call];
  if (program_[callee].agent.valid()) want(site.function, call.in[0], side);
  if (!of(callee).reached) {  // all of it is on the graph's side
    if (side == Part::graph) want_all(site.function, call, side);
    return;
  }
  for (std::size_t k = 0; k < program_[callee].parameters.size(); ++k)
    if (of(callee)[side].parameters[k]) want_argument(site, callee, k, side);
  want_places(callee, side);
  if (wants_result(site, side)) want_result(callee, side);
}

void Search::run_call_of_value(std::size_t group, const CallRef& site, Part side) {
  const std::vector<FunctionId>& functions = reach_.groups[group].functions;
  GroupDemand& demand = of_group(group, side);
  for (std::size_t k = 0; k < demand.arguments.size(); ++k)
    if (demand.arguments[k]) want(site.function, argument_at(program_[site.function][site.call], k), side);
  if (!std::exchange(demand.called, true))
    for (FunctionId callee : functions) want_places(callee, side);
  if (wants_result(site, side) && !std::exchange(demand.result, true))
    for (FunctionId callee : functions) want_result(callee, side);
}

void Search::want_places(FunctionId callee, Part side) {
  for (const Parameter& parameter : program_[callee].parameters) {
    if (parameter.privilege != Privilege::inout || !parameter.variable.valid()) continue;
    if (side == Part::graph || home_of(parameter.type) == ValueSide::host)
      want_variable(callee, parameter.variable, side);
  }
}

// Whether a filter keeps an item decides how often it calls: its function's result is wanted wherever it runs.
bool Search::wants_result(const CallRef& site, Part side) {
  const Call& call = program_[site.function][site.call];
  const bool used = call.builtin || of(site.function)[side].wanted[site.call.index()];
  const bool asks = (call.form == Form::call && asked_[call.callee.index()]) ||
                    (call.form == Form::apply && asked_[site.function.index()]);
  const bool by_graph = side == Part::graph && asks;
  return used && (by_graph || gives_result(call, side));
}

void Search::run_loop(FunctionId f, CallId c, Part side) {
  const Call& call = program_[f][c];
  if (side == Part::host || known(f).repeatable->call(call.in[0]) || loop_variable_wanted(f, call)) {
    want(f, call.in[0], side);
  } else {
    of(f).counted[c.index()] = true;
    want(f, call.in[0], Part::host);
    run_call(f, c, Part::host);
  }
}

bool Search::loop_variable_wanted(FunctionId f, const Call& loop) {
  const Block& body = loop.blocks[0];
  return !body.calls.empty() && program_[f][body.calls[0]].form == Form::loop &&
         of(f).graph.wanted[body.calls[0].index()];
}

// ---- a value that is used on a side ----------------------------------------------------------------

void Search::follow_value(FunctionId f, CallId c, Part side) {
  const Call& call = program_[f][c];
  const ValueSide home = home_of(call.type);
  if (side == Part::graph) {
    if (home == ValueSide::host || call.builtin)
      graph_wants_host_value(f, c);
    else
      evaluate(f, c, side);
    return;
  }
  if (home == ValueSide::graph && !(call.builtin && call.builtin->runs_in == RunsIn::host)) return;
  host_wants(f, c);
}

void Search::graph_wants_host_value(FunctionId f, CallId c) {
  const Call& call = program_[f][c];
  if (known(f).repeatable->call(c)) {
    evaluate(f, c, Part::graph);
    return;
  }
  of(f).sent[c.index()] = true;
  stand(f, c, Part::graph);
  run_call(f, c, Part::host);
  if (home_of(call.type) == ValueSide::host) want(f, c, Part::host);
  if (call.builtin) want_operands_on_host(f, c);
}

void Search::host_wants(FunctionId f, CallId c) {
  const Call& call = program_[f][c];
  if (comes_from_graph(program_[f], call)) {
    of(f).received[c.index()] = true;
    run_call(f, c, Part::host);
    evaluate(f, c, Part::graph);
    return;
  }
  evaluate(f, c, Part::host);
}

// The call runs on this side, and so must what its value is made of.
void Search::evaluate(FunctionId f, CallId c, Part side) {
  const Call& call = program_[f][c];
  run_call(f, c, side);
  switch (call.form->to_give) {
    case FormRecord::ToGive::operands:
      want_all(f, call, side);
      if (reach_.is_site(f, c)) run_site(f, c, side);  // it may have run before anybody wanted its value
      break;
    case FormRecord::ToGive::variable:
      want_variable(f, call.variable, side);
      break;
    case FormRecord::ToGive::global:
      want_variable(program_.modules[call.module.index()].top_level, call.variable, side);
      break;
    case FormRecord::ToGive::parameter:
      want_parameter(f, call.index, side);
      break;
    case FormRecord::ToGive::turn: {
      const CallId loop = known(f).tree->owner(c);
      if (of(f)[side].runs[loop.index()]) run_loop(f, loop, side);
      break;
    }
    case FormRecord::ToGive::entered:
      run_site(f, c, side);
      break;
    case FormRecord::ToGive::builtin:
      if (side == Part::host && call.builtin->runs_in != RunsIn::either)
        want_operands_on_host(f, c);
      else
        want_all(f, call, side);
      if (reach_.is_site(f, c)) run_site(f, c, side);
      break;
    case FormRecord::ToGive::extents:
      if (side == Part::host) for_each_host_symbol(call, [&](CallId value) { want(f, value, side); });
      break;
    case FormRecord::ToGive::running:
      break;  // running it wants all that it needs
  }
}

// Tensors come by name or with their contents, everything else as it is.
void Search::want_operands_on_host(FunctionId f, CallId c) {
  const Call& call = program_[f][c];
  for (CallId in : call.in) {
    if (!in.valid()) continue;
    if (call.builtin->runs_in == RunsIn::either || home_of(program_[f][in].type) == ValueSide::host) {
      want(f, in, Part::host);
      continue;
    }
    of(f).named[c.index()] = true;
    want(f, in, Part::graph);
    stand(f, c, Part::graph);  // there the graph sends
  }
}

}  // namespace taskspec
