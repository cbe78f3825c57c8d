// A program that its host part ends early (exit, a failed assert) leaves behind what it would leave if both sides ran
// in order: the graph has shown what stands before that line, and nothing of what stands behind it. For that the host
// tells the graph each time it comes to something that is seen.
#include <algorithm>

#include "ir/op_outputs.hpp"
#include "ir/slice_search.hpp"

namespace taskspec {

bool Search::host_may_end() {
  return std::ranges::any_of(reach_.functions, [&](FunctionId f) {
    const SideDemand& host = of(f).host;
    for (std::size_t i = 0; i < host.runs.size(); ++i)
      if ((host.runs[i] || host.wanted[i]) && !of(f).received[i] && may_end(program_, program_[f].calls[i]))
        return true;
    return false;
  });
}

// Prints, or enters something that does and that the host does not enter.
bool Search::is_effect(FunctionId f, CallId c) {
  if (!of(f).graph.runs[c.index()]) return false;
  const Call& call = program_[f][c];
  switch (call.form) {
    case Form::op:
      return console_operand(*call.op).has_value();
    case Form::invoke:
      return shows_[call.callee.index()];
    case Form::call:
      return shows_[call.callee.index()] && !of(call.callee).host.part;
    case Form::apply:  // of a task or graph; fns that are values have host parts
      return std::ranges::any_of(reach_.values(),
                                 [&](FunctionId value) { return shows_[value.index()] && !of(value).reached; });
    default:
      return false;
  }
}

// The outermost call around it that the host does not run; invalid: its function has no host part, and its callers do
// it.
CallId Search::order_at(FunctionId f, CallId effect) {
  CallId at = effect;
  for (CallId owner = known(f).tree->owner(at); owner.valid(); owner = known(f).tree->owner(owner))
    if (!of(f).host.runs[owner.index()]) at = owner;
  const bool called = program_[f].kind != FunctionKind::module;
  return called && !of(f).host.part ? CallId() : at;
}

void Search::order_effects() {
  for (FunctionId value : reach_.values())  // who calls it cannot know whether it shows something
    if (shows_[value.index()] && of(value).reached) enter(value, Part::host);
  settle();
  if (std::ranges::none_of(reach_.functions, [&](FunctionId f) { return shows_[f.index()]; }) || !host_may_end())
    return;
  // To stand somewhere the host may have to decide more, and so come closer to what is shown.
  std::vector<CallSite> before;
  for (bool more = true; more;) {
    std::vector<CallSite> found;
    for (FunctionId f : reach_.functions)
      for (std::size_t i = 0; i < program_[f].calls.size(); ++i) {
        const CallId c(i);
        if (!known(f).tree->listed(c) || !is_effect(f, c)) continue;
        if (const CallId at = order_at(f, c); at.valid()) found.push_back({f, at});
      }
    for (const CallSite& site : found) stand(site.function, site.call, Part::host);
    settle();
    more = found != before;
    before = std::move(found);
  }
  for (const CallSite& site : before) of(site.function).ordered[site.call.index()] = true;
}

}  // namespace taskspec
