// Function values that are handed to tasks and graphs: these call them, so they must do nothing to the host. What
// a graph does by itself is found from its own calls; this follows values through parameters.
//
//   fn h(f: fn(int) -> int) { g(f) }     graph g(f: fn(int) -> int) -> ...     h(noisy)     // E1302 here
//
// Nor may functions that operations on regions ask (of shardings, pieces of partitions, points of launches): these do
// so on the graph's side alone, as often as they like. Receives are fine there: what they wait for is at hand.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/check/effects.hpp"

namespace taskspec::checking {

bool holds_function(const Type& type) {
  if (type.is(Type::Kind::function)) return true;
  bool container = type.is(Type::Kind::list) || type.is(Type::Kind::tuple);
  return container && std::any_of(type.parts.begin(), type.parts.end(), holds_function);
}

namespace {

// Where a function value may come from, inside one function.
class Origins {
 public:
  Origins(World& world, FunctionId in) : world_(world), in_(in) {}

  std::set<FunctionId> functions;
  std::set<std::uint32_t> parameters;

  void follow(CallId value) { follow(in_, value, true); }

 private:
  // `own`: parameters met here are those of the function that was asked about.
  void follow(FunctionId in, CallId id, bool own) {
    const Function& function = world_.program[in];
    if (!id.valid() || !seen_.emplace(in, id).second) return;
    const Call& call = function[id];
    if (call.form == Form::function || call.form == Form::member || call.form == Form::closure)
      functions.insert(call.callee);
    else if (call.form == Form::parameter && own)
      parameters.insert(call.index);
    else if (call.form == Form::variable)
      follow_written(in, call.variable, own);
    else if (call.form == Form::global)
      follow_written(world_.program.modules[call.module.index()].top_level, call.variable, false);
    else if (call.form == Form::call)
      follow_given(call.callee, givers(call.callee).returns, false);
    else
      for (CallId part : call.in)
        if (part.valid() && holds_function(function[part].type)) follow(in, part, own);
  }

  void follow_written(FunctionId in, VariableId variable, bool own) {
    const auto& writes = givers(in).variables;
    if (variable.index() < writes.size()) follow_given(in, writes[variable.index()], own);
  }

  void follow_given(FunctionId in, const std::vector<CallId>& calls, bool own) {
    for (CallId call : calls)
      if (const Call& giver = world_.program[in][call]; !giver.in.empty()) follow(in, giver.in[0], own);
  }

  const Givers& givers(FunctionId id) {
    world_.info(id).givers.find(world_.program[id]);
    return world_.info(id).givers;
  }

  World& world_;
  FunctionId in_;
  std::set<std::pair<FunctionId, CallId>> seen_;
};

enum class Caller { task, operation };

class Handed {
 public:
  Handed(World& world, const NewPart& added, Caller caller)
      : world_(world), added_(added), caller_(caller), functions_(functions_of(world, added)) {}

  void run() {
    for (FunctionId id : functions_) {
      const Function& function = world_.program[id];
      const bool of_graph = function.kind == FunctionKind::task || function.kind == FunctionKind::graph;
      const bool pure = of_graph && caller_ == Caller::task;
      called(id).assign(function.parameters.size(), false);
      for (std::size_t k = 0; k < function.parameters.size(); ++k)
        called(id)[k] = pure && holds_function(function.parameters[k].type);
    }
    for (bool more = true; more;) {
      more = false;
      each_handed([&](FunctionId in, const Call& call, std::size_t operand) {
        Origins origins(world_, in);
        origins.follow(call.in[operand]);
        for (std::uint32_t k : origins.parameters) {
          more = more || !called(in)[k];
          called(in)[k] = true;
        }
        if (caller_ == Caller::operation)
          for (FunctionId function : origins.functions) more = ask_captures(function) || more;
      });
    }
    each_handed([&](FunctionId in, const Call& call, std::size_t operand) { report(in, call, operand); });
  }

 private:
  // Every operand that goes where a task or graph may call it.
  template <class F>
  void each_handed(F&& visit) {
    for (FunctionId id : functions_) {
      const Function& function = world_.program[id];
      for (std::size_t i = first_call(id, added_); i < function.calls.size(); ++i) {
        const Call& call = function.calls[i];
        for (std::size_t k = 0; k < call.in.size(); ++k) {
          bool function_value = call.in[k].valid() && holds_function(function[call.in[k]].type);
          if (function_value && may_be_called(function, call, k)) visit(id, call, k);
        }
      }
    }
  }

  // Of operations only in what is new: a prompt hands on no functions that it was given.
  std::vector<bool>& called(FunctionId id) {
    if (caller_ == Caller::task) return world_.info(id).handed;
    std::vector<bool>& known = asked_[id];
    known.resize(world_.program[id].parameters.size(), false);
    return known;
  }

  // Who is asked calls what it closes over: of p[f(i)] the function i => f(i) is asked.
  bool ask_captures(FunctionId function) {
    bool more = false;
    const std::vector<Parameter>& parameters = world_.program[function].parameters;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (parameters[k].role != Role::capture || !holds_function(parameters[k].type)) continue;
      more = more || !called(function)[k];
      called(function)[k] = true;
    }
    return more;
  }

  static bool asks(const Function& function, const Call& call, std::size_t operand) {
    if (call.form == Form::launch) return operand == 1;
    if (call.form->calls_back) return true;
    if (!call.builtin || call.builtin->runs_in != RunsIn::graph || !call.in[0].valid()) return false;
    const Type& first = function[call.in[0]].type;
    return first.is(Type::Kind::region) || first.is(Type::Kind::partition);
  }

  bool may_be_called(const Function& function, const Call& call, std::size_t operand) {
    if (caller_ == Caller::operation && asks(function, call, operand)) return true;
    if (call.form == Form::closure) return called(call.callee)[operand];  // captures come first
    if (call.form == Form::agent) {
      const std::vector<FunctionId>& members = world_.program[call.agent].members;
      return std::any_of(members.begin(), members.end(), [&](FunctionId member) { return called(member)[operand]; });
    }
    // What a composite or a task as a value does with it is not seen here.
    if (call.form == Form::apply) return operand > 0 && function[call.in[0]].type.is(Type::Kind::task);
    if (call.form != Form::call && call.form != Form::invoke) return false;
    const Function& callee = world_.program[call.callee];
    std::size_t next = callee.agent.valid() ? 1 : 0;
    for (std::size_t k = 0; k < callee.parameters.size(); ++k)
      if (callee.parameters[k].role == Role::declared && next++ == operand) return called(call.callee)[k];
    return false;
  }

  // What acts on the world, here or in what it calls; null: nothing does.
  const Call* act_in(FunctionId first) const {
    std::set<FunctionId> seen{first};
    for (std::vector<FunctionId> todo{first}; !todo.empty();) {
      const FunctionId id = todo.back();
      todo.pop_back();
      for (const Call& call : world_.program[id].calls) {
        if (call.builtin && (call.builtin->effect == Effect::host || call.builtin->effect == Effect::agrees))
          return &call;
        if (call.callee.valid() && seen.insert(call.callee).second) todo.push_back(call.callee);
      }
    }
    return nullptr;
  }

  void report(FunctionId in, const Call& call, std::size_t operand) {
    Origins origins(world_, in);
    origins.follow(call.in[operand]);
    for (FunctionId function : origins.functions) {
      if (!world_.info(function).found.host) continue;
      const Call* act = caller_ == Caller::operation ? act_in(function) : nullptr;
      if (caller_ == Caller::operation && !act) continue;
      Span span = operand < call.in_spans.size() ? call.in_spans[operand] : call.span;
      bool closure = world_.program[function].name == "<closure>";
      std::string what = closure ? "this function" : fmt::format("'{}'", world_.name_of(function));
      const char* who = act ? "an operation on regions asks it" : "a task or graph may call it";
      Diag& diag = world_.diags.error("E1302", span, fmt::format("{} has host effects, and {}", what, who));
      if (!act)
        diag.label(world_.program[function].span, "declared here");
      else if (!(act->span == span))
        diag.label(act->span, "acts on the world");
      if (act) diag.help("do that before, and let the function use what it gave");
    }
  }

  World& world_;
  const NewPart added_;
  const Caller caller_;
  const std::vector<FunctionId> functions_;
  std::map<FunctionId, std::vector<bool>> asked_;
};

}  // namespace

void refuse_host_functions(World& world, const NewPart& added) { Handed(world, added, Caller::task).run(); }

void refuse_asked_functions(World& world, const NewPart& added) {
  if (!world.diags.has_errors()) Handed(world, added, Caller::operation).run();
}

}  // namespace taskspec::checking
