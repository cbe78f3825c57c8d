// Function values that are handed to tasks and graphs: these call them, so they must do nothing to the host. What
// a graph does by itself is found from its own calls; this follows values through parameters.
//
//   fn h(f: fn(int) -> int) { g(f) }     graph g(f: fn(int) -> int) -> ...     h(noisy)     // E1302 here
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/check/effects.hpp"

namespace taskspec::checking {

namespace {

bool holds_function(const Type& type) {
  if (type.is(Type::Kind::function)) return true;
  bool container = type.is(Type::Kind::list) || type.is(Type::Kind::tuple);
  return container && std::any_of(type.parts.begin(), type.parts.end(), holds_function);
}

// Where a function value may come from, inside one function.
class Origins {
 public:
  Origins(const World& world, FunctionId in) : world_(world), in_(in) {}

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
      each_value(function, Form::write, call.variable, [&](CallId value) { follow(in, value, own); });
    else if (call.form == Form::global)
      follow_global(call);
    else if (call.form == Form::call)
      each_value(world_.program[call.callee], Form::return_, {}, [&](CallId v) { follow(call.callee, v, false); });
    else
      for (CallId part : call.in)
        if (part.valid() && holds_function(function[part].type)) follow(in, part, own);
  }

  void follow_global(const Call& call) {
    FunctionId top = world_.program.modules[call.module.index()].top_level;
    each_value(world_.program[top], Form::write, call.variable, [&](CallId value) { follow(top, value, false); });
  }

  // What is given to the calls of this form, and of stores beside writes.
  template <class F>
  static void each_value(const Function& function, Form form, VariableId variable, F&& visit) {
    for (const Call& call : function.calls) {
      bool same = call.form == form || (form == Form::write && call.form == Form::store);
      if (same && call.variable == variable && !call.in.empty()) visit(call.in[0]);
    }
  }

  const World& world_;
  FunctionId in_;
  std::set<std::pair<FunctionId, CallId>> seen_;
};

class Handed {
 public:
  Handed(World& world, const std::vector<bool>& host) : world_(world), host_(host), called_(world.infos.size()) {
    for (std::size_t i = 0; i < called_.size(); ++i) called_[i].resize(world.program.functions[i].parameters.size());
  }

  void run() {
    for (std::size_t i = 0; i < called_.size(); ++i) {
      const Function& function = world_.program.functions[i];
      bool pure = function.kind == FunctionKind::task || function.kind == FunctionKind::graph;
      for (std::size_t k = 0; k < called_[i].size(); ++k)
        called_[i][k] = pure && holds_function(function.parameters[k].type);
    }
    for (bool more = true; more;) {
      more = false;
      each_handed([&](FunctionId in, const Call& call, std::size_t operand) {
        Origins origins(world_, in);
        origins.follow(call.in[operand]);
        for (std::uint32_t k : origins.parameters) {
          more = more || !called_[in.index()][k];
          called_[in.index()][k] = true;
        }
      });
    }
    each_handed([&](FunctionId in, const Call& call, std::size_t operand) { report(in, call, operand); });
  }

 private:
  // Every operand that goes where a task or graph may call it.
  template <class F>
  void each_handed(F&& visit) {
    for (std::size_t i = 0; i < called_.size(); ++i) {
      const Function& function = world_.program.functions[i];
      for (const Call& call : function.calls)
        for (std::size_t k = 0; k < call.in.size(); ++k) {
          bool function_value = call.in[k].valid() && holds_function(function[call.in[k]].type);
          if (function_value && may_be_called(function, call, k)) visit(FunctionId(i), call, k);
        }
    }
  }

  bool may_be_called(const Function& function, const Call& call, std::size_t operand) const {
    if (call.form == Form::closure) return called_[call.callee.index()][operand];  // captures come first
    if (call.form == Form::agent) {
      const std::vector<FunctionId>& members = world_.program[call.agent].members;
      return std::any_of(members.begin(), members.end(),
                         [&](FunctionId member) { return called_[member.index()][operand]; });
    }
    // What a composite or a task as a value does with it is not seen here.
    if (call.form == Form::apply) return operand > 0 && function[call.in[0]].type.is(Type::Kind::task);
    if (call.form != Form::call && call.form != Form::invoke) return false;
    const Function& callee = world_.program[call.callee];
    std::size_t next = callee.agent.valid() ? 1 : 0;
    for (std::size_t k = 0; k < callee.parameters.size(); ++k)
      if (callee.parameters[k].role == Role::declared && next++ == operand) return called_[call.callee.index()][k];
    return false;
  }

  void report(FunctionId in, const Call& call, std::size_t operand) {
    Origins origins(world_, in);
    origins.follow(call.in[operand]);
    for (FunctionId function : origins.functions) {
      if (!host_[function.index()]) continue;
      Span span = operand < call.in_spans.size() ? call.in_spans[operand] : call.span;
      bool closure = world_.program[function].name == "<closure>";
      std::string what = closure ? "this function" : fmt::format("'{}'", world_.name_of(function));
      world_.diags.error("E1302", span, fmt::format("{} has host effects, and a task or graph may call it", what))
          .label(world_.program[function].span, "declared here");
    }
  }

  World& world_;
  const std::vector<bool>& host_;
  std::vector<std::vector<bool>> called_;  // by function and parameter: a task or graph may call what is given
};

}  // namespace

void refuse_host_functions(World& world, const std::vector<bool>& host) { Handed(world, host).run(); }

}  // namespace taskspec::checking
