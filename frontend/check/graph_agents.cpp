// Control flow and calls of fns inside a graph become nodes of their own, and an agent with slots cannot go into one
// yet: its state would change unseen. Said here as the run would say it.
//
//   graph g(x: f32[1]) -> (y: f32[1]) { y = x; for i in 0..3 { y = step(y).y } }     // E1009 when step changes a slot
#include <algorithm>
#include <set>

#include "frontend/check/effects.hpp"
#include "ir/call_graph.hpp"
#include "ir/op_outputs.hpp"

namespace taskspec::checking {

namespace {

using Kind = Type::Kind;

class GraphAgents {
 public:
  GraphAgents(World& world, const NewPart& added)
      : world_(world), program_(world.program), functions_(functions_of(world, added)), first_(added.functions) {}

  void run() {
    find_uses();
    for (FunctionId id : functions_)
      if (program_[id].kind == FunctionKind::graph) read(program_[id], program_[id].body);
  }

 private:
  // Of new functions, by themselves and by what they call; of older ones it is known.
  void find_uses() {
    const std::size_t count = program_.functions.size() - first_;
    std::vector<bool> slots(count), names(count);
    CallGraph calls(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Function& function = program_.functions[first_ + i];
      slots[i] = std::ranges::any_of(function.parameters, [](const auto& p) { return p.role == Role::slot; });
      for (const Call& call : function.calls) {
        names[i] = names[i] || names_agent(call);
        each_callee(program_, call, [&](FunctionId callee) {
          if (callee.index() >= first_) {
            calls.add(FunctionId(i), FunctionId(callee.index() - first_));
            return;
          }
          slots[i] = slots[i] || uses_slots(callee);
          names[i] = names[i] || names_agent(callee);
        });
      }
    }
    slots = calls.with_callers(std::move(slots));
    names = calls.with_callers(std::move(names));
    for (std::size_t i = 0; i < count; ++i) {
      world_.infos[first_ + i].uses_slots = slots[i];
      world_.infos[first_ + i].names_agent = names[i];
    }
  }

  bool uses_slots(FunctionId id) const { return world_.infos[id.index()].uses_slots; }
  bool names_agent(FunctionId id) const { return world_.infos[id.index()].names_agent; }

  void read(const Function& function, const Block& block) {
    for (CallId id : block.calls) {
      const Call& call = function[id];
      const bool control = call.form->is_control();
      if (control ? takes_along(function, call) : enters_with(function, call)) refuse(call.span);
      if (control) continue;
      for (const Block& inner : call.blocks) read(function, inner);
    }
  }

  void refuse(Span span) {
    world_.diags.error("E1009", span, "an agent with slots inside a loop, branch or fn of a graph is not built yet");
  }

  // A fn that is called with tensors: it gets its own agent only when it uses the slots.
  bool enters_with(const Function& function, const Call& call) const {
    if (call.form != Form::call) return false;
    const Function& callee = program_[call.callee];
    auto is_tensor = [&](CallId in) { return in.valid() && function[in].type.is_tensor(); };
    if (!callee.effects.graph && std::ranges::none_of(call.in, is_tensor)) return false;
    if (names_agent(call.callee)) return true;
    for (std::size_t k = callee.agent.valid() && !uses_slots(call.callee) ? 1 : 0; k < call.in.size(); ++k)
      if (holds_slots(function, call.in[k])) return true;
    return false;
  }

  // A block that works on tensors, and names an agent with slots that stands outside.
  bool takes_along(const Function& function, const Call& control) const {
    std::set<CallId> inside;
    bool graph = false, slots = false, self = false, outside = false;
    auto is_outside = [&](CallId id) { return id.valid() && !inside.contains(id); };
    each_inside(function, control, [&](CallId id, const Call& call) {
      inside.insert(id);
      graph = graph || call.type.is_tensor() || call.form == Form::invoke || makes_graph(call);
      slots = slots || (call.callee.valid() && uses_slots(call.callee));
      self = self || call.form == Form::self;
      outside = outside || names_agent(call) || (call.callee.valid() && names_agent(call.callee));
    });
    for (CallId in : control.in) graph = graph || (in.valid() && function[in].type.is_tensor());
    each_inside(function, control, [&](CallId, const Call& call) {
      for (CallId in : call.in) outside = outside || (is_outside(in) && holds_slots(function, in));
    });
    return graph && (outside || (self && slots && has_slots(function.agent)));
  }

  // An agent with slots of the top level.
  bool names_agent(const Call& call) const { return call.form == Form::global && holds_slots(call.type); }

  bool makes_graph(const Call& call) const {
    if (call.form == Form::op) return makes_tensors(*call.op, call.type);
    return call.form == Form::call && program_[call.callee].effects.graph;
  }

  template <class F>
  void each_inside(const Function& function, const Call& call, const F& visit) const {
    for (const Block& block : call.blocks)
      for (CallId id : block.calls) {
        visit(id, function[id]);
        each_inside(function, function[id], visit);
      }
  }

  bool has_slots(AgentId agent) const { return agent.valid() && !program_[agent].slots.empty(); }

  bool holds_slots(const Type& type) const {
    if (type.is(Kind::agent)) return has_slots(type.agent);
    const bool container = type.is(Kind::list) || type.is(Kind::tuple);
    return container && std::ranges::any_of(type.parts, [&](const Type& part) { return holds_slots(part); });
  }

  // An agent, a list of such, or a function value that is bound to one.
  bool holds_slots(const Function& function, CallId id) const {
    if (!id.valid()) return false;
    const Call& call = function[id];
    if (holds_slots(call.type)) return true;
    const bool bound = call.form == Form::member || call.form == Form::closure || call.form == Form::compose;
    return bound && std::ranges::any_of(call.in, [&](CallId in) { return holds_slots(function, in); });
  }

  World& world_;
  const Program& program_;
  const std::vector<FunctionId> functions_;  // that have something new
  const std::size_t first_;                  // new function
};

}  // namespace

void refuse_agents_in_control(World& world, const NewPart& added) { GraphAgents(world, added).run(); }

}  // namespace taskspec::checking
