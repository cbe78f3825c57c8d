#include "frontend/check/local_walk.hpp"

#include <algorithm>

namespace taskspec::checking {

// ---- dependences ----------------------------------------------------------------------------------

Dependence& Dependence::operator|=(const Dependence& other) {
  if (!source.valid()) source = other.source;
  values |= other.values;
  results |= other.results;
  return *this;
}

LocalFacts& LocalFacts::operator|=(const LocalFacts& other) {
  is |= other.is;
  gives |= other.gives;
  acts |= other.acts;
  return *this;
}

void LocalBooks::back_to(const Mark& mark) {
  calls.back_to(mark.calls);
  variables.back_to(mark.variables);
  walked = mark.walked;
  listed = mark.listed;
}

LocalWalk::Decision& LocalWalk::Decision::operator|=(const Decision& other) {
  const bool shows = other.by.any() && (!by.any() || (!by.source.valid() && other.by.source.valid()));
  if (shows) value = other.value, used = other.used;
  by |= other.by;
  return *this;
}

// ---- control --------------------------------------------------------------------------------------

LocalSummary LocalWalk::run() {
  made_.known = true;
  made_.places.resize(function_.parameters.size());
  for (const Parameter& parameter : function_.parameters) walk(parameter.default_block);
  for (std::size_t k = 0; k < function_.parameters.size(); ++k)
    if (const VariableId place = function_.parameters[k].variable; place.valid()) assign(place, of_parameter(k));
  walk(function_.body);
  leave_places();
  return std::move(made_);
}

void LocalWalk::run(std::span<const CallId> top) {
  for (CallId id : top) visit(id);
}

void LocalWalk::walk(const Block& block) {
  for (CallId id : block.calls) visit(id);
}

void LocalWalk::visit(CallId id) {
  const Call& call = function_[id];
  if (!call.blocks.empty()) walk_blocks(id, call);
  const LocalFacts made = facts_of(id, call);
  note(id, made);
  write(id, call, made);
  if (call.form->leaves != FormRecord::Leaves::nothing) leave(call);
}

void LocalWalk::walk_blocks(CallId id, const Call& call) {
  const Decision control = control_;
  const CallId domain = domain_;
  ++depth_;
  if (call.form->repeats()) {
    loops_.push_back(id);
    if (!call.form->decides_inside()) domain_ = call.in[0];
    // What holds in a later turn; of a loop inside another one the turns of that one tell.
    do {
      if (loops_.size() == 1) changed_ = false;
      control_ = control;
      walk_turns(id, call);
    } while (loops_.size() == 1 && changed_);
    loops_.pop_back();
  } else {
    walk_branches(call);
  }
  --depth_;
  domain_ = domain;
  control_ = control;
}

void LocalWalk::walk_branches(const Call& call) {
  const Decision control = control_, rest = rest_, returned = returned_;
  Decision any_rest = rest, any_returned = returned;
  for (std::size_t i = 0; i < call.blocks.size(); ++i) {
    rest_ = rest, returned_ = returned, control_ = control;
    if (call.form->blocks()[i].runs != FormBlock::Runs::once) control_ |= decided_by(call);
    walk(call.blocks[i]);
    any_rest |= rest_;
    any_returned |= returned_;
  }
  rest_ = any_rest;
  returned_ = any_returned;
}

void LocalWalk::walk_turns(CallId loop, const Call& call) {
  const Decision rest = rest_;
  control_ |= left_[loop.value];
  control_ |= decided_by(call);
  for (const Block& block : call.blocks) {
    walk(block);
    control_ |= decided_by(call);
  }
  rest_ = rest;  // behind it nothing of its breaks is left
  rest_ |= returned_;
}

LocalWalk::Decision LocalWalk::decided_by(const Call& call) const {
  const CallId value = decision_of(call);
  const Span used = call.form->decides_inside() ? function_[value].span : span_of(call, 0);
  return {facts(value).is, value, used};
}

LocalWalk::Decision LocalWalk::decision() const {
  Decision both = control_;
  both |= rest_;
  return both;
}

void LocalWalk::leave(const Call& call) {
  const Decision by = decision();
  const bool returns = call.form->leaves == FormRecord::Leaves::function;
  if (returns) {
    LocalFacts result = call.in.empty() ? LocalFacts() : facts(call.in[0]);
    result.is |= by.by;
    made_.result |= result;
    leave_places();
  }
  if (!by.by.any()) return;
  rest_ |= by;
  if (returns) returned_ |= by;
  if (call.form->leaves == FormRecord::Leaves::turn) return;
  for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
    Decision& left = left_[loop->value];
    const Dependence before = left.by;
    left |= by;
    changed_ = changed_ || left.by != before;
    if (!returns) break;
  }
}

void LocalWalk::leave_places() {
  for (std::size_t k = 0; k < function_.parameters.size(); ++k) {
    const Parameter& parameter = function_.parameters[k];
    if (parameter.privilege != Privilege::inout || !parameter.variable.valid()) continue;
    made_.places[k] |= facts(parameter.variable).is;
    made_.places[k] |= decision().by;
  }
}

// ---- what is noted --------------------------------------------------------------------------------

const LocalFacts& LocalWalk::facts(CallId id) const {
  static const LocalFacts none;
  const auto known = books_.calls.find(id.value);
  return known == books_.calls.end() ? none : known->second;
}

const LocalFacts& LocalWalk::facts(VariableId id) const {
  static const LocalFacts none;
  const auto known = books_.variables.find(id.value);
  return known == books_.variables.end() ? none : known->second;
}

void LocalWalk::note(CallId id, const LocalFacts& made) {
  if (facts(id) == made) return;
  books_.calls.put(id.value, made);
  changed_ = true;
}

// In a block it may keep what it had; its source, too, else turns of a loop would go on exchanging it.
void LocalWalk::assign(VariableId id, LocalFacts value, bool in_part) {
  value.is |= decision().by;
  LocalFacts made = depth_ > 0 || in_part ? facts(id) : LocalFacts();
  made |= value;
  if (facts(id) == made) return;
  books_.variables.put(id.value, made);
  changed_ = true;
}

void LocalWalk::write(CallId id, const Call& call, const LocalFacts& value) {
  if (call.form->writes()) assign(call.variable, value, call.form->reads());
  if (call.places.empty()) return;
  const bool of_fn = call.form->enters == FormRecord::Enters::callee && program_[call.callee].kind == FunctionKind::fn;
  const Given operands = of_fn ? given(call) : Given();
  for (const Place& place : call.places) {
    LocalFacts left;
    const auto k = static_cast<std::size_t>(std::ranges::find(operands, place.operand) - operands.begin());
    const std::vector<Dependence>* places = of_fn ? &peers_.summary(call.callee).places : nullptr;
    if (places && k < places->size()) left.is = here((*places)[k], id, call, operands, &LocalFacts::is);
    assign(place.variable, left);
  }
}

}  // namespace taskspec::checking
