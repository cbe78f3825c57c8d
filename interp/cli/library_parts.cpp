#include "interp/cli/library_parts.hpp"

#include <set>

#include "ir/program/top_level.hpp"
#include "ir/show/program_text.hpp"

namespace taskspec::cli {

namespace {

// A caller of one function after the other, in the top level of the main file.
class Caller {
 public:
  Caller(Program& program, const Toolbox& tools)
      : program_(program), top_(program[program.main().top_level]), print_(tools.builtins.serving(Serves::shows)) {}

  void call(FunctionId id) {
    const Function& callee = program_[id];
    Call call;
    call.form = Form::call;
    call.callee = id;
    call.span = callee.span;
    call.type = callee.result;
    if (callee.agent.valid()) {
      Type agent(Type::Kind::agent);
      agent.agent = callee.agent;
      call.in.push_back(given(agent));
    }
    for (const Parameter& parameter : callee.parameters)
      if (parameter.role == Role::declared) call.in.push_back(given(parameter.type));
    CallId result = emit(std::move(call));
    if (callee.result.is(Type::Kind::none)) return;
    if (callee.result.is_tensor()) result = received(result, callee);
    Call shown;
    shown.form = Form::builtin;
    shown.builtin = print_;
    shown.span = callee.span;
    shown.in.push_back(result);
    emit(std::move(shown));
  }

 private:
  // Its value does not matter: nothing runs.
  CallId given(const Type& type) {
    Call call;
    call.form = Form::constant;
    call.type = type;
    call.value = Value(std::int64_t{0});
    return emit(std::move(call));
  }

  CallId received(CallId tensor, const Function& callee) {
    Call call;
    call.form = Form::receive;
    call.index = static_cast<std::uint32_t>(Receive::array);
    call.type = Type::Kind::real;
    for (std::size_t i = 0; i < callee.result.rank(); ++i) call.type = Type::list(std::move(call.type));
    call.span = callee.span;
    call.in.push_back(tensor);
    return emit(std::move(call));
  }

  CallId emit(Call call) {
    CallId id(top_.calls.size());
    top_.calls.push_back(std::move(call));
    top_.body.calls.push_back(id);
    return id;
  }

  Program& program_;
  Function& top_;
  const Builtin* print_;
};

Program with_caller(Program program, ModuleId module, const Toolbox& tools) {
  Caller caller(program, tools);
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    bool initial = false;
    if (function.agent.valid())
      for (const Slot& slot : program[function.agent].slots) initial = initial || slot.initial == FunctionId(i);
    const bool is_entry = function.kind == FunctionKind::fn && function.module == module && !initial;
    if (is_entry && function.name != "<closure>") caller.call(FunctionId(i));
  }
  return program;
}

}  // namespace

LibraryParts::LibraryParts(const Program& program, ModuleId module, const Toolbox& tools)
    : cut_(cut_program(with_caller(program, module, tools))), wholes_(cut_.program.functions.size()) {
  for (std::size_t i = 0; i < wholes_.size(); ++i) wholes_[i] = FunctionId(i);
  for (std::size_t i = 0; i < cut_.parts.size(); ++i)
    for (FunctionId part : {cut_.parts[i].host, cut_.parts[i].graph})
      if (part.valid()) wholes_[part.index()] = FunctionId(i);
}

// A task or graph is all on the graph's side.
PartTexts LibraryParts::of(FunctionId id) const {
  PartTexts texts;
  FunctionId host = cut_.parts[id.index()].host, graph = cut_.parts[id.index()].graph;
  if (cut_.program[id].kind != FunctionKind::fn) graph = id;
  if (host.valid()) {
    texts.host = function_text(cut_.program, host);
    texts.host_uses = reached(host, Part::host);
  }
  if (graph.valid()) {
    texts.graph = function_text(cut_.program, graph);
    texts.graph_uses = reached(graph, Part::graph);
  }
  return texts;
}

std::vector<Declared> LibraryParts::reached(FunctionId start, Part side) const {
  std::vector<FunctionId> todo{start};
  std::set<FunctionId> seen{start};
  std::set<AgentId> agents;
  std::vector<Declared> used;
  for (std::size_t i = 0; i < todo.size(); ++i) {
    const Function& function = cut_.program[todo[i]];
    each_call(function, function.body, [&](CallId id) {
      const Call& call = function[id];
      if (call.agent.valid() && agents.insert(call.agent).second) used.push_back({.agent = call.agent});
      if (!call.callee.valid()) return;
      // A function value names the whole; what runs here is its part.
      FunctionId part = cut_.part(wholes_[call.callee.index()], side);
      FunctionId next = part.valid() ? part : call.callee;
      if (!seen.insert(next).second) return;
      todo.push_back(next);
      const FunctionId whole = wholes_[next.index()];
      if (cut_.program[whole].name != "<closure>") used.push_back({.function = whole});
    });
  }
  return used;
}

}  // namespace taskspec::cli
