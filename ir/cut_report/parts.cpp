#include "ir/cut_report/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/cut/host_code.hpp"
#include "ir/program/call_graph.hpp"
#include "ir/program/top_level.hpp"

namespace taskspec {

std::vector<FunctionId> wholes_of(const CutProgram& cut) {
  std::vector<FunctionId> wholes;
  for (std::size_t i = 0; i < cut.program.functions.size(); ++i) wholes.emplace_back(i);
  for (std::size_t i = 0; i < cut.parts.size(); ++i)
    for (FunctionId part : {cut.parts[i].host, cut.parts[i].graph})
      if (part.valid()) wholes[part.index()] = FunctionId(i);
  return wholes;
}

FunctionId called_part(const CutProgram& cut, const std::vector<FunctionId>& wholes, FunctionId callee, Part side) {
  if (!callee.valid()) return {};
  const FunctionId whole = wholes[callee.index()];
  if (whole.index() >= cut.parts.size()) return whole;
  const FunctionParts& parts = cut.parts[whole.index()];
  if (!parts.host.valid() && !parts.graph.valid()) return whole;
  return side == Part::host ? parts.host : parts.graph;
}

namespace {

template <class Visit>
void each_callee(const CutProgram& cut, const std::vector<FunctionId>& wholes, FunctionId id, Part side,
                 const Visit& visit) {
  const Program& program = cut.program;
  const Function& function = program[id];
  auto look = [&](CallId at) {
    const Call& call = function[at];
    if (FunctionId callee = called_part(cut, wholes, call.callee, side); callee.valid()) visit(callee);
    if (call.form != Form::agent) return;
    for (const Slot& slot : program[call.agent].slots)
      if (FunctionId made = called_part(cut, wholes, slot.initial, side); made.valid()) visit(made);
  };
  each_call(function, function.body, look);
  for (const Parameter& parameter : function.parameters) each_call(function, parameter.default_block, look);
}

std::vector<bool> reached_on(const CutProgram& cut, Part side) {
  const std::vector<FunctionId> wholes = wholes_of(cut);
  std::vector<bool> seen(cut.program.functions.size(), false), reached(cut.parts.size(), false);
  std::vector<FunctionId> todo;
  auto reach = [&](FunctionId id) {
    if (!id.valid() || seen[id.index()]) return;
    seen[id.index()] = true;
    if (const FunctionId whole = wholes[id.index()]; whole.index() < reached.size()) reached[whole.index()] = true;
    todo.push_back(id);
  };
  for (const Module& module : cut.program.modules) reach(cut.part(module.top_level, side));
  while (!todo.empty()) {
    const FunctionId id = todo.back();
    todo.pop_back();
    each_callee(cut, wholes, id, side, reach);
  }
  return reached;
}

}  // namespace

Reached reached_of(const CutProgram& cut) { return {reached_on(cut, Part::host), reached_on(cut, Part::graph)}; }

namespace {

bool is_message(const Call& call) { return call.form->talks; }
bool is_order(const Call& call) { return call.form == Form::enqueue && call.in.empty(); }

// Does the program end at this call, on purpose or by a fault of its own? What prints or reads may end it as well, but
// nobody writes it for that.
bool is_end(const Program& program, const Call& call) {
  const bool named = !call.builtin || call.builtin->ends == EndsProgram::complains;
  return exits(call) || (named && may_end(program, call));
}

// By function: those with such a call, and whoever calls them.
template <class Test>
std::vector<bool> doing(const CutProgram& cut, Part side, const Test& test) {
  const std::vector<FunctionId> wholes = wholes_of(cut);
  const std::deque<Function>& functions = cut.program.functions;
  CallGraph calls(functions.size());
  std::vector<bool> found(functions.size(), false);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    each_callee(cut, wholes, FunctionId(i), side, [&](FunctionId callee) { calls.add(FunctionId(i), callee); });
    each_call(functions[i], functions[i].body, [&](CallId id) { found[i] = found[i] || test(functions[i][id]); });
  }
  return calls.with_callers(std::move(found));
}

// Calls go by the whole function.
template <class Test>
std::vector<bool> doing_on_host(const CutProgram& cut, const Test& test) {
  std::vector<bool> found = doing(cut, Part::host, test);
  for (std::size_t i = 0; i < cut.parts.size(); ++i)
    if (const FunctionId host = cut.parts[i].host; host.valid()) found[i] = found[host.index()];
  return found;
}

}  // namespace

std::vector<bool> communicating(const CutProgram& cut, Part side) { return doing(cut, side, is_message); }
std::vector<bool> sending(const CutProgram& cut) {
  return doing_on_host(cut, [](const Call& call) { return call.form == Form::enqueue; });
}
std::vector<bool> ordering(const CutProgram& cut) { return doing_on_host(cut, is_order); }
std::vector<bool> ending(const CutProgram& cut) {
  return doing_on_host(cut, [&](const Call& call) { return is_end(cut.program, call); });
}

bool waits(Carries what) {
  return what == Carries::scalar || what == Carries::array || what == Carries::iter || what == Carries::contents ||
         what == Carries::result;
}

// ---- feeding --------------------------------------------------------------------------------------

Feeding::Feeding(const Function& function, const std::vector<bool>* senders)
    : function_(function),
      senders_(senders),
      needed_(function.calls.size(), false),
      variables_(function.variables.size(), false),
      acted_(function.calls.size(), false) {}

Feeding Feeding::of_sends(const Function& host, const std::vector<bool>& senders) {
  Feeding feeding(host, &senders);
  feeding.walk(host.body);
  return feeding;
}

Feeding Feeding::of_orders(const Program& program, const Function& host, const std::vector<bool>& orderers,
                           const std::vector<bool>& enders) {
  Feeding feeding(host, &orderers);
  feeding.enders_ = &enders;
  feeding.program_ = &program;
  feeding.walk(host.body);
  return feeding;
}

Feeding Feeding::of_loop(const Function& part, CallId loop) {
  Feeding feeding(part);
  if (part[loop].form->decides_inside()) feeding.need(decision_of(part[loop]));
  feeding.repeat(loop);
  return feeding;
}

void Feeding::need(CallId id) {
  if (!id.valid() || needed_[id.index()]) return;
  needed_[id.index()] = true;
  ++changes_;
}

// True when something in it counts.
bool Feeding::walk(const Block& block) {
  bool counts = false;
  for (std::size_t i = block.calls.size(); i-- > 0;) counts = visit(block.calls[i]) || counts;
  return counts;
}

bool Feeding::sends(const Call& call) const {
  if (!senders_) return false;
  if (call.form == Form::enqueue) return !enders_ || is_order(call);
  return call.form == Form::call && (*senders_)[call.callee.index()];
}

bool Feeding::ends(const Call& call) const {
  if (!enders_) return false;
  return is_end(*program_, call) || (call.form == Form::call && (*enders_)[call.callee.index()]);
}

// Does it do what counts, and is no value only?
bool Feeding::acts(CallId id) const {
  const Call& call = function_[id];
  const FormRecord::Leaves left = call.form->leaves;
  const bool leaves = left == FormRecord::Leaves::function || (left == FormRecord::Leaves::loop && !inner_);
  if (sends(call) || (!senders_ && leaves)) return true;
  const bool writes = call.form->writes();
  if (writes && variables_[call.variable.index()]) return true;
  for (const Place& place : call.places)
    if (variables_[place.variable.index()]) return true;
  // What it prevents, if it is done.
  if (left == FormRecord::Leaves::function || ends(call)) return acts_;
  return left != FormRecord::Leaves::nothing && acts_in_loop_;
}

bool Feeding::visit(CallId id) {
  const Call& call = function_[id];
  const bool acts_itself = acts(id);
  if (acts_itself) {
    acts_ = acts_in_loop_ = true;
    if (!acted_[id.index()]) ++changes_;
    acted_[id.index()] = true;
  }
  bool counts = needed_[id.index()] || acts_itself;
  if (!call.blocks.empty()) counts = control(id) || counts;
  if (!counts) return false;
  for (CallId in : call.in) need(in);
  if (call.form == Form::variable && !variables_[call.variable.index()]) {
    variables_[call.variable.index()] = true;
    ++changes_;
  }
  return true;
}

bool Feeding::control(CallId id) {
  const Call& call = function_[id];
  if (call.form->repeats()) {
    const bool before = std::exchange(inner_, true);
    const bool counts = repeat(id);
    inner_ = before;
    return counts;
  }
  bool counts = false;
  if (needed_[id.index()])
    for (const Block& block : call.blocks) need(block.result);
  for (std::size_t b = call.blocks.size(); b-- > 0;) counts = walk(call.blocks[b]) || counts;
  return counts;
}

// What one turn leaves behind, the next one may need.
bool Feeding::repeat(CallId id) {
  const Call& call = function_[id];
  const bool outside = std::exchange(acts_in_loop_, false);
  bool counts = false;
  for (std::size_t before = SIZE_MAX; before != changes_;) {
    before = changes_;
    for (std::size_t b = call.blocks.size(); b-- > 0;) counts = walk(call.blocks[b]) || counts;
    if (counts && call.form->decides_inside()) need(decision_of(call));
  }
  acts_in_loop_ = acts_in_loop_ || outside;
  return counts;
}

// ---- places ---------------------------------------------------------------------------------------

namespace {

void place_calls(const Function& function, const Block& block, CallPosition at, std::uint32_t& order,
                 std::vector<CallPosition>& places) {
  for (CallId id : block.calls) {
    at.order = ++order;
    places[id.index()] = at;
    const Call& call = function[id];
    CallPosition inside = at;
    if (call.form->repeats()) {
      ++inside.loops;
      inside.loop = id;
    }
    for (const Block& inner : call.blocks) place_calls(function, inner, inside, order, places);
  }
}

}  // namespace

std::vector<CallPosition> positions_of(const Function& function) {
  std::vector<CallPosition> places(function.calls.size());
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
