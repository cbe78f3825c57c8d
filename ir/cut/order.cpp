// A program that ends early leaves behind what it would leave if both sides ran in order.
//
// `exit` is control flow that only the host knows: behind whatever may exit the graph waits for a message that the host
// has passed it, and ends there when none comes. So all that stands in front of it happens, with its errors.
//
// What fails on the host is not worth such a wait each time. Only what the graph shows, such as graph_print, waits
// until the host has come there, if the host can fail at all.
#include <algorithm>
#include <iterator>

#include "ir/base/function_ref.hpp"
#include "ir/cut/search.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec {

// The outermost call around it that the side does not run; invalid: nor does it enter the function, and callers do it.
CallId Search::outermost(FunctionId f, CallId c, Part side) {
  CallId at = c;
  for (CallId owner = known(f).tree->owner(at); owner.valid(); owner = known(f).tree->owner(owner))
    if (!of(f)[side].runs[owner.index()]) at = owner;
  const bool called = program_[f].kind != FunctionKind::module;
  return called && !of(f)[side].part ? CallId() : at;
}

// Where `side` has to stand for what `is_one` finds. To stand there it may have to decide more, and so come closer.
Search::Sites Search::settled_sites(Part side, FunctionRef<bool(FunctionId, CallId)> is_one) {
  Sites before;
  for (;;) {
    Sites found;
    for (FunctionId f : reach_.functions)
      for (std::size_t i = 0; i < program_[f].calls.size(); ++i) {
        const CallId c(i);
        if (!known(f).tree->listed(c) || !is_one(f, c)) continue;
        if (const CallId at = outermost(f, c, side); at.valid()) found.push_back({f, at});
      }
    for (const CallRef& site : found) {
      stand(site.function, site.call, side);
      if (side == Part::graph) run_ways_out(site);
    }
    settle();
    if (found == before) return found;
    before = std::move(found);
  }
}

// ---- exit -----------------------------------------------------------------------------------------

bool Search::may_exit(FunctionId f, CallId c) {
  if (!of(f).host.runs[c.index()]) return false;
  if (exits(program_[f][c])) return true;
  if (!reach_.is_site(f, c)) return false;
  auto exits_alone = [&](FunctionId callee) { return exits_[callee.index()] && !of(callee).graph.part; };
  if (program_[f][c].form == Form::call) return exits_alone(program_[f][c].callee);
  const std::size_t group = reach_.group_of(f, c);
  return group != HostCode::none && std::ranges::any_of(exiting_[group], exits_alone);
}

// What leaves the site in another way than to what stands behind it: there no message comes.
void Search::run_ways_out(const CallRef& site) {
  const CallTree& tree = *known(site.function).tree;
  for (CallId exit : tree.exits()) {
    const CallId loop = tree.loop_of(exit);
    const bool returns = program_[site.function][exit].form->leaves == FormRecord::Leaves::function;
    const bool leaves = returns || (loop != site.call && !tree.inside(loop, site.call));
    if (leaves && tree.inside(exit, site.call)) run_call(site.function, exit, Part::graph);
  }
}

void Search::order_exits() {
  auto in_graph = [&](FunctionId f) { return of(f).graph.part; };
  if (std::ranges::none_of(reach_.functions, [&](FunctionId f) { return exits_[f.index()]; })) return;
  if (std::ranges::none_of(reach_.functions, in_graph)) return;
  for (const HostCode::Group& group : reach_.groups) {
    auto& exiting = exiting_.emplace_back();
    std::ranges::copy_if(group.functions, std::back_inserter(exiting), [&](FunctionId f) { return exits_[f.index()]; });
  }
  for (const CallRef& site : settled_sites(Part::graph, [&](FunctionId f, CallId c) { return may_exit(f, c); }))
    of(site.function).passed[site.call.index()] = true;
}

// ---- what is seen ---------------------------------------------------------------------------------

bool Search::host_may_end() {
  const std::vector<bool> recurs = calls_.recurring();
  return std::ranges::any_of(reach_.functions, [&](FunctionId f) {
    const SideDemand& host = of(f).host;
    if (host.part && recurs[f.index()]) return true;  // too deep
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
  if (call.op) return console_operand(*call.op).has_value();
  switch (call.form->enters) {
    case FormRecord::Enters::callee:
      return shows_[call.callee.index()] && (call.form == Form::invoke || !of(call.callee).host.part);
    case FormRecord::Enters::value:  // of a task or graph; fns that are values have host parts
      return shows_by_value_;
    case FormRecord::Enters::nothing:
      break;
  }
  return call.form->payload == Payload::agent && std::ranges::any_of(program_[call.agent].slots, [&](const Slot& slot) {
           return slot.initial.valid() && shows_[slot.initial.index()];
         });
}

void Search::order_effects() {
  for (FunctionId value : reach_.values()) {  // who calls it cannot know whether it shows something
    if (!shows_[value.index()]) continue;
    if (of(value).reached)
      enter(value, Part::host);
    else
      shows_by_value_ = true;
  }
  settle();
  if (std::ranges::none_of(reach_.functions, [&](FunctionId f) { return shows_[f.index()]; }) || !host_may_end())
    return;
  for (const CallRef& site : settled_sites(Part::host, [&](FunctionId f, CallId c) { return is_effect(f, c); }))
    of(site.function).ordered[site.call.index()] = true;
}

}  // namespace taskspec
