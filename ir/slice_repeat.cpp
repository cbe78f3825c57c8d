#include "ir/slice_repeat.hpp"

#include <algorithm>

#include "ir/slice_program.hpp"

namespace taskspec {

Repeatable::Repeatable(const Function& function, const CallTree& tree, bool fold)
    : function_(function),
      tree_(tree),
      fold_(fold),
      calls_(function.calls.size(), true),
      variables_(function.variables.size(), true) {
  // From the assumption that all are, until what is left holds together.
  for (bool changed = true; changed;) {
    changed = find_calls();
    changed = find_variables() || changed;
  }
}

bool Repeatable::find_calls() {
  bool changed = false;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (!calls_[i] || is_repeatable(function_.calls[i])) continue;
    calls_[i] = false;
    changed = true;
  }
  return changed;
}

bool Repeatable::all(const Call& call) const {
  return std::ranges::all_of(call.in, [&](CallId in) { return !in.valid() || calls_[in.index()]; });
}

bool Repeatable::is_repeatable(const Call& call) const {
  if (home_of(call.type) != Home::host) return call.form != Form::builtin || call.builtin->cut != Cut::host;
  switch (call.form) {
    case Form::constant:
    case Form::parameter:
    case Form::dimension:
    case Form::type:
    case Form::global:
    case Form::loop:
    case Form::output:  // a report: the graph program makes it
    case Form::receive:
      return true;
    case Form::variable:
      return fold_ && (!function_.variables[call.variable.index()].is_mutable || variables_[call.variable.index()]);
    case Form::op:
    case Form::tuple:
    case Form::list:
    case Form::range:
    case Form::element:
    case Form::item:
    case Form::items:
      return fold_ && all(call);
    case Form::field:
      return comes_from_graph(function_, call) || (fold_ && all(call));
    case Form::both:
    case Form::either:
      return fold_ && all(call) && calls_[call.blocks[0].result.index()];
    case Form::builtin: {
      if (call.builtin->cut == Cut::asked) return true;
      const bool calls_back = std::ranges::any_of(
          call.in, [&](CallId in) { return in.valid() && function_[in].type.is(Type::Kind::function); });
      return fold_ && call.builtin->cut == Cut::either && !calls_back && all(call);
    }
    default:
      return false;
  }
}

// What decides whether a block runs, as far as the host decides it.
bool Repeatable::condition(CallId control) const {
  const Call& call = function_[control];
  const CallId value = call.form == Form::while_ ? call.blocks[0].result : call.in[0];
  return call.form == Form::run || calls_[value.index()];
}

bool Repeatable::decided(CallId write) const {
  auto all_around = [&](CallId id) {
    for (CallId at = tree_.owner(id); at.valid(); at = tree_.owner(at))
      if (!condition(at)) return false;
    return true;
  };
  return all_around(write) &&
         std::ranges::all_of(tree_.exits(), [&](CallId exit) { return !tree_.skips(exit, write) || all_around(exit); });
}

bool Repeatable::find_variables() {
  std::vector<bool> before = variables_;
  for (std::size_t i = 0; i < function_.calls.size(); ++i) {
    const Call& call = function_.calls[i];
    if (!tree_.listed(CallId(i))) continue;
    for (const Place& place : call.places) variables_[place.variable.index()] = false;
    if (call.form != Form::write && call.form != Form::store) continue;
    if (!function_.variables[call.variable.index()].is_mutable) continue;
    if (!all(call) || !decided(CallId(i))) variables_[call.variable.index()] = false;
  }
  return before != variables_;
}

}  // namespace taskspec
