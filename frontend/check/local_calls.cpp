// What calls give, and what the graph does in them: where a local value would reach it.
#include <algorithm>

#include "frontend/check/effects.hpp"
#include "frontend/check/local_walk.hpp"
#include "ir/program/host_symbols.hpp"
#include "ir/records/backend_record.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec::checking {

namespace {

using Kind = Type::Kind;

std::uint32_t place_of(std::size_t parameter) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(parameter, 63));
}
std::uint64_t bit_of(std::size_t parameter) { return std::uint64_t{1} << place_of(parameter); }

bool holds_tensor(const Type& type) {
  if (type.is_tensor() || type.is(Kind::invocation)) return true;
  const bool container = type.is(Kind::list) || type.is(Kind::tuple);
  return container && std::ranges::any_of(type.parts, holds_tensor);
}

bool calls_task(const Function& function, const Call& call) {
  return call.form->enters == FormRecord::Enters::value && function[call.in[0]].type.is(Kind::task);
}

// The same on all shards, whatever it is made of: that is asked where it is made.
bool gives_of_graph(const Program& program, const Function& function, const Call& call) {
  switch (call.form->payload) {
    case Payload::op:
      return makes_tensors(*call.op, call.type);
    case Payload::builtin:
      return call.builtin->runs_in == RunsIn::graph || call.builtin->effect == Effect::agrees;
    case Payload::callee:
      return call.form->enters == FormRecord::Enters::callee && program[call.callee].kind != FunctionKind::fn;
    case Payload::receive:
    case Payload::agent:
      return true;
    default:
      return call.form->to_run == FormRecord::ToRun::session || calls_task(function, call);
  }
}

// Files of regions: all shards come to them, by the same names.
bool takes_part_in_run(const Builtin& builtin) {
  return builtin.runs_in == RunsIn::asked && builtin.effect == Effect::host;
}

// It calls the functions that it is given, on every shard for itself: what they give is handed to it, too.
bool asks(const Call& call) {
  if (call.builtin) return call.builtin->runs_in == RunsIn::graph || takes_part_in_run(*call.builtin);
  return call.form->enters != FormRecord::Enters::value;
}

bool is_local(const Function& function, const Call& call) {
  if (call.builtin) return call.builtin->effect == Effect::local;
  return call.form->payload == Payload::field && function[call.in[0]].type.is(Kind::record) &&
         is_local_in_reports(call.name);
}

}  // namespace

// ---- what calls give ------------------------------------------------------------------------------

LocalFacts LocalWalk::facts_of(CallId id, const Call& call) {
  const FormRecord& form = *call.form;
  if (form.to_give == FormRecord::ToGive::turn) return facts(domain_);
  switch (form.payload) {
    case Payload::parameter:
      return of_parameter(call.index);
    case Payload::variable:
      return form.gives == FormRecord::Gives::value ? facts(call.variable) : of_operands(id, call);
    case Payload::global: {
      LocalFacts there = peers_.global(call.module, call.variable);
      for (Dependence* what : {&there.is, &there.gives, &there.acts})
        if (what->source.valid()) what->source = id;
      return there;
    }
    case Payload::callee:
      if (form.enters == FormRecord::Enters::nothing) return of_function_value(id, call);
      if (program_[call.callee].kind == FunctionKind::fn) return of_fn_call(id, call);
      return of_operands(id, call);
    default:
      return of_operands(id, call);
  }
}

LocalFacts LocalWalk::of_parameter(std::size_t k) const {
  const Parameter& parameter = function_.parameters[k];
  LocalFacts made;
  if (parameter.default_value.valid()) made = facts(parameter.default_value);
  made.is.values |= bit_of(k);
  if (!holds_function(parameter.type)) return made;
  made.gives.results |= bit_of(k);
  made.acts.values |= bit_of(k);
  return made;
}

LocalFacts LocalWalk::of_operands(CallId id, const Call& call) {
  LocalFacts made;
  for (CallId in : call.in)
    if (in.valid()) made |= facts(in);
  if (call.form->gives != FormRecord::Gives::nothing)
    for (const Block& block : call.blocks)
      if (block.result.valid()) made |= facts(block.result);
  if (call.form->payload == Payload::type) for_each_host_symbol(call, [&](CallId extent) { made |= facts(extent); });
  const Dependence acts = acts_of(id, call);
  act(acts, id);
  hand_over(acts, id);
  if (gives_of_graph(program_, function_, call)) return {};
  made.is |= made.gives;  // of functions that it may call
  if (is_local(function_, call)) made.is |= Dependence{.source = id};
  if (!holds_function(call.type)) made.gives = made.acts = {};
  return made;
}

// What it closes over makes it what it is; what it gives when it is called may also be local without that.
LocalFacts LocalWalk::of_function_value(CallId id, const Call& call) {
  LocalFacts made;
  for (CallId in : call.in) made.is |= facts(in).is;
  if (program_[call.callee].kind != FunctionKind::fn) {
    made.acts.source = id;
    return made;
  }
  const LocalSummary& callee = peers_.summary(call.callee);
  const Given operands = given(call);
  for (const Dependence& gives : {callee.result.is, callee.result.gives})
    made.gives |= here(gives, id, call, operands, &LocalFacts::is);
  for (const Dependence& acts : {callee.acts, callee.result.acts})
    made.acts |= here(acts, id, call, operands, &LocalFacts::acts);
  demands_of(callee, call, id, operands);
  return made;
}

LocalFacts LocalWalk::of_fn_call(CallId id, const Call& call) {
  const LocalSummary& callee = peers_.summary(call.callee);
  const Given operands = given(call);
  act(here(callee.acts, id, call, operands, &LocalFacts::acts), id);
  demands_of(callee, call, id, operands);
  return {here(callee.result.is, id, call, operands, &LocalFacts::is),
          here(callee.result.gives, id, call, operands, &LocalFacts::is),
          here(callee.result.acts, id, call, operands, &LocalFacts::acts)};
}

LocalWalk::Given LocalWalk::given(const Call& call) const {
  const Function& callee = program_[call.callee];
  const bool is_value = call.form->enters == FormRecord::Enters::nothing;
  std::size_t captured = 0, declared = callee.agent.valid() ? 1 : 0;
  Given operands;
  for (const Parameter& parameter : callee.parameters) {
    std::size_t operand = 0;  // the agent
    if (parameter.role == Role::capture) operand = captured++;
    if (parameter.role == Role::declared) operand = is_value ? call.in.size() : declared++;
    operands.push_back(operand < call.in.size() && call.in[operand].valid() ? operand : SIZE_MAX);
  }
  return operands;
}

// What a callee says of itself, said of this call of it.
Dependence LocalWalk::here(const Dependence& there, CallId site, const Call& call, const Given& operands,
                           Dependence LocalFacts::*what) const {
  Dependence made;
  if (there.source.valid()) made.source = site;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (operands[k] == SIZE_MAX) continue;
    const LocalFacts& argument = facts(call.in[operands[k]]);
    if (there.values & bit_of(k)) made |= argument.*what;
    if (there.results & bit_of(k)) made |= argument.gives;
  }
  return made;
}

// ---- what the graph does --------------------------------------------------------------------------

// A call that gives something to the graph, or waits for what all shards get.
Dependence LocalWalk::acts_of(CallId id, const Call& call) const {
  const Dependence certain{.source = id};
  if (call.form->to_run == FormRecord::ToRun::session || calls_task(function_, call)) return certain;
  switch (call.form->payload) {
    case Payload::op:
      return makes_tensors(*call.op, call.type) && !call.folded ? certain : Dependence();
    case Payload::receive:
    case Payload::agent:
      return certain;
    case Payload::callee:  // of a task or graph
      return certain;
    case Payload::builtin: {
      if (takes_part_in_run(*call.builtin)) return certain;
      const bool contents = call.builtin->runs_in == RunsIn::host && std::ranges::any_of(call.in, [&](CallId in) {
                              return in.valid() && holds_tensor(function_[in].type);
                            });
      const bool acts = contents || gives_of_graph(program_, function_, call);
      return acts ? certain : calls_back(call);
    }
    default:
      return call.form->enters == FormRecord::Enters::value ? calls_back(call) : Dependence();
  }
}

// Whatever it calls is among its operands.
Dependence LocalWalk::calls_back(const Call& call) const {
  Dependence acts;
  if (call.builtin && call.builtin->runs_in == RunsIn::names) return acts;
  for (CallId in : call.in)
    if (in.valid() && holds_function(function_[in].type)) acts |= facts(in).acts;
  return acts;
}

void LocalWalk::act(const Dependence& acts, CallId id) {
  if (!acts.any()) return;
  made_.acts |= acts;
  LocalSummary::Demand at;
  at.acts = acts, at.operation = function_[id].span, at.decides = true;
  demand(decision(), at);
}

// Host values beside what the graph works on. A builtin that is given contents has its other operands for itself, and
// agreeing is what makes a value fit to be handed over.
void LocalWalk::hand_over(const Dependence& acts, CallId id) {
  const Call& call = function_[id];
  if (!acts.any() || (call.builtin && call.builtin->effect == Effect::agrees)) return;
  LocalSummary::Demand at;
  at.acts = acts, at.operation = call.span;
  const bool contents_only = call.builtin && call.builtin->runs_in == RunsIn::host;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    if (!call.in[i].valid() || (contents_only && !holds_tensor(function_[call.in[i]].type))) continue;
    demand(operand(call, i, &LocalFacts::is), at);
    if (asks(call) && holds_function(function_[call.in[i]].type)) demand(operand(call, i, &LocalFacts::gives), at);
  }
  for_each_host_symbol(call, [&](CallId extent) {
    if (extent.index() < function_.calls.size()) demand({facts(extent).is, extent, call.span}, at);
  });
}

LocalWalk::Decision LocalWalk::operand(const Call& call, std::size_t i, Dependence LocalFacts::*what) const {
  return {facts(call.in[i]).*what, call.in[i], span_of(call, i)};
}

// What must not be local because of what a fn does with it. What a closure does with what it closes over is written
// here.
void LocalWalk::demands_of(const LocalSummary& callee, const Call& call, CallId site, const Given& operands) {
  for (const auto& [key, there] : callee.demands) {
    LocalSummary::Demand at = there;
    at.acts = here(there.acts, site, call, operands, &LocalFacts::acts);
    if (key == LocalSummary::always) {
      if (at.acts.source.valid())
        peers_.found({at.function, at.source, at.value, at.used, at.decides, at.operation, {}, call.span});
      else if (at.acts.any())
        owe(key, at);
      continue;
    }
    const bool results = key >= LocalSummary::of_results;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (place_of(k) != key % LocalSummary::of_results || operands[k] == SIZE_MAX) continue;
      Decision by = operand(call, operands[k], results ? &LocalFacts::gives : &LocalFacts::is);
      if (program_[call.callee].parameters[k].role == Role::capture) by.used = at.used;
      demand(by, at);
    }
  }
}

// Where both are certain it is an error here; else callers answer for what they give.
void LocalWalk::demand(const Decision& by, const LocalSummary::Demand& at) {
  if (!by.by.any() || !at.acts.any()) return;
  auto owed_by = [&](const Dependence& to) {
    const Decision part = narrowed(by, to);
    LocalSummary::Demand owed = at;
    if (!at.used.valid() || to.source.valid()) owed.used = part.used;
    owed.function = id_, owed.source = to.source, owed.value = part.value;
    return owed;
  };
  if (const CallId source = by.by.source; source.valid()) {
    const LocalSummary::Demand owed = owed_by({source});
    const Span inside = at.used == owed.used ? Span() : at.used;
    if (at.acts.source.valid())
      peers_.found({id_, source, owed.value, owed.used, at.decides, at.operation, inside, {}});
    else
      owe(LocalSummary::always, owed);
  }
  for (std::uint32_t k = 0; k < LocalSummary::of_results; ++k) {
    const std::uint64_t bit = std::uint64_t{1} << k;
    if (by.by.values & bit) owe(k, owed_by({{}, bit, 0}));
    if (by.by.results & bit) owe(LocalSummary::of_results + k, owed_by({{}, 0, bit}));
  }
}

// The part of what is written there that leads to it: of `t - start > 10.0` the `start`.
LocalWalk::Decision LocalWalk::narrowed(Decision by, const Dependence& to) const {
  auto leads = [&](CallId in) {
    if (!in.valid()) return false;
    const Dependence& is = facts(in).is;
    return to.source.valid() ? is.source == to.source : (is.values & to.values) || (is.results & to.results);
  };
  while (by.value != to.source && by.value.valid() && function_[by.value].span == by.used) {
    const Call& call = function_[by.value];
    const auto in = std::ranges::find_if(call.in, leads);
    const auto i = static_cast<std::size_t>(in - call.in.begin());
    if (i >= call.in_spans.size()) break;
    by.value = call.in[i];
    by.used = call.in_spans[i];
  }
  return by;
}

void LocalWalk::owe(std::uint32_t key, const LocalSummary::Demand& demand) {
  auto [known, added] = made_.demands.emplace(key, demand);
  if (!added) known->second.acts |= demand.acts;
}

}  // namespace taskspec::checking
