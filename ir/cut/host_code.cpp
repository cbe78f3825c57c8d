#include "ir/cut/host_code.hpp"

#include <algorithm>

#include "ir/cut/demand.hpp"
#include "ir/records/op_outputs.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

bool is_cut(const Function& function) {
  return function.kind == FunctionKind::fn || function.kind == FunctionKind::module;
}

// What may call a function that it is given: a builtin, or what makes the piece of a point of it.
bool is_call_back(const Call& call) { return call.form == Form::builtin || call.form->calls_back; }

bool is_function(const Function& function, CallId in) {
  return in.valid() && function[in].type.is(Type::Kind::function);
}

bool calls_back(const Function& function, const Call& call) {
  if (!is_call_back(call)) return false;
  if (call.builtin && (call.builtin->runs_in != RunsIn::either && call.builtin->runs_in != RunsIn::graph)) return false;
  return std::ranges::any_of(call.in, [&](CallId in) { return is_function(function, in); });
}

}  // namespace

bool is_value(Form form) { return form->payload == Payload::callee && form->enters == FormRecord::Enters::nothing; }

std::size_t argument_count(const Function& function) {
  return static_cast<std::size_t>(std::ranges::count(function.parameters, Role::declared, &Parameter::role));
}

bool graph_asks(const Function& function, const Call& call) {
  if (std::ranges::none_of(call.in, [&](CallId in) { return is_function(function, in); })) return false;
  const Type* first = call.in[0].valid() ? &function[call.in[0]].type : nullptr;
  return (first && (first->is(Type::Kind::partition) || first->is(Type::Kind::launch_map))) || call.form->calls_back ||
         call.type.is(Type::Kind::region) || (call.builtin && call.builtin->runs_in == RunsIn::graph);
}

bool only_graph_asks(const Function& function, const Call& call) {
  if (!is_call_back(call) || !graph_asks(function, call)) return false;
  return call.form->calls_back || (call.in[0].valid() && home_of(function[call.in[0]].type) == ValueSide::graph);
}

FunctionId function_asked(const Function& function, const Call& call) {
  const auto in = std::ranges::find_if(
      call.in, [&](CallId id) { return is_function(function, id) && is_value(function[id].form); });
  return in == call.in.end() ? FunctionId() : function[*in].callee;
}

HostCode::HostCode(const Program& program)
    : sites(program.functions.size()),
      program_(program),
      seen_(program.functions.size(), false),
      seen_graph_(program.functions.size(), false) {
  for (const Module& module : program.modules) reach(module.top_level);
  for (FunctionId id : values_) reach_graph(id);  // a graph may be given any of them
  std::ranges::sort(functions);
  std::ranges::sort(graphs);
  find_groups();
  for (FunctionId id : functions) find_sites(id);
}

void HostCode::reach(FunctionId first) {
  std::vector<FunctionId> todo{first};
  while (!todo.empty()) {
    const FunctionId id = todo.back();
    todo.pop_back();
    if (!is_cut(program_[id])) reach_graph(id);
    if (seen_[id.index()]) continue;
    seen_[id.index()] = true;
    if (is_cut(program_[id])) functions.push_back(id);
    for (const Call& call : program_[id].calls) {
      if (call.form == Form::agent) reach_slots(call.agent);
      if (!call.callee.valid()) continue;
      if (is_cut(program_[id])) todo.push_back(call.callee);
      if (is_cut(program_[id]) && is_value(call.form)) values_.push_back(call.callee);
    }
  }
}

void HostCode::reach_graph(FunctionId first) {
  std::vector<FunctionId> todo{first};
  while (!todo.empty()) {
    const FunctionId id = todo.back();
    todo.pop_back();
    if (seen_graph_[id.index()]) continue;
    seen_graph_[id.index()] = true;
    graphs.push_back(id);
    for (const Call& call : program_[id].calls) {
      if (call.form == Form::agent) reach_slots(call.agent);
      if (call.callee.valid()) todo.push_back(call.callee);
    }
  }
}

// The graph program makes the first values of slots.
void HostCode::reach_slots(AgentId agent) {
  for (const Slot& slot : program_[agent].slots)
    if (slot.initial.valid()) reach_graph(slot.initial);
}

namespace {

// By call: its value goes somewhere else than to who lets the graph program call it.
std::vector<bool> handed_on(const Function& function) {
  std::vector<bool> found(function.calls.size(), false);
  const auto mark = [&](CallId id) {
    if (id.valid()) found[id.index()] = true;
  };
  for (const Call& call : function.calls) {
    if (!only_graph_asks(function, call)) std::ranges::for_each(call.in, mark);
    for (const Block& block : call.blocks) mark(block.result);
  }
  for (const Parameter& parameter : function.parameters) mark(parameter.default_value);
  mark(function.body.result);
  return found;
}

}  // namespace

void HostCode::find_groups() {
  std::vector<FunctionId> fns;
  for (FunctionId value : values_)
    if (program_[value].kind == FunctionKind::fn) fns.push_back(value);
  std::ranges::sort(fns);
  fns.erase(std::unique(fns.begin(), fns.end()), fns.end());
  std::vector<bool> is_handed_on(program_.functions.size(), false);
  for (FunctionId id : functions) {
    const std::vector<bool> calls = handed_on(program_[id]);
    for (std::size_t c = 0; c < calls.size(); ++c)
      if (const Call& call = program_[id].calls[c]; calls[c] && call.callee.valid() && is_value(call.form))
        is_handed_on[call.callee.index()] = true;
  }
  group_of_.assign(program_.functions.size(), none);
  for (FunctionId fn : fns) {
    const std::size_t arguments = argument_count(program_[fn]);
    const std::size_t group =
        is_handed_on[fn.index()] ? group_by_arguments_.emplace(arguments, groups.size()).first->second : groups.size();
    if (group == groups.size()) groups.emplace_back();
    groups[group].functions.push_back(fn);
    group_of_[fn.index()] = group;
  }
}

bool HostCode::is_site(FunctionId function, CallId id) const {
  const Call& call = program_[function][id];
  return call.form == Form::call || call.form == Form::apply || calls_back(program_[function], call);
}

std::size_t HostCode::group_of(FunctionId function, CallId site) const {
  const Call& call = program_[function][site];
  const bool back = is_call_back(call);
  if (const FunctionId asked = function_asked(program_[function], call);
      asked.valid() && only_graph_asks(program_[function], call))
    return group_of(asked);
  if (call.form == Form::call || (!back && program_[function][call.in[0]].type.is(Type::Kind::task))) return none;
  auto group = group_by_arguments_.find(back ? 1 : call.in.size() - 1);
  return group == group_by_arguments_.end() ? none : group->second;
}

void HostCode::find_sites(FunctionId id) {
  const Function& function = program_[id];
  for (std::size_t i = 0; i < function.calls.size(); ++i) {
    if (!is_site(id, CallId(i))) continue;
    const std::size_t group = group_of(id, CallId(i));
    if (function.calls[i].form == Form::call)
      sites[function.calls[i].callee.index()].push_back({id, CallId(i)});
    else if (group != none)
      groups[group].sites.push_back({id, CallId(i)});
  }
}

std::optional<std::size_t> declared_position(const Function& function, std::size_t parameter) {
  if (function.parameters[parameter].role != Role::declared) return std::nullopt;
  const auto end = function.parameters.begin() + static_cast<std::ptrdiff_t>(parameter);
  return static_cast<std::size_t>(
      std::count_if(function.parameters.begin(), end, [](const Parameter& p) { return p.role == Role::declared; }));
}

namespace {

CallId operand_at(const Call& call, std::size_t at) { return at < call.in.size() ? call.in[at] : CallId(); }

}  // namespace

CallId argument_of(const Program& program, const CallRef& site, FunctionId callee, std::size_t parameter) {
  const Function& function = program[callee];
  const Call& call = program[site.function][site.call];
  const std::optional<std::size_t> position = declared_position(function, parameter);
  if (!position) return {};
  if (call.form != Form::call) return argument_at(call, *position);
  return operand_at(call, *position + (function.agent.valid() ? 1 : 0));
}

CallId argument_at(const Call& call, std::size_t position) {
  return is_call_back(call) ? call.in[0] : operand_at(call, position + 1);  // of map an element of its list
}

namespace {

bool has_rigid_symbol(const Type& type) {
  for (const Dim& dim : type.dims)
    if (std::ranges::any_of(dim.symbols(), [](const Symbol& symbol) { return !symbol->host; })) return true;
  return std::ranges::any_of(type.parts, has_rigid_symbol);
}

}  // namespace

bool prints(const Function& function) {
  return std::ranges::any_of(function.calls,
                             [](const Call& call) { return call.form == Form::op && console_operand(*call.op); });
}

bool comes_from_graph(const Function& function, const Call& call) {
  if (call.form->of_graph) return true;
  switch (call.form->payload) {
    case Payload::field: {
      const Type& of = function[call.in[0]].type;
      if (of.is_tensor()) return of.has_symbols();
      return home_of(of) == ValueSide::graph && home_of(call.type) == ValueSide::host;
    }
    case Payload::type:
      return has_rigid_symbol(call.type);
    case Payload::op:
      return makes_tensors(*call.op, call.type);
    case Payload::builtin:
      return call.builtin->runs_in == RunsIn::asked;
    default:
      return false;
  }
}

bool acts_on_graph(const Program& program, const Function& function, const Call& call, bool dead_code) {
  const bool certain = call.guards.empty() && call.places.empty() && !call.type.has_symbols();
  const FormRecord& form = *call.form;
  if (form.to_run == FormRecord::ToRun::session || form.changes_data) return true;
  if (form.enters == FormRecord::Enters::value) return function[call.in[0]].type.is(Type::Kind::task);
  if (call.form == Form::invoke) {
    const Function& callee = program[call.callee];
    const bool pure = callee.kind == FunctionKind::task && !callee.agent.valid() && callee.extern_symbol.empty();
    return !dead_code || !certain || !pure || prints(callee);
  }
  switch (form.payload) {
    case Payload::op:
      if (!makes_tensors(*call.op, call.type)) return false;
      return !dead_code || !certain || console_operand(*call.op) || call.type.is(Type::Kind::none);
    case Payload::agent:
      return !program[call.agent].slots.empty();
    case Payload::builtin:
      return call.builtin->runs_in == RunsIn::graph;
    default:
      return false;
  }
}

bool computes(const Call& call) {
  const FormRecord& form = *call.form;
  const bool of_host = home_of(call.type) == ValueSide::host;
  if (form.takes_time || form.fails == FormRecord::Fails::maybe) return true;  // an element also of a list of tensors
  const bool works = form.fails == FormRecord::Fails::rule || form.enters == FormRecord::Enters::value ||
                     form.to_give == FormRecord::ToGive::running || form.payload == Payload::receive;
  return works && of_host && form.to_run != FormRecord::ToRun::session;
}

namespace {

// The largest or smallest item of a host list, which may have none.
bool picks_an_item(const Call& call) {
  const bool extremum = call.op->scalar == scalar::max || call.op->scalar == scalar::min;
  return extremum && !makes_tensors(*call.op, call.type);
}

}  // namespace

bool may_end(const Program& program, const Call& call) {
  if (call.form->fails != FormRecord::Fails::rule) return call.form->fails == FormRecord::Fails::maybe;
  if (call.op) {  // integers overflow and are divided by zero; comparisons and floats do not fail
    if (picks_an_item(call)) return true;
    return home_of(call.type) == ValueSide::host && !makes_tensors(*call.op, call.type) &&
           !call.type.is(Type::Kind::boolean) && !call.type.is(Type::Kind::real);
  }
  if (!call.builtin) return !program[call.callee].extern_symbol.empty();
  const bool is_print = call.builtin->runs_in == RunsIn::names && call.type.is(Type::Kind::none);
  return !is_print && !exits(call) && call.builtin->runs_in != RunsIn::graph && call.builtin->runs_in != RunsIn::asked;
}

bool may_fail(const Function& function, const Call& call) {
  auto constant = [&](std::size_t i) -> const Value* {
    const bool known = i < call.in.size() && call.in[i].valid() && function[call.in[i]].form == Form::constant;
    return known ? &function[call.in[i]].value : nullptr;
  };
  if (call.op) {
    if (picks_an_item(call)) return true;
    const bool divides = call.type.is(Type::Kind::integer) && call.op->divides;
    const Value* divisor = divides ? constant(1) : nullptr;
    return divides && !(divisor && divisor->is_integer() && divisor->integer() != 0);
  }
  if (call.builtin)
    return call.builtin->fails == BuiltinFails::maybe ||
           (call.builtin->fails == BuiltinFails::by_first && !constant(0));
  return call.form->fails == FormRecord::Fails::maybe;
}

bool exits(const Call& call) { return call.builtin && call.builtin->ends == EndsProgram::exits; }

}  // namespace taskspec
