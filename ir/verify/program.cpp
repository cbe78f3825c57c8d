#include <fmt/format.h>

#include <algorithm>

#include "ir/program/top_level.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

bool has_error(const Type& type) {
  if (type.is(Type::Kind::error)) return true;
  for (const Type& part : type.parts)
    if (has_error(part)) return true;
  return false;
}

class FunctionVerifier {
 public:
  FunctionVerifier(const Program& program, FunctionId id, std::vector<std::string>& wrong)
      : program_(program),
        function_(program[id]),
        name_(program.display_name(id)),
        wrong_(wrong),
        defined_(function_.calls.size(), false) {}

  // What its body lists behind the first calls, which were verified when they came.
  void run_grown(const Verified& known) {
    std::fill(defined_.begin(), defined_.begin() + static_cast<std::ptrdiff_t>(known.calls), true);
    for (std::size_t v = known.variables; v < function_.variables.size(); ++v) variable(function_.variables[v]);
    block({listed_since(function_, known.calls, known.listed), {}});
  }

  void run() {
    signature();
    // Parameters get their values one after the other, before the body runs.
    std::vector<std::vector<std::size_t>> reads(function_.parameters.size());
    for (std::size_t i = 0; i < defined_.size(); ++i)
      if (const Call& call = function_.calls[i]; call.form == Form::parameter && call.index < reads.size())
        reads[call.index].push_back(i);
    for (std::size_t k = 0; k < reads.size(); ++k) {
      if (function_.parameters[k].default_value.valid()) default_of(function_.parameters[k]);
      for (std::size_t call : reads[k]) defined_[call] = true;
    }
    block(function_.body);
  }

 private:
  void say(std::string text) { wrong_.push_back(name_ + ": " + std::move(text)); }
  void say(CallId id, std::string_view text) {
    say(fmt::format("%{} {}: {}", id.value, function_[id].form->word, text));
  }
  bool is_call(CallId id) const { return id.valid() && id.index() < function_.calls.size(); }
  bool in_range(VariableId id) const { return id.valid() && id.index() < function_.variables.size(); }

  void signature() {
    for (const Parameter& parameter : function_.parameters) {
      if (has_error(parameter.type) || parameter.type.is(Type::Kind::none))
        say("parameter " + parameter.name + " has no type");
      const bool view = parameter.type.is(Type::Kind::view);
      bool place = (parameter.role == Role::slot || (parameter.privilege == Privilege::inout && !view)) &&
                   function_.part != Part::host;
      if (place && !in_range(parameter.variable)) say("place " + parameter.name + " has no variable");
    }
    for (const Output& output : function_.outputs)
      if (has_error(output.type) || !in_range(output.variable))
        say("output " + output.name + " has no type or variable");
    for (const Variable& v : function_.variables) variable(v);
    if (has_error(function_.result)) say("the result has no type");
  }

  // Runs only where no argument is given, so nobody else may use what it makes.
  void default_of(const Parameter& parameter) {
    block(parameter.default_block);
    const CallId value = parameter.default_value;
    if (!is_call(value) || (!defined_[value.index()] && function_.part == Part::whole))
      say("the default of " + parameter.name + " is not made where it stands");
    forget(0);
  }

  void variable(const Variable& variable) {
    if (has_error(variable.type)) say("variable " + variable.name + " has no type");
  }

  void block(const Block& block) {
    std::vector<CallId> here;
    for (CallId id : block.calls) {
      if (!is_call(id)) {
        say("a block lists a call that is not there");
        continue;
      }
      call(id);
      if (!defined_[id.index()]) here.push_back(id);
      defined_[id.index()] = true;
    }
    if (block.result.valid() && (block.result.index() >= defined_.size() || !defined_[block.result.index()]))
      say("a block gives a value that is not made in it");
    leave_.push_back(std::move(here));
  }

  // The body of a while may use what its condition made.
  static bool decides(const Call& call, const Block& inner) {
    const auto position = static_cast<std::size_t>(&inner - call.blocks.data());
    return position < call.form->block_count && call.form->blocks()[position].decides;
  }

  // Runs the blocks of a call; what they define is not visible after it.
  void inner_blocks(const Call& call) {
    std::size_t before = leave_.size();
    for (const Block& inner : call.blocks) {
      block(inner);
      if (!decides(call, inner)) forget(before);
    }
    forget(before);
  }

  void forget(std::size_t before) {
    while (leave_.size() > before) {
      for (CallId id : leave_.back()) defined_[id.index()] = false;
      leave_.pop_back();
    }
  }

  void call(CallId id) {
    const Call& call = function_[id];
    const FormRecord& form = *call.form;
    for (CallId in : call.in) operand(id, call, in);
    if (call.in.size() < form.operands.least || call.in.size() > form.operands.most)
      say(id, fmt::format("{} operands", call.in.size()));
    if (call.blocks.size() != form.block_count) say(id, fmt::format("{} blocks", call.blocks.size()));
    if (has_error(call.type)) say(id, "its type is an error");
    const bool acts = call.op && !call.op->outputs.empty();  // graph_print gives nothing
    if (form.gives == FormRecord::Gives::value && call.type.is(Type::Kind::none) && !acts) say(id, "it has no type");
    payload(id, call);
    for (const Place& place : call.places)
      if (place.operand >= call.in.size() || !in_range(place.variable)) say(id, "a place that is not there");
    inner_blocks(call);
  }

  void operand(CallId id, const Call& call, CallId in) {
    if (!in.valid()) {
      if (!call.form->defaults) say(id, "an operand is missing");
    } else if (!is_call(in) || (!defined_[in.index()] && function_.part == Part::whole)) {
      // In a part a value may stay on the other side.
      say(id, fmt::format("%{} is not made before it", in.value));
    }
  }

  void payload(CallId id, const Call& call) {
    auto need = [&](bool there, std::string_view wrong) {
      if (!there) say(id, wrong);
    };
    switch (call.form->payload) {
      case Payload::value:
        return need(!call.value.is_none(), "it has no value");
      case Payload::parameter:
        return need(call.index < function_.parameters.size(), "there is no such parameter");
      case Payload::symbol:
        return need(call.symbol != nullptr, "it has no symbol");
      case Payload::variable:
        return need(in_range(call.variable), "no variable");
      case Payload::global:
        return global(id, call);
      case Payload::op:
        return need(call.op, "it has no op");
      case Payload::builtin:
        return need(call.builtin, "it has no builtin");
      case Payload::callee:
        need(call.callee.valid() && call.callee.index() < program_.functions.size(), "no callee");
        if (call.form->enters == FormRecord::Enters::callee) arguments(id, call);
        return;
      case Payload::output:
        return need(call.in.size() != 1 || !is_call(call.in[0]) || call.index < function_[call.in[0]].type.parts.size(),
                    "there is no such output");
      case Payload::agent:
        return need(call.agent.valid() && call.agent.index() < program_.agents.size(), "it has no agent");
      case Payload::none:
      case Payload::type:
      case Payload::part:
      case Payload::field:
      case Payload::receive:
      case Payload::channel:
        return;
    }
  }

  void global(CallId id, const Call& call) {
    bool there = call.module.valid() && call.module.index() < program_.modules.size();
    if (there) {
      const Function& top = program_[program_.modules[call.module.index()].top_level];
      there = call.variable.valid() && call.variable.index() < top.variables.size();
    }
    if (!there) say(id, "there is no such top-level name");
  }

  void arguments(CallId id, const Call& call) {
    if (!call.callee.valid() || call.callee.index() >= program_.functions.size()) return;
    const Function& callee = program_[call.callee];
    std::size_t wanted = callee.agent.valid() ? 1 : 0;
    if (call.form->changes_data) wanted += 2;  // of a launch: its domain and its sharding
    for (const Parameter& parameter : callee.parameters) wanted += parameter.role == Role::declared ? 1 : 0;
    if (call.in.size() != wanted) say(id, fmt::format("{} arguments for {}", call.in.size(), wanted));
    if ((callee.kind == FunctionKind::fn) != (call.form == Form::call)) say(id, "a fn is called, a task invoked");
  }

  const Program& program_;
  const Function& function_;
  std::string name_;
  std::vector<std::string>& wrong_;
  std::vector<bool> defined_;               // by call: made on every path to here
  std::vector<std::vector<CallId>> leave_;  // calls of blocks that end with the call they belong to
};

}  // namespace

std::vector<std::string> verify(const Program& program, FunctionId function) {
  std::vector<std::string> wrong;
  FunctionVerifier(program, function, wrong).run();
  return wrong;
}

std::vector<std::string> verify(const Program& program) {
  Verified nothing;
  return verify_grown(program, nothing);
}

std::vector<std::string> verify_grown(const Program& program, Verified& known) {
  std::vector<std::string> wrong;
  if (program.modules.empty()) wrong.emplace_back("the program has no module");
  const FunctionId main = program.main_module.valid() ? program.main().top_level : FunctionId();
  if (main.valid() && main.index() < known.functions) FunctionVerifier(program, main, wrong).run_grown(known);
  for (std::size_t i = known.functions; i < program.functions.size(); ++i)
    FunctionVerifier(program, FunctionId(i), wrong).run();
  for (std::size_t i = known.agents; i < program.agents.size(); ++i)
    for (const Slot& slot : program.agents[i].slots)
      if (!slot.initial.valid() || has_error(slot.type))
        wrong.push_back(program.agents[i].name + "." + slot.name + ": slot without value or type");
  known.functions = program.functions.size();
  known.agents = program.agents.size();
  if (main.valid())
    known = {known.functions, known.agents, program[main].calls.size(), program[main].body.calls.size(),
             program[main].variables.size()};
  return wrong;
}

}  // namespace taskspec
