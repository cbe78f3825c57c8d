#include "interp/control/facts.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <unordered_set>

#include "ir/base/function_ref.hpp"
#include "ir/program/call_graph.hpp"
#include "ir/program/host_symbols.hpp"
#include "ir/program/top_level.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec {

namespace {

// Scalars cost nothing to keep, and extents name them.
bool is_released(const Reads& reads, CallId id) {
  const Type& type = reads.function()[id].type;
  return reads.last(id).valid() && (type.is_tensor() || type.is(Type::Kind::invocation) || type.is(Type::Kind::list) ||
                                    type.is(Type::Kind::tuple));
}

// Behind what stands there of older calls.
void find_releases(const Reads& reads, FunctionFacts& facts) {
  const std::size_t first = reads.first(), count = reads.function().calls.size() - first;
  std::vector<std::uint32_t> starts(count + 1, 0);
  for (std::size_t i = first; i < first + count; ++i)
    if (is_released(reads, CallId(i))) ++starts[reads.last(CallId(i)).index() - first + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  const std::size_t before = facts.last_reads.size();
  facts.last_reads.resize(before + starts.back());
  if (facts.last_read_starts.empty()) facts.last_read_starts.push_back(0);
  for (std::size_t i = 1; i < starts.size(); ++i)
    facts.last_read_starts.push_back(static_cast<std::uint32_t>(before) + starts[i]);
  for (std::size_t i = first; i < first + count; ++i)
    if (is_released(reads, CallId(i)))
      facts.last_reads[before + starts[reads.last(CallId(i)).index() - first]++] = CallId(i);
}

void find_appends(const Function& function, std::size_t first, const Reads& reads, FunctionFacts& facts) {
  facts.appends.resize(function.calls.size(), false);
  for (std::size_t i = first; i < function.calls.size(); ++i) {
    const Call& call = function.calls[i];
    if (call.form != Form::write || call.in.empty() || !reads.once(call.in[0])) continue;
    const Call& sum = function[call.in[0]];
    bool joins = sum.form == Form::op && sum.op->joins && sum.type.is(Type::Kind::list) && sum.in.size() == 2;
    if (!joins || !reads.once(sum.in[0])) continue;
    const Call& left = function[sum.in[0]];
    facts.appends[call.in[0].index()] = left.form == Form::variable && left.variable == call.variable &&
                                        left.type == sum.type && function[sum.in[1]].type == sum.type;
  }
}

void find_settled(const Function& function, std::size_t first, FunctionFacts& facts) {
  for (std::size_t i = first; i < function.calls.size(); ++i) {
    const Call& call = function.calls[i];
    facts.settled.push_back(call.form == Form::op && call.op->outputs.empty() && call.type.is_tensor() &&
                            is_settled(function, call, call.type));
  }
}

void find_places(const Function& function, std::size_t first, FunctionFacts& facts, std::vector<VariableId>& found) {
  facts.places.resize(function.variables.size(), false);
  auto find = [&](VariableId variable) {
    if (!facts.places[variable.index()]) found.push_back(variable);
    facts.places[variable.index()] = true;
  };
  for (std::size_t i = first; i < function.calls.size(); ++i)
    for (const Place& place : function.calls[i].places) find(place.variable);
  for (const Parameter& parameter : function.parameters)
    if (parameter.privilege == Privilege::inout && parameter.variable.valid()) find(parameter.variable);
}

void find_steps(const Function& function, std::size_t first, std::span<const FormStep> more, FunctionFacts& facts) {
  for (std::size_t i = first; i < function.calls.size(); ++i)
    facts.steps.push_back(&step_of(function.calls[i].form, more));
}

FunctionFacts make_facts(const Function& function, std::span<const FormStep> more) {
  FunctionFacts facts;
  facts.talks = std::ranges::any_of(function.calls, [](const Call& call) { return call.form->talks; });
  find_steps(function, 0, more, facts);
  for_each_quotient(function, [&](const Dim&) { facts.divides = true; });
  std::vector<VariableId> places;
  find_places(function, 0, facts, places);
  const Reads reads(function, 0, function.body.calls);
  find_releases(reads, facts);
  find_appends(function, 0, reads, facts);
  find_settled(function, 0, facts);
  place_values(reads, facts.places, facts.registers);
  return facts;
}

// What was found of older calls stays as it is.
Added grow(FunctionFacts& facts, const Function& function, std::span<const FormStep> more) {
  const std::size_t first = facts.appends.size();
  find_steps(function, first, more, facts);
  Added added{listed_since(function, first, facts.listed), {}};
  facts.listed = function.body.calls.size();
  find_places(function, first, facts, added.places);
  Reads reads(function, first, added.calls);
  for (CallId id : added.calls) {
    const Call& call = function[id];
    const bool is_let = call.form == Form::write && !function.variables[call.variable.index()].is_mutable;
    if (is_let) reads.keep(call.in[0]);
  }
  find_releases(reads, facts);
  find_appends(function, first, reads, facts);
  find_settled(function, first, facts);
  place_values(reads, facts.places, facts.registers);
  return added;
}

// Calls `visit` for every call inside the blocks of `call`, nested ones too, in order.
void each_inner(const Function& function, const Call& call, FunctionRef<void(CallId, const Call&)> visit) {
  for (const Block& block : call.blocks)
    for (CallId id : block.calls) {
      visit(id, function[id]);
      each_inner(function, function[id], visit);
    }
}

// Visits a function and all that it calls, each once.
void each_reached(const Program& program, FunctionId from, FunctionRef<void(const Function&)> visit) {
  std::vector<FunctionId> todo{from};
  std::vector<bool> seen(program.functions.size(), false);
  while (!todo.empty()) {
    FunctionId next = todo.back();
    todo.pop_back();
    if (seen[next.index()]) continue;
    seen[next.index()] = true;
    visit(program[next]);
    for (const Call& call : program[next].calls)
      each_callee(program, call, [&](FunctionId callee) { todo.push_back(callee); });
  }
}

void add_globals(const Function& function, std::vector<GlobalUse>& globals) {
  for (const Call& call : function.calls)
    if (call.form == Form::global) globals.push_back({call.module, call.variable});
}

bool reaches_slots(const Program& program, FunctionId from) {
  bool found = false;
  each_reached(program, from, [&](const Function& function) {
    found = found || std::ranges::any_of(function.parameters, [](const auto& p) { return p.role == Role::slot; });
  });
  return found;
}

// Regions, or what is made of them; not the views of a task.
bool holds_data(const Type& type) {
  using Kind = Type::Kind;
  return type.is(Kind::region) || type.is(Kind::partition) || type.is(Kind::region_field) ||
         type.is(Kind::launch_map) || std::ranges::any_of(type.parts, holds_data);
}

bool uses_data(const Call& call) { return call.form->changes_data || holds_data(call.type); }

bool reaches_data(const Program& program, FunctionId from) {
  bool found = false;
  each_reached(program, from, [&](const Function& function) {
    if (function.kind == FunctionKind::task) return;
    found = found || std::ranges::any_of(function.calls, uses_data);
  });
  return found;
}

bool only_computes(const Call& call) {
  const bool is_given = call.form == Form::parameter || call.form == Form::global || call.form == Form::self;
  if (call.type.is_tensor() || uses_data(call) || call.form->talks || call.form->of_graph) return false;
  if (call.builtin && call.builtin->effect != Effect::pure) return false;
  return !(is_given && may_hold_agents(call.type));  // functions that nobody knows here
}

bool reaches_numbers_alone(const Program& program, FunctionId from) {
  bool found = true;
  each_reached(program, from, [&](const Function& function) {
    const bool is_plain = function.kind == FunctionKind::fn && function.extern_symbol.empty() &&
                          !function.effects.host && !function.effects.graph;
    found = found && is_plain && std::ranges::all_of(function.calls, only_computes);
  });
  return found;
}

// It may reach the agent of this function, by a value that was made outside of the block.
bool may_reach_own(const Function& function, const Call& call) {
  if (call.form->enters == FormRecord::Enters::nothing && !call.builtin) return false;
  return std::ranges::any_of(call.in, [&](CallId in) { return in.valid() && may_hold_agents(function[in].type); });
}

FreeUse make_free_use(const Program& program, const Function& function, CallId structured) {
  const Call& outer = function[structured];
  std::vector<bool> inside(function.calls.size(), false), seen(function.calls.size(), false);
  each_inner(function, outer, [&](CallId id, const Call&) { inside[id.index()] = true; });
  FreeUse use;
  const bool own_slots = function.agent.valid() && !program[function.agent].slots.empty();
  auto value = [&](CallId id) {
    if (!id.valid() || inside[id.index()] || seen[id.index()]) return;
    seen[id.index()] = true;
    use.values.push_back(id);
  };
  std::vector<bool> parameters(function.parameters.size(), false);
  std::vector<bool> read(function.variables.size(), false), written(read), outside(read);
  for (CallId id : outer.in) value(id);
  for (const Block& block : outer.blocks) value(block.result);
  each_inner(function, outer, [&](CallId, const Call& call) {
    for (CallId id : call.in) value(id);
    for (const Block& block : call.blocks) value(block.result);
    for_each_host_symbol(call, value);  // fill(f32[h], 0.0) needs h, though it is no operand
    if (call.form == Form::parameter) parameters[call.index] = true;
    if (call.form == Form::self) use.self = true;
    if (call.form == Form::agent) use.agents = true;
    if (call.form == Form::global) use.globals.push_back({call.module, call.variable});
    each_callee(program, call, [&](FunctionId callee) {
      each_reached(program, callee, [&](const Function& f) { add_globals(f, use.globals); });
    });
    use.data = use.data || uses_data(call);
    each_callee(program, call, [&](FunctionId callee) { use.data = use.data || reaches_data(program, callee); });
    use.slots = use.slots || (call.callee.valid() && reaches_slots(program, call.callee));
    if (own_slots && may_reach_own(function, call)) use.self = use.slots = true;
    if (call.form == Form::variable) read[call.variable.index()] = true;
    if (call.form->writes()) written[call.variable.index()] = true;
    for (const Place& place : call.places) read[place.variable.index()] = written[place.variable.index()] = true;
    bool calls_graph = call.form == Form::call && program[call.callee].effects.graph;
    bool op = call.form == Form::op && makes_tensors(*call.op, call.type);
    if (call.type.is_tensor() || op || call.form == Form::invoke || calls_graph) use.graph = true;
  });
  for (std::size_t i = 0; i < function.calls.size(); ++i) {
    const Call& call = function.calls[i];
    if (inside[i] || !call.variable.valid() || call.form == Form::global) continue;
    outside[call.variable.index()] = true;
  }
  for (const Output& output : function.outputs) outside[output.variable.index()] = true;
  for (const Parameter& parameter : function.parameters)
    if (parameter.variable.valid()) outside[parameter.variable.index()] = true;
  for (std::size_t v = 0; v < read.size(); ++v) {
    if (read[v] || written[v]) use.read.push_back(VariableId(v));
    if (written[v] && outside[v]) use.written.push_back(VariableId(v));
  }
  for (std::uint32_t k = 0; k < parameters.size(); ++k)
    if (parameters[k]) use.parameters.push_back(k);
  return use;
}

}  // namespace

bool is_settled(const Function& function, const Call& call, const Type& type) {
  if (type.has_symbols() || type.is(Type::Kind::error)) return false;
  for (CallId in : call.in) {
    if (!in.valid()) continue;
    const Call& operand = function[in];
    // Of a tensor with symbols the rule has not seen the extents: x[0..2] of a shorter x.
    if (operand.type.is_tensor() ? operand.type.has_symbols() : !operand.folded && operand.form != Form::constant)
      return false;
  }
  return true;
}

struct Facts::Known {
  FunctionFacts facts;
  OnceTable<FreeUse> free_uses;  // by call
  OnceTable<Compact> compacts;   // by first call of a block or by call, and whether in a graph
};

bool may_hold_agents(const Type& type) {
  using Kind = Type::Kind;
  return type.is(Kind::agent) || type.is(Kind::function) || type.is(Kind::task) ||
         std::ranges::any_of(type.parts, may_hold_agents);
}

Facts::Facts(const Program& program, std::span<const FormStep> more) : program_(program), more_(more) {}
Facts::~Facts() = default;

const FunctionFacts& Facts::function(FunctionId id) { return known(id).facts; }

Facts::Known& Facts::known(FunctionId id) {
  return functions_.get(id.index(), [&](Known& fresh) { fresh.facts = make_facts(program_[id], more_); });
}

Added Facts::grow(FunctionId id) {
  Known& known = functions_.get(id.index(), [](Known&) {});
  known.free_uses.clear();
  known.compacts.clear();
  return taskspec::grow(known.facts, program_[id], more_);
}

const Compact& Facts::compact(FunctionId id, const Block& block, bool in_graph) {
  Known& known = this->known(id);
  const CompactSource source{program_, program_[id], known.facts, in_graph};
  return known.compacts.get(block.calls[0].index() * 4 + (in_graph ? 1 : 0),
                            [&](Compact& fresh) { fresh = compact_of(source, block.calls); });
}

const Compact& Facts::compact(FunctionId id, CallId call, bool in_graph) {
  Known& known = this->known(id);
  const CompactSource source{program_, program_[id], known.facts, in_graph};
  return known.compacts.get(call.index() * 4 + (in_graph ? 3 : 2), [&](Compact& fresh) {
    fresh = compact_of(source, {&call, 1});
  });
}

Compact Facts::compact(FunctionId id, std::span<const CallId> calls) {
  return compact_of({program_, program_[id], known(id).facts, false}, calls);
}

const FreeUse& Facts::free_use(FunctionId id, CallId structured) {
  return known(id).free_uses.get(structured.index(),
                                 [&](FreeUse& fresh) { fresh = make_free_use(program_, program_[id], structured); });
}

const std::vector<GlobalUse>& Facts::globals(FunctionId id) {
  return globals_.get(id.index(), [&](std::vector<GlobalUse>& uses) {
    each_reached(program_, id, [&](const Function& function) { add_globals(function, uses); });
  });
}

bool Facts::uses_data(FunctionId id) {
  return uses_data_.get(id.index(), [&](bool& uses) { uses = reaches_data(program_, id); });
}

bool Facts::only_computes(FunctionId id) {
  return only_computes_.get(id.index(), [&](bool& computes) { computes = reaches_numbers_alone(program_, id); });
}

bool Facts::uses_slots(FunctionId id) {
  return uses_slots_.get(id.index(), [&](bool& uses) { uses = reaches_slots(program_, id); });
}

}  // namespace taskspec
