#include "interp/control/compact_builder.hpp"

#include <algorithm>

namespace taskspec {

namespace {

constexpr auto value_bytes = static_cast<std::int32_t>(sizeof(Value));

// Of the host alone, whatever stands in it.
bool is_host_value(const Type& type) {
  using Kind = Type::Kind;
  const bool scalar = type.is(Kind::integer) || type.is(Kind::real) || type.is(Kind::boolean) || type.is(Kind::string);
  const bool items = type.is(Kind::list) || type.is(Kind::tuple);
  return scalar || (items && std::ranges::all_of(type.parts, is_host_value));
}

// Nothing but its arguments and its body is needed to call it.
bool is_plain(const Function& callee) {
  return callee.kind == FunctionKind::fn && !callee.agent.valid() && callee.extern_symbol.empty() &&
         !callee.effects.graph && std::ranges::all_of(callee.parameters, [](const Parameter& parameter) {
           return parameter.role == Role::declared && !parameter.variable.valid() && !parameter.default_value.valid() &&
                  is_host_value(parameter.type);
         });
}

}  // namespace

CompactBuilder::CompactBuilder(const CompactSource& source)
    : source_(source), set_(source.function.variables.size(), false) {}

void CompactBuilder::calls(std::span<const CallId> calls, CallId decision) {
  const std::size_t outside = set_here_.size();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallId id = calls[i];
    next_ = i + 1 < calls.size() ? calls[i + 1] : CallId();
    decision_ = decision;
    if (!(*this)[id].guards.empty()) emit(Kind::guards, id);
    const FormStep& row = *facts().steps[id.index()];
    row.emit ? row.emit(*this, id) : step(id);
    for (CallId read : facts().last_read_by(id))
      if (facts().registers.own[read.index()]) emit(Kind::release, id, at(read));
  }
  for (; set_here_.size() > outside; set_here_.pop_back()) set_[set_here_.back().index()] = false;
}

std::size_t CompactBuilder::emit(Kind kind, CallId call, std::int32_t a, std::int32_t b, std::int32_t c) {
  code_.instructions.push_back({kind, call, a, b, c});
  return here() - 1;
}

void CompactBuilder::step(CallId call) {
  const std::size_t at = emit(Kind::step, call);
  if ((*this)[call].blocks.empty() || loops_.empty()) return;  // what may stand in blocks ends loops
  loops_.back().breaks.push_back(at);
  loops_.back().continues.push_back(at);
}

CompactBuilder::Jumps CompactBuilder::node(CallId call) {
  return source_.in_graph ? Jumps{emit(Kind::node, call)} : Jumps{};
}

void CompactBuilder::land(const Jumps& jumps) {
  for (std::size_t jump : jumps) code_.instructions[jump].c = static_cast<std::int32_t>(here() - jump);
}

void CompactBuilder::jump_back(std::size_t to, Kind kind, CallId call, std::int32_t a, std::int32_t b) {
  emit(kind, call, a, b, static_cast<std::int32_t>(to) - static_cast<std::int32_t>(here()));
}

// Only what stands right behind it asks for its value, as a statement, or as the loop whose condition it is.
bool CompactBuilder::defer(CallId comparison, Kind unless) {
  if (source_.in_graph || !facts().registers.passed_on[comparison.index()] || !(*this)[comparison].guards.empty())
    return false;
  const bool decides = next_.valid() && (*this)[next_].form->is_control() && !(*this)[next_].in.empty() &&
                       (*this)[next_].in[0] == comparison && facts().steps[next_.index()]->emit;
  if (!decides && (next_.valid() || decision_ != comparison)) return false;
  deferred_ = comparison;
  unless_ = unless;
  return true;
}

CompactBuilder::Jumps CompactBuilder::unless(CallId value, CallId owner) {
  if (is_constant(value)) {
    const bool always = function()[value].value.boolean();
    return always ? Jumps{} : Jumps{emit(Kind::jump, owner)};
  }
  Jumps jumps;
  if (deferred_ == value) {
    const Call& comparison = (*this)[value];
    jumps.push_back(emit(unless_, value, at(comparison.in[0]), at(comparison.in[1])));
  }
  jumps.push_back(emit(Kind::branch, owner, at(value)));
  return jumps;
}

// ---- loops and what ends them ---------------------------------------------------------------------

void CompactBuilder::target(std::size_t jump, std::size_t to, bool next_turn) {
  Instruction& instruction = code_.instructions[jump];
  const bool step = instruction.kind == Kind::step;
  std::int32_t& operand = !step ? instruction.c : next_turn ? instruction.b : instruction.a;
  operand = static_cast<std::int32_t>(to - jump);
}

void CompactBuilder::turns() {
  for (std::size_t jump : loops_.back().continues) target(jump, here(), true);
  loops_.back().continues.clear();
}

void CompactBuilder::leave_loop() {
  for (std::size_t jump : loops_.back().breaks) target(jump, here(), false);
  loops_.pop_back();
}

void CompactBuilder::leave(Flow flow, CallId call) {
  if (flow == Flow::return_ || loops_.empty())
    emit(Kind::leave, call, static_cast<std::int32_t>(flow));
  else
    (flow == Flow::break_ ? loops_.back().breaks : loops_.back().continues).push_back(emit(Kind::jump, call));
}

// ---- values ---------------------------------------------------------------------------------------

std::int32_t CompactBuilder::at(CallId call) const {
  const std::int32_t position = facts().registers.calls[call.index()];
  return position < 0 ? ~(~position * value_bytes) : position * value_bytes;
}

std::int32_t CompactBuilder::at(VariableId variable) const {
  return static_cast<std::int32_t>(facts().registers.variables[variable.index()]) * value_bytes;
}

void CompactBuilder::set(VariableId variable) {
  const Type& type = function().variables[variable.index()].type;
  if (set_[variable.index()] || !is_host_value(type)) return;  // a tensor is nothing in the host program
  set_[variable.index()] = true;
  set_here_.push_back(variable);
}

std::int32_t CompactBuilder::plan(const Call& call) {
  const Function& callee = program()[call.callee];
  const bool given = std::ranges::all_of(call.in, [](CallId in) { return in.valid(); });
  if (!is_plain(callee) || !given || call.in.size() != callee.parameters.size() || !call.places.empty()) return -1;
  PlannedCall& planned = code_.calls.emplace_back();
  planned.callee = call.callee;
  planned.function = &callee;
  for (std::size_t k = 0; k < call.in.size(); ++k)
    planned.arguments.push_back({at(call.in[k]), callee.parameters[k].type.is(Type::Kind::real)});
  return static_cast<std::int32_t>(code_.calls.size()) - 1;
}

void CompactBuilder::turn_again(const LaunchTurns& turns, std::size_t whole) {
  next_ = decision_ = CallId();
  for (const CallId id : turns.calls) {
    const FormStep& row = *facts().steps[id.index()];
    if (row.in_turn != InTurn::launch) {
      row.emit ? row.emit(*this, id) : step(id);
      continue;
    }
    PlannedLaunch& launch = code_.launches.emplace_back();
    for (const CallId number : numbers_of(program(), (*this)[id])) launch.numbers.push_back(at(number));
    while (code_.instructions[whole].call != id) ++whole;
    const auto behind = static_cast<std::int32_t>(++whole) - static_cast<std::int32_t>(here());
    emit(Kind::launch_again, id, 0, static_cast<std::int32_t>(code_.launches.size()) - 1, behind);
  }
}

Compact CompactBuilder::finish() {
  emit(Kind::leave, code_.instructions.empty() ? CallId(0) : code_.instructions.back().call,
       static_cast<std::int32_t>(Flow::next));
  return std::move(code_);
}

Compact compact_of(const CompactSource& source, std::span<const CallId> calls) {
  CompactBuilder builder(source);
  builder.calls(calls);
  return builder.finish();
}

}  // namespace taskspec
