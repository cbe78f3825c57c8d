#include <fmt/format.h>

#include <algorithm>

#include "ir/print_program.hpp"
#include "ir/top_level.hpp"
#include "ir/verify.hpp"

namespace taskspec {

namespace {

constexpr std::size_t any = SIZE_MAX;

// What a form must have, beyond its type.
struct Needs {
  std::size_t least = 0, most = any;  // operands
  std::size_t blocks = 0;
  bool variable = false, callee = false, value = true;
};

Needs needs_of(Form form) {
  switch (form) {
    case Form::constant:
    case Form::parameter:
    case Form::dimension:
    case Form::type:
    case Form::loop:
    case Form::self:
      return {0, 0};
    case Form::variable:
    case Form::global:
      return {.most = 0, .variable = true};
    case Form::op:
    case Form::tuple:
    case Form::list:
    case Form::agent:
      return {};
    case Form::builtin:
      return {.value = false};
    case Form::range:
    case Form::item:
    case Form::compose:
      return {2, 2};
    case Form::items:
      return {3, 3};
    case Form::element:
    case Form::field:
    case Form::receive:
    case Form::output:
      return {1, 1};
    case Form::member:
      return {.least = 1, .most = 1, .callee = true};
    case Form::function:
      return {.most = 0, .callee = true};
    case Form::closure:
    case Form::invoke:
      return {.callee = true};
    case Form::call:
      return {.callee = true, .value = false};
    case Form::apply:
      return {.least = 1, .value = false};
    case Form::write:
      return {.least = 1, .most = 1, .variable = true, .value = false};
    case Form::store:
      return {.least = 2, .variable = true, .value = false};
    case Form::if_:
      return {.least = 1, .most = 1, .blocks = 2, .value = false};
    case Form::for_:
      return {.least = 1, .most = 1, .blocks = 1, .value = false};
    case Form::while_:
      return {.most = 0, .blocks = 2, .value = false};
    case Form::both:
    case Form::either:
      return {.least = 1, .most = 1, .blocks = 1};
    case Form::return_:
      return {.most = 1, .value = false};
    case Form::break_:
    case Form::continue_:
      return {.most = 0, .value = false};
    case Form::run:
      return {.least = 1, .most = 1, .blocks = 1};
    case Form::enqueue:
      return {.value = false};
    case Form::dequeue:
      return {.most = 0, .value = false};
  }
  return {};
}

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
    say(fmt::format("%{} {}: {}", id.value, form_name(function_[id].form), text));
  }
  bool is_call(CallId id) const { return id.valid() && id.index() < function_.calls.size(); }
  bool in_range(VariableId id) const { return id.valid() && id.index() < function_.variables.size(); }

  void signature() {
    for (const Parameter& parameter : function_.parameters) {
      if (has_error(parameter.type) || parameter.type.is(Type::Kind::none))
        say("parameter " + parameter.name + " has no type");
      bool place =
          (parameter.role == Role::slot || parameter.privilege == Privilege::inout) && function_.part != Part::host;
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

  // Runs the blocks of a call; what they define is not visible after it.
  void inner_blocks(const Call& call) {
    std::size_t before = leave_.size();
    for (const Block& inner : call.blocks) {
      block(inner);
      // The body of a while may use what its condition made.
      if (call.form != Form::while_) forget(before);
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
    Needs needs = needs_of(call.form);
    for (CallId in : call.in) operand(id, call, in);
    if (call.in.size() < needs.least || call.in.size() > needs.most)
      say(id, fmt::format("{} operands", call.in.size()));
    if (call.blocks.size() != needs.blocks) say(id, fmt::format("{} blocks", call.blocks.size()));
    if (has_error(call.type)) say(id, "its type is an error");
    const bool acts = call.form == Form::op && call.op && !call.op->outputs.empty();  // graph_print gives nothing
    if (needs.value && call.type.is(Type::Kind::none) && !acts) say(id, "it has no type");
    if (needs.callee && (!call.callee.valid() || call.callee.index() >= program_.functions.size()))
      say(id, "no callee");
    if (needs.variable && call.form != Form::global && !in_range(call.variable)) say(id, "no variable");
    fields(id, call);
    for (const Place& place : call.places)
      if (place.operand >= call.in.size() || !in_range(place.variable)) say(id, "a place that is not there");
    inner_blocks(call);
  }

  void operand(CallId id, const Call& call, CallId in) {
    bool may_miss =
        call.form == Form::op || call.form == Form::builtin || call.form == Form::call || call.form == Form::invoke;
    if (!in.valid()) {
      if (!may_miss) say(id, "an operand is missing");
    } else if (!is_call(in) || (!defined_[in.index()] && function_.part == Part::whole)) {
      // In a part a value may stay on the other side.
      say(id, fmt::format("%{} is not made before it", in.value));
    }
  }

  // The fields that only some forms have.
  void fields(CallId id, const Call& call) {
    switch (call.form) {
      case Form::constant:
        if (call.value.is_none()) say(id, "it has no value");
        break;
      case Form::parameter:
        if (call.index >= function_.parameters.size()) say(id, "there is no such parameter");
        break;
      case Form::dimension:
        if (!call.symbol) say(id, "it has no symbol");
        break;
      case Form::global:
        global(id, call);
        break;
      case Form::op:
        if (!call.op) say(id, "it has no op");
        break;
      case Form::builtin:
        if (!call.builtin) say(id, "it has no builtin");
        break;
      case Form::call:
      case Form::invoke:
        arguments(id, call);
        break;
      case Form::output:
        if (call.in.size() == 1 && is_call(call.in[0]) && call.index >= function_[call.in[0]].type.parts.size())
          say(id, "there is no such output");
        break;
      case Form::agent:
        if (!call.agent.valid() || call.agent.index() >= program_.agents.size()) say(id, "it has no agent");
        break;
      default:
        break;
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
