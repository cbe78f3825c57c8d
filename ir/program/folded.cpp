#include "ir/program/folded.hpp"

#include <algorithm>
#include <map>

namespace taskspec {

bool is_folded(const Function& function, const Call& call) {
  const auto known = [&](CallId in) { return !in.valid() || function[in].folded; };
  switch (call.form->payload) {
    case Payload::value:
      return true;
    case Payload::type:  // a new region has one, too
      return call.form == Form::type && !call.type.has_symbols();
    case Payload::op:
      return !call.type.is(Type::Kind::none) && call.places.empty() && std::ranges::all_of(call.in, known);
    case Payload::output:
      return known(call.in[0]);
    default:
      return false;
  }
}

namespace {

// By variable of a top level: does it only ever hold what is folded?
std::vector<bool> folded_names(const Function& top) {
  std::vector<bool> written(top.variables.size(), false), open(top.variables.size(), false);
  for (const Call& call : top.calls) {
    if (call.form == Form::write) {
      written[call.variable.index()] = true;
      if (!top[call.in[0]].folded) open[call.variable.index()] = true;
    }
    if (call.form->variable == FormRecord::Variable::changes) open[call.variable.index()] = true;
    for (const Place& place : call.places) open[place.variable.index()] = true;
  }
  for (std::size_t i = 0; i < written.size(); ++i) written[i] = written[i] && !open[i];
  return written;
}

}  // namespace

void mark_folded(Program& program, FunctionId id) {
  Function& function = program[id];
  std::map<FunctionId, std::vector<bool>> names;  // of the top levels that it reads
  auto known_global = [&](const Call& call) {
    const FunctionId top = program.modules[call.module.index()].top_level;
    auto [known, fresh] = names.try_emplace(top);
    if (fresh) known->second = folded_names(program[top]);
    return static_cast<bool>(known->second[call.variable.index()]);
  };
  for (Call& call : function.calls) call.folded = false;
  // Operands stand before the call that reads them.
  for (Call& call : function.calls)
    call.folded = call.form == Form::global ? known_global(call) : is_folded(function, call);
}

void mark_folded(Program& program) {
  for (const Module& module : program.modules) mark_folded(program, module.top_level);
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].kind != FunctionKind::module) mark_folded(program, FunctionId(i));
}

}  // namespace taskspec
