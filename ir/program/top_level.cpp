#include "ir/program/top_level.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ir/program/host_symbols.hpp"

namespace taskspec {

namespace {

class Slicer {
 public:
  explicit Slicer(const Function& top)
      : top_(top),
        statement_(top.calls.size(), nowhere),
        changed_by_(top.variables.size()),
        taken_(top.body.calls.size(), false),
        wanted_(top.variables.size(), false) {
    for (std::size_t i = 0; i < top.body.calls.size(); ++i) index(i, top.body.calls[i]);
  }

  std::vector<CallId> run(const std::vector<VariableId>& wanted) {
    for (VariableId variable : wanted) want(variable);
    while (!todo_.empty()) {
      std::size_t next = todo_.back();
      todo_.pop_back();
      need_operands(top_.body.calls[next]);
    }
    std::vector<CallId> calls;
    for (std::size_t i = 0; i < taken_.size(); ++i)
      if (taken_[i]) calls.push_back(top_.body.calls[i]);
    return calls;
  }

 private:
  static constexpr std::size_t nowhere = SIZE_MAX;  // calls that no block lists

  // Which statement each call belongs to, and which statements change each variable.
  void index(std::size_t position, CallId id) {
    const Call& call = top_[id];
    statement_[id.index()] = position;
    if (call.form->writes()) changed_by_[call.variable.index()].push_back(position);
    for (const Place& place : call.places) changed_by_[place.variable.index()].push_back(position);
    for (const Block& block : call.blocks)
      for (CallId inner : block.calls) index(position, inner);
  }

  void want(VariableId variable) {
    if (wanted_[variable.index()]) return;
    wanted_[variable.index()] = true;
    for (std::size_t position : changed_by_[variable.index()]) take(position);
  }

  void take(CallId id) { take(statement_[id.index()]); }
  void take(std::size_t position) {
    if (position == nowhere || taken_[position]) return;
    taken_[position] = true;
    todo_.push_back(position);
  }

  void need_operands(CallId id) {
    const Call& call = top_[id];
    for (CallId in : call.in)
      if (in.valid()) take(in);
    for_each_host_symbol(call, [&](CallId value) {  // the ints that extents stand for
      if (value.index() < statement_.size()) take(value);
    });
    // A store changes an element of what is there already.
    if (call.form->reads()) want(call.variable);
    for (const Place& place : call.places) want(place.variable);
    for (const Block& block : call.blocks) {
      if (block.result.valid()) take(block.result);
      for (CallId inner : block.calls) need_operands(inner);
    }
  }

  const Function& top_;
  std::vector<std::size_t> statement_;                // by call: its place in the outermost block
  std::vector<std::vector<std::size_t>> changed_by_;  // by variable
  std::vector<bool> taken_, wanted_;
  std::vector<std::size_t> todo_;
};

// Which top-level names are read by a function, by what it calls, and by the calls that set these names.
class Reads {
 public:
  explicit Reads(const Program& program) : program_(program), seen_(program.functions.size(), false) {}

  void want(ModuleId module, VariableId variable) { names_[module].insert(variable); }

  std::map<ModuleId, std::vector<CallId>> calls_for(std::span<const FunctionId> functions) {
    for (FunctionId function : functions) look_into(function);
    std::map<ModuleId, std::vector<CallId>> calls;
    for (std::map<ModuleId, std::set<VariableId>> before; before != names_;) {
      before = names_;
      for (const auto& [module, names] : before) {
        const Function& top = program_[program_.modules[module.index()].top_level];
        calls[module] = top_level_calls(top, {names.begin(), names.end()});
        look_into(top, {calls[module], {}});
      }
    }
    return calls;
  }

 private:
  void look_into(FunctionId start) {
    std::vector<FunctionId> todo{start};
    while (!todo.empty()) {
      FunctionId id = todo.back();
      todo.pop_back();
      if (!id.valid() || seen_[id.index()]) continue;
      seen_[id.index()] = true;
      const Function& function = program_[id];
      if (function.agent.valid())  // whoever calls a member has made an agent
        for (const Slot& slot : program_[function.agent].slots) todo.push_back(slot.initial);
      for (const Parameter& parameter : function.parameters) note(function, parameter.default_block, todo);
      note(function, function.body, todo);
    }
  }
  void look_into(const Function& top, const Block& calls) {
    std::vector<FunctionId> called;
    note(top, calls, called);
    for (FunctionId id : called) look_into(id);
  }

  void note(const Function& function, const Block& block, std::vector<FunctionId>& called) {
    each_call(function, block, [&](CallId id) {
      const Call& call = function[id];
      if (call.form == Form::global) names_[call.module].insert(call.variable);
      if (call.callee.valid()) called.push_back(call.callee);
      if (call.form != Form::agent) return;
      for (const Slot& slot : program_[call.agent].slots) called.push_back(slot.initial);
    });
  }

  const Program& program_;
  std::vector<bool> seen_;
  std::map<ModuleId, std::set<VariableId>> names_;
};

}  // namespace

std::vector<CallId> listed_since(const Function& top_level, std::size_t calls, std::size_t listed) {
  const std::vector<CallId>& body = top_level.body.calls;
  const std::size_t wanted = body.size() - listed;
  std::vector<CallId> added;
  for (std::size_t i = body.size(); i > 0 && body[i - 1].index() >= calls; --i) added.push_back(body[i - 1]);
  if (added.size() == wanted) {
    std::reverse(added.begin(), added.end());
    return added;
  }
  added.clear();
  for (CallId id : body)
    if (id.index() >= calls) added.push_back(id);
  return added;
}

std::vector<CallId> top_level_calls(const Function& top_level, const std::vector<VariableId>& wanted) {
  return Slicer(top_level).run(wanted);
}

namespace {

Program only_these(const Program& program, std::map<ModuleId, std::vector<CallId>> top_levels) {
  Program cut = program;
  for (Module& module : cut.modules) cut[module.top_level].body = {};
  for (auto& [module, calls] : top_levels) cut[cut.modules[module.index()].top_level].body.calls = std::move(calls);
  return cut;
}

}  // namespace

Program with_needed_top_level(const Program& program, std::span<const FunctionId> functions) {
  return only_these(program, Reads(program).calls_for(functions));
}

Program with_needed_top_level(const Program& program, VariableId variable) {
  Reads reads(program);
  reads.want(program.main_module, variable);
  return only_these(program, reads.calls_for({}));
}

Program with_needed_top_level(const Program& program, FunctionId function) {
  return with_needed_top_level(program, std::span(&function, 1));
}

}  // namespace taskspec
