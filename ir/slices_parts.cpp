#include "ir/slices_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/top_level.hpp"

namespace taskspec {

std::vector<FunctionId> wholes_of(const Slices& slices) {
  std::vector<FunctionId> wholes;
  for (std::size_t i = 0; i < slices.program.functions.size(); ++i) wholes.emplace_back(i);
  for (std::size_t i = 0; i < slices.parts.size(); ++i)
    for (FunctionId part : {slices.parts[i].host, slices.parts[i].graph})
      if (part.valid()) wholes[part.index()] = FunctionId(i);
  return wholes;
}

FunctionId called_part(const Slices& slices, const std::vector<FunctionId>& wholes, FunctionId callee, Part side) {
  if (!callee.valid()) return {};
  const FunctionId whole = wholes[callee.index()];
  if (whole.index() >= slices.parts.size()) return whole;
  const FunctionParts& parts = slices.parts[whole.index()];
  if (!parts.host.valid() && !parts.graph.valid()) return whole;
  return side == Part::host ? parts.host : parts.graph;
}

namespace {

template <class Visit>
void each_callee(const Slices& slices, const std::vector<FunctionId>& wholes, FunctionId id, Part side,
                 const Visit& visit) {
  const Program& program = slices.program;
  const Function& function = program[id];
  auto look = [&](CallId at) {
    const Call& call = function[at];
    if (FunctionId callee = called_part(slices, wholes, call.callee, side); callee.valid()) visit(callee);
    if (call.form != Form::agent) return;
    for (const Slot& slot : program[call.agent].slots)
      if (FunctionId made = called_part(slices, wholes, slot.initial, side); made.valid()) visit(made);
  };
  each_call(function, function.body, look);
  for (const Parameter& parameter : function.parameters) each_call(function, parameter.default_block, look);
}

std::vector<bool> reached_on(const Slices& slices, Part side) {
  const std::vector<FunctionId> wholes = wholes_of(slices);
  std::vector<bool> seen(slices.program.functions.size(), false), reached(slices.parts.size(), false);
  std::vector<FunctionId> todo;
  auto reach = [&](FunctionId id) {
    if (!id.valid() || seen[id.index()]) return;
    seen[id.index()] = true;
    if (const FunctionId whole = wholes[id.index()]; whole.index() < reached.size()) reached[whole.index()] = true;
    todo.push_back(id);
  };
  for (const Module& module : slices.program.modules) reach(slices.part(module.top_level, side));
  while (!todo.empty()) {
    const FunctionId id = todo.back();
    todo.pop_back();
    each_callee(slices, wholes, id, side, reach);
  }
  return reached;
}

}  // namespace

Reached reached_of(const Slices& slices) { return {reached_on(slices, Part::host), reached_on(slices, Part::graph)}; }

std::vector<bool> communicating(const Slices& slices, Part side) {
  const std::vector<FunctionId> wholes = wholes_of(slices);
  const std::size_t count = slices.program.functions.size();
  std::vector<std::vector<FunctionId>> callers(count);
  std::vector<bool> communicates(count, false);
  std::vector<FunctionId> todo;
  for (std::size_t i = 0; i < count; ++i) {
    const Function& function = slices.program.functions[i];
    each_callee(slices, wholes, FunctionId(i), side,
                [&](FunctionId callee) { callers[callee.index()].emplace_back(i); });
    bool own = false;
    each_call(function, function.body, [&](CallId id) {
      own = own || function[id].form == Form::enqueue || function[id].form == Form::dequeue;
    });
    if (!own) continue;
    communicates[i] = true;
    todo.emplace_back(i);
  }
  while (!todo.empty()) {
    const FunctionId id = todo.back();
    todo.pop_back();
    for (FunctionId caller : callers[id.index()]) {
      if (communicates[caller.index()]) continue;
      communicates[caller.index()] = true;
      todo.push_back(caller);
    }
  }
  return communicates;
}

bool waits(Carries what) {
  return what == Carries::scalar || what == Carries::array || what == Carries::iter || what == Carries::contents ||
         what == Carries::result;
}

// ---- influence ------------------------------------------------------------------------------------

Influence::Influence(const Function& function, CallId source)
    : function_(function), calls_(function.calls.size(), false), variables_(function.variables.size(), false) {
  calls_[source.index()] = true;
  do {
    changed_ = false;
    walk(function.body, false);
  } while (changed_);
}

void Influence::walk(const Block& block, bool decided) {
  for (CallId id : block.calls) visit(id, decided);
}

void Influence::visit(CallId id, bool decided) {
  const Call& call = function_[id];
  auto set = [this](std::vector<bool>& list, std::size_t i) {
    if (list[i]) return;
    list[i] = changed_ = true;
  };
  bool depends = decided;
  for (CallId in : call.in) depends = depends || (in.valid() && calls_[in.index()]);
  if (call.form == Form::variable && variables_[call.variable.index()]) depends = true;
  bool inside = decided;
  if (call.form == Form::if_ || call.form == Form::for_ || call.form == Form::both || call.form == Form::either)
    inside = inside || depends;
  for (std::size_t i = 0; i < call.blocks.size(); ++i) {
    const Block& block = call.blocks[i];
    walk(block, inside);
    if (!block.result.valid() || !calls_[block.result.index()]) continue;
    depends = true;
    if (call.form == Form::while_) inside = true;
  }
  if (!depends) return;
  set(calls_, id.index());
  if (call.form == Form::write || call.form == Form::store) set(variables_, call.variable.index());
  for (const Place& place : call.places) set(variables_, place.variable.index());
  if (decided && (call.form == Form::break_ || call.form == Form::return_)) leaves_ = true;
}

// ---- places ---------------------------------------------------------------------------------------

namespace {

void place_calls(const Function& function, const Block& block, CallPlace at, std::uint32_t& order,
                 std::vector<CallPlace>& places) {
  for (CallId id : block.calls) {
    at.order = ++order;
    places[id.index()] = at;
    const Call& call = function[id];
    CallPlace inside = at;
    if (call.form == Form::for_ || call.form == Form::while_) {
      ++inside.loops;
      inside.loop = id;
    }
    for (const Block& inner : call.blocks) place_calls(function, inner, inside, order, places);
  }
}

}  // namespace

std::vector<CallPlace> places_of(const Function& function) {
  std::vector<CallPlace> places(function.calls.size());
  std::uint32_t order = 0;
  place_calls(function, function.body, {}, order, places);
  return places;
}

std::string position_text(const Program& program, Span span) {
  if (!span.valid() || span.source.index() >= program.sources.size()) return "a place without text";
  const Source& source = program.sources[span.source];
  const Position at = source.position(span.begin);
  const std::string text = fmt::format("{}:{}", at.line, at.column);
  return span.source == program.main().source ? text : source.path() + ":" + text;
}

}  // namespace taskspec
