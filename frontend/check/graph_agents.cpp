// Control flow and calls of fns inside a graph become nodes of their own, and an agent with slots cannot go into one
// yet: its state would change unseen. Said here as the run would say it, also of agents that are bound to function
// values, wherever these come from.
//
//   graph g(x: f32[1]) -> (y: f32[1]) { y = x; for i in 0..3 { y = step(y).y } }     // E1009 when step changes a slot
//   graph h(x: f32[1], f: fn(f32[1]) -> f32[1]) -> ...                  h(x, a.next)  // when h calls f in a loop
#include <algorithm>
#include <set>

#include "frontend/check/effects.hpp"
#include "frontend/check/origins.hpp"
#include "ir/builtin.hpp"
#include "ir/call_graph.hpp"
#include "ir/op_outputs.hpp"

namespace taskspec::checking {

namespace {

using Kind = Type::Kind;

constexpr const char* in_node = "an agent with slots inside a loop, branch or fn of a graph is not built yet";
constexpr const char* in_task = "an agent with slots inside a task is not built yet";
constexpr const char* looked_at = "looking at a graph of an agent with slots is not built yet";

template <class Visit>
void each_inside(const Function& function, const Call& call, const Visit& visit) {
  for (const Block& block : call.blocks)
    for (CallId id : block.calls) {
      visit(id, function[id]);
      each_inside(function, function[id], visit);
    }
}

// What a value brings along.
struct Brought {
  bool slots = false;                  // an agent with slots, by itself or bound to a function value
  std::set<std::uint32_t> parameters;  // or whatever is given to these
  std::set<FunctionId> functions;      // that it may call
  std::set<Origins::Made> seen;
};

class GraphAgents {
 public:
  GraphAgents(World& world, const NewPart& added)
      : world_(world),
        program_(world.program),
        added_(added),
        functions_(functions_of(world, added)),
        first_(added.functions) {}

  void run() {
    find_uses();
    find_graph_closures();
    for (FunctionId id : functions_) world_.info(id).goes_to.resize(program_[id].parameters.size());
    do {
      more_ = false;
      refused_.clear();
      for (FunctionId id : functions_) look_at(id);
    } while (more_);
    for (const auto& [span, what] : refused_) world_.diags.error("E1009", span, what);
  }

 private:
  // ---- what functions use ----

  // Of new functions, by themselves and by what they call; of older ones it is known.
  void find_uses() {
    const std::size_t count = program_.functions.size() - first_;
    std::vector<bool> slots(count), names(count);
    CallGraph calls(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Function& function = program_.functions[first_ + i];
      auto add = [&](FunctionId callee) {
        if (callee.index() >= first_) {
          calls.add(FunctionId(i), FunctionId(callee.index() - first_));
          return;
        }
        slots[i] = slots[i] || uses_slots(callee);
        names[i] = names[i] || names_agent(callee);
      };
      slots[i] = std::ranges::any_of(function.parameters, [](const auto& p) { return p.role == Role::slot; });
      for (const Call& call : function.calls) {
        if (call.form == Form::global) {
          const Brought value = global(call);
          names[i] = names[i] || value.slots;
          for (FunctionId callee : value.functions) add(callee);
        }
        each_callee(program_, call, add);
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

  // A value of a top level.
  Brought global(const Call& read) {
    Brought value;
    if (holds_slots(read.type)) value.slots = true;
    if (!holds_callable(read.type)) return value;
    const FunctionId top = program_.modules[read.module.index()].top_level;
    Origins origins(world_, top);
    origins.follow(read.variable);
    bring(origins, top, value);
    return value;
  }

  // A closure that a graph makes is a part of it.
  void find_graph_closures() {
    in_graph_.resize(program_.functions.size() - first_);
    for (std::size_t i = first_; i < program_.functions.size(); ++i) {
      const Function& function = program_.functions[i];
      if (function.kind == FunctionKind::graph) in_graph_[i - first_] = true;
      if (!in_graph_[i - first_]) continue;
      for (const Call& call : function.calls)
        if (call.form == Form::closure) in_graph_[call.callee.index() - first_] = true;
    }
  }

  bool is_in_graph(FunctionId id) const { return id.index() >= first_ && in_graph_[id.index() - first_]; }

  // ---- what a value brings ----

  bool has_slots(AgentId agent) const { return agent.valid() && !program_[agent].slots.empty(); }

  bool holds_slots(const Type& type) const {
    if (type.is(Kind::agent)) return has_slots(type.agent);
    const bool container = type.is(Kind::list) || type.is(Kind::tuple);
    return container && std::ranges::any_of(type.parts, [&](const Type& part) { return holds_slots(part); });
  }

  void bring(FunctionId in, CallId id, Brought& brought) {
    if (!id.valid()) return;
    const Type& type = program_[in][id].type;
    if (holds_slots(type)) brought.slots = true;
    if (!holds_callable(type)) return;
    Origins origins(world_, in);
    origins.follow(id);
    bring(origins, in, brought);
  }

  void bring(const Origins& origins, FunctionId in, Brought& brought) {
    brought.parameters.insert(origins.parameters.begin(), origins.parameters.end());
    for (const Origins::Made& made : origins.made) {
      if (!brought.seen.insert(made).second) continue;
      const Call& call = program_[made.in][made.call];
      brought.functions.insert(call.callee);
      if (names_agent(call.callee)) brought.slots = true;
      Brought bound;  // parameters of another function are none of this one
      bound.seen = brought.seen;
      for (CallId part : call.in) bring(made.in, part, made.in == in ? brought : bound);
      brought.slots = brought.slots || bound.slots;
      brought.functions.insert(bound.functions.begin(), bound.functions.end());
    }
  }

  // ---- what a function does ----

  void look_at(FunctionId id) {
    const Function& function = program_[id];
    if (function.kind == FunctionKind::task) return look_at_task(function, id);
    if (function.kind != FunctionKind::module) {
      read(id, function.body);
    }
    for (std::size_t i = first_call(id, added_); i < function.calls.size(); ++i) {
      const Call& call = function.calls[i];
      if (call.form == Form::builtin && call.builtin->cut == Cut::asked) look_at_builtin(id, call);
      for (std::size_t k = 0; k < call.in.size(); ++k) give(id, call, k);
    }
  }

  // Whatever it names goes into it.
  void look_at_task(const Function& task, FunctionId id) {
    if (!names_agent(id)) return;
    for (const Call& call : task.calls)
      if ((call.form == Form::global && names_agent(call)) || (call.callee.valid() && names_agent(call.callee)))
        return refuse(call.span, in_task);
  }

  void look_at_builtin(FunctionId in, const Call& call) {
    Origins origins(world_, in);
    for (CallId operand : call.in)
      if (operand.valid() && holds_callable(program_[in][operand].type)) origins.follow(operand);
    for (const Origins::Made& made : origins.made) {
      const Call& value = program_[made.in][made.call];
      if (value.form == Form::member && holds_slots(program_[made.in][value.in[0]].type))
        return refuse(call.span, looked_at);
    }
  }

  // An operand goes to a parameter.
  void give(FunctionId in, const Call& call, std::size_t operand) {
    if (!call.in[operand].valid() || !holds_callable(program_[in][call.in[operand]].type)) return;
    GoesTo goes;
    auto add = [&](FunctionId callee, std::size_t parameter) {
      const std::vector<GoesTo>& known = world_.info(callee).goes_to;
      if (parameter >= known.size()) return;
      goes.node = goes.node || known[parameter].node;
      goes.called = goes.called || known[parameter].called;
    };
    each_receiver(program_, call, operand, add);
    if (call.form == Form::apply && operand > 0)
      for (FunctionId callee : value_of(in, call.in[0]).functions) each_declared(callee, operand - 1, add);
    if (!goes.node && !goes.called) return;
    const Brought brought = value_of(in, call.in[operand]);
    for (std::uint32_t k : brought.parameters) {
      GoesTo& mine = world_.info(in).goes_to[k];
      if (goes.node) note(mine.node);
      if (goes.called) note(mine.called);
    }
    if ((goes.node && brought.slots) || (goes.called && calls_carrier(brought)))
      refuse(operand < call.in_spans.size() ? call.in_spans[operand] : call.span, in_node);
  }

  template <class Visit>
  void each_declared(FunctionId function, std::size_t position, const Visit& visit) const {
    const std::vector<Parameter>& parameters = program_[function].parameters;
    std::size_t next = 0;
    for (std::size_t k = 0; k < parameters.size(); ++k)
      if (parameters[k].role == Role::declared && next++ == position) return visit(function, k);
  }

  Brought value_of(FunctionId in, CallId id) {
    Brought brought;
    bring(in, id, brought);
    return brought;
  }

  bool calls_carrier(const Brought& brought) const {
    return std::ranges::any_of(brought.functions, [&](FunctionId f) { return world_.infos[f.index()].carries_slots; });
  }

  void note(bool& flag) {
    more_ = more_ || !flag;
    flag = true;
  }

  void refuse(Span span, const char* what) {
    if (std::ranges::none_of(refused_, [&](const auto& known) { return known.first == span; }))
      refused_.emplace_back(span, what);
  }

  // ---- nodes ----

  // A graph, or a fn as a graph runs it that calls it as a value.
  void read(FunctionId id, const Block& block) {
    const Function& function = program_[id];
    for (CallId at : block.calls) {
      const Call& call = function[at];
      if (call.form == Form::apply) call_value(id, call);
      Brought brought;
      const bool control = call.form->is_control();
      const bool node = control ? takes_along(id, call, brought) : enters_with(id, call, brought);
      if (node) enter(id, call.span, brought);
      if (control) continue;
      for (const Block& inner : call.blocks) read(id, inner);
    }
  }

  // `brought` goes into a node that stands in this function.
  void enter(FunctionId id, Span span, const Brought& brought) {
    if (is_in_graph(id))
      for (std::uint32_t k : brought.parameters) note(world_.info(id).goes_to[k].node);
    if (brought.slots) carry(id, span);
  }

  void carry(FunctionId id, Span span) {
    if (program_[id].kind == FunctionKind::graph)
      refuse(span, in_node);
    else
      note(world_.info(id).carries_slots);
  }

  // Outside of nodes a function that is called as a value becomes a part of the graph.
  void call_value(FunctionId id, const Call& call) {
    const Brought called = value_of(id, call.in[0]);
    if (calls_carrier(called)) carry(id, call.span);
    if (is_in_graph(id))
      for (std::uint32_t k : called.parameters) note(world_.info(id).goes_to[k].called);
  }

  // A fn that is called with tensors: it gets its own agent only when it uses the slots.
  bool enters_with(FunctionId id, const Call& call, Brought& brought) {
    if (call.form != Form::call) return false;
    const Function &function = program_[id], &callee = program_[call.callee];
    auto is_tensor = [&](CallId in) { return in.valid() && function[in].type.is_tensor(); };
    if (!callee.effects.graph && std::ranges::none_of(call.in, is_tensor)) return false;
    brought.slots = names_agent(call.callee);
    for (std::size_t k = callee.agent.valid() && !uses_slots(call.callee) ? 1 : 0; k < call.in.size(); ++k)
      bring(id, call.in[k], brought);
    return true;
  }

  // A block that works on tensors is a node, and takes along what it uses of outside.
  bool takes_along(FunctionId id, const Call& control, Brought& brought) {
    const Function& function = program_[id];
    std::set<CallId> inside;
    bool graph = false, slots = false, self = false;
    each_inside(function, control, [&](CallId at, const Call& call) {
      inside.insert(at);
      graph = graph || call.type.is_tensor() || call.form == Form::invoke || makes_graph(call);
      slots = slots || (call.callee.valid() && uses_slots(call.callee));
      self = self || call.form == Form::self;
    });
    for (CallId in : control.in) graph = graph || (in.valid() && function[in].type.is_tensor());
    if (!graph) return false;
    auto bring_outside = [&](CallId in) {
      if (in.valid() && !inside.contains(in)) bring(id, in, brought);
    };
    for (CallId in : control.in) bring_outside(in);
    each_inside(function, control, [&](CallId, const Call& call) {
      for (CallId in : call.in) bring_outside(in);
      if (call.variable.valid() && call.form != Form::global) bring_written(id, call.variable, bring_outside);
      if (call.form == Form::global) brought.slots = brought.slots || names_agent(call);
      if (call.callee.valid() && names_agent(call.callee)) brought.slots = true;
    });
    brought.slots = brought.slots || (self && slots && has_slots(function.agent));
    return true;
  }

  // What a variable had before.
  template <class Visit>
  void bring_written(FunctionId id, VariableId variable, const Visit& visit) {
    const Type& type = program_[id].variables[variable.index()].type;
    if (!holds_slots(type) && !holds_callable(type)) return;
    Givers& givers = world_.info(id).givers;
    givers.find(program_[id]);
    for (CallId giver : givers.variables[variable.index()]) visit(program_[id][giver].in[0]);
  }

  bool names_agent(const Call& read) {
    const Brought value = global(read);
    return value.slots ||
           std::ranges::any_of(value.functions, [&](FunctionId function) { return names_agent(function); });
  }

  bool makes_graph(const Call& call) const {
    if (call.form == Form::op) return makes_tensors(*call.op, call.type);
    return call.form == Form::call && program_[call.callee].effects.graph;
  }

  World& world_;
  const Program& program_;
  const NewPart added_;
  const std::vector<FunctionId> functions_;  // that have something new
  const std::size_t first_;                  // new function
  std::vector<bool> in_graph_;               // by new function: a graph, or a closure that one makes
  std::vector<std::pair<Span, const char*>> refused_;
  bool more_ = false;
};

}  // namespace

void refuse_agents_in_control(World& world, const NewPart& added) { GraphAgents(world, added).run(); }

}  // namespace taskspec::checking
