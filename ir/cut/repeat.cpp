#include "ir/cut/repeat.hpp"

#include <algorithm>

#include "ir/cut/host_code.hpp"

namespace taskspec {

Repeatable::Repeatable(const Function& function, const CallTree& tree, bool fold, const std::vector<bool>* called)
    : function_(function),
      tree_(tree),
      fold_(fold),
      called_(called),
      calls_(function.calls.size(), true),
      variables_(function.variables.size(), true) {
  // From the assumption that all are, until what is left holds together.
  while (narrow()) {
  }
}

// One time through the calls, in which a variable that is not goes on to what reads it behind that.
bool Repeatable::narrow() {
  undecided_ = std::make_unique<Exits>(function_, tree_);
  for (CallId exit : tree_.exits())
    if (!decided(exit)) undecided_->add(exit);
  bool changed = false;
  auto give_up = [&](std::vector<bool>& list, std::size_t i) {
    changed = changed || list[i];
    list[i] = false;
  };
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = function_.calls[i];
    if (calls_[i] && !is_repeatable(call)) give_up(calls_, i);
    if (!tree_.listed(CallId(i))) continue;
    for (const Place& place : call.places) give_up(variables_, place.variable.index());
    const bool writes = call.form->writes();
    if (writes && function_.variables[call.variable.index()].is_mutable && !holds(CallId(i)))
      give_up(variables_, call.variable.index());
  }
  return changed;
}

bool Repeatable::all(const Call& call) const {
  return std::ranges::all_of(call.in, [&](CallId in) { return !in.valid() || calls_[in.index()]; });
}

bool Repeatable::is_repeatable(const Call& call) const {
  if (home_of(call.type) != ValueSide::host) return !call.builtin || call.builtin->runs_in != RunsIn::host;
  if (called_ && call.form == Form::call) return (*called_)[call.callee.index()] && all(call);
  if (called_ && call.form == Form::apply && function_[call.in[0]].type.is(Type::Kind::function)) return all(call);
  switch (call.form->again) {
    case FormRecord::Again::never:
      return false;
    case FormRecord::Again::always:
      return true;
    case FormRecord::Again::operands:
      return comes_from_shape(call) || (fold_ && all(call) && blocks_give(call));
    case FormRecord::Again::rule:
      break;
  }
  if (call.builtin) return is_repeatable_builtin(call);
  const VariableId variable = call.variable;
  return fold_ && (!function_.variables[variable.index()].is_mutable || variables_[variable.index()]);
}

// The shape of a tensor, which the graph program knows.
bool Repeatable::comes_from_shape(const Call& call) const {
  return call.form->payload == Payload::field && comes_from_graph(function_, call);
}

bool Repeatable::blocks_give(const Call& call) const {
  return std::ranges::all_of(call.blocks, [&](const Block& block) { return calls_[block.result.index()]; });
}

bool Repeatable::is_repeatable_builtin(const Call& call) const {
  if (call.builtin->runs_in == RunsIn::asked) return true;
  if (called_ && call.builtin->effect == Effect::pure && call.builtin->runs_in != RunsIn::graph) return all(call);
  const bool calls_back = std::ranges::any_of(
      call.in, [&](CallId in) { return in.valid() && function_[in].type.is(Type::Kind::function); });
  return fold_ && call.builtin->runs_in == RunsIn::either && !calls_back && all(call);
}

// What decides whether a block runs, as far as the host decides it.
bool Repeatable::condition(CallId control) const {
  const Call& call = function_[control];
  if (call.form->to_run == FormRecord::ToRun::session || call.form->to_run == FormRecord::ToRun::nothing) return true;
  return calls_[decision_of(call).index()];
}

bool Repeatable::decided(CallId call) const {
  for (CallId at = tree_.owner(call); at.valid(); at = tree_.owner(at))
    if (!condition(at)) return false;
  return true;
}

// What is written, and whether.
bool Repeatable::holds(CallId write) const {
  return all(function_[write]) && decided(write) && !undecided_->skip(write);
}

}  // namespace taskspec
