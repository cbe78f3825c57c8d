// Function values that are handed to tasks and graphs: these call them, so they must do nothing to the host. What
// a graph does by itself is found from its own calls; this follows values through parameters.
//
//   fn h(f: fn(int) -> int) { g(f) }     graph g(f: fn(int) -> int) -> ...     h(noisy)     // E1302 here
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/effects.hpp"
#include "frontend/check/origins.hpp"

namespace taskspec::checking {

namespace {

class Handed {
 public:
  Handed(World& world, const NewPart& added) : world_(world), added_(added), functions_(functions_of(world, added)) {}

  void run() {
    for (FunctionId id : functions_) {
      const Function& function = world_.program[id];
      bool pure = function.kind == FunctionKind::task || function.kind == FunctionKind::graph;
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

  std::vector<bool>& called(FunctionId id) { return world_.info(id).handed; }

  bool may_be_called(const Function& function, const Call& call, std::size_t operand) {
    // What a composite or a task as a value does with it is not seen here.
    if (call.form == Form::apply) return operand > 0 && function[call.in[0]].type.is(Type::Kind::task);
    bool found = false;
    each_receiver(world_.program, call, operand,
                  [&](FunctionId callee, std::size_t parameter) { found = found || called(callee)[parameter]; });
    return found;
  }

  void report(FunctionId in, const Call& call, std::size_t operand) {
    Origins origins(world_, in);
    origins.follow(call.in[operand]);
    for (FunctionId function : origins.functions()) {
      if (!world_.info(function).found.host) continue;
      Span span = operand < call.in_spans.size() ? call.in_spans[operand] : call.span;
      bool closure = world_.program[function].name == "<closure>";
      std::string what = closure ? "this function" : fmt::format("'{}'", world_.name_of(function));
      world_.diags.error("E1302", span, fmt::format("{} has host effects, and a task or graph may call it", what))
          .label(world_.program[function].span, "declared here");
    }
  }

  World& world_;
  const NewPart added_;
  const std::vector<FunctionId> functions_;
};

}  // namespace

void refuse_host_functions(World& world, const NewPart& added) { Handed(world, added).run(); }

}  // namespace taskspec::checking
