// Agents: parameters, slots with the functions that make their first values, and A(args).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/check/arguments.hpp"
#include "frontend/check/calls.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/types.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

// ---- slots ----------------------------------------------------------------------------------------

namespace {

constexpr std::array<std::string_view, 3> slot_kinds{"weight", "state", "table"};  // in the order of SlotKind

std::optional<SlotKind> slot_kind(World& world, const ast::Name& kind) {
  for (std::size_t i = 0; i < slot_kinds.size(); ++i)
    if (slot_kinds[i] == kind.text) return static_cast<SlotKind>(i);
  Diag& diag = world.diags.error("E1001", kind.span, fmt::format("unknown kind of slot '{}'", kind.text));
  if (auto best = nearest(kind.text, {"weight", "state", "table"})) diag.help(fmt::format("did you mean '{}'?", *best));
  return std::nullopt;
}

// The first value of a slot: a maker without its type, or any value of the type.
class Initialiser {
 public:
  Initialiser(Body& body, const ast::Slot& slot, const Type& type) : body_(body), slot_(slot), type_(type) {}

  Term run() {
    if (!slot_.init) return zero(slot_.name.span);
    auto* call = std::get_if<ast::Call>(&slot_.init->node);
    auto* name = call ? std::get_if<ast::NameExpr>(&call->callee->node) : nullptr;
    if (!name || body_.find(name->name.text)) return value();
    return maker(name->name.text, *call);
  }

 private:
  Term maker(const std::string& name, const ast::Call& call) {
    if (name == "zero" && call.args.empty()) return zero(slot_.init->span);
    if (name == "constant" && call.args.size() == 1 && !call.args[0].name)
      return fill(expression(body_, *call.args[0].value), slot_.init->span);
    const std::string known = name == "file" ? "load" : name;
    for (const Record& record : {find_op(body_.world, known), find_builtin(body_.world, known)})
      if (record && !record.operands().empty() && record.operands()[0].kind == OperandKind::type)
        return call_record(body_, record, type_operand(body_, type_, slot_.type.span), call.args, slot_.init->span,
                           stream_of(record));
    return value();
  }

  // Random numbers of a slot come from a stream of its own, which the agent gives when it is made.
  std::vector<Implied> stream_of(const Record& record) {
    bool random = std::ranges::any_of(record.operands(), [](const auto& o) { return o.name == "stream"; });
    if (!random) return {};
    Parameter stream;
    stream.name = "stream";
    stream.type = Kind::integer;
    stream.span = slot_.name.span;
    CallId parameter = body_.add_parameter(std::move(stream), slot_.name.span);
    return {{"stream", {parameter, slot_.name.span}}};
  }

  Term value() {
    return convert(body_, expression(body_, *slot_.init, &type_), type_,
                   {fmt::format("slot '{}'", slot_.name.text), slot_.type.span});
  }

  Term zero(Span span) {
    const bool truth = type_.precision == Precision::boolean;
    return fill(truth ? body_.constant(Value(false), Kind::boolean, span)
                      : body_.constant(Value(std::int64_t{0}), Kind::integer, span),
                span);
  }

  Term fill(const Term& value, Span span) {
    return operator_call(body_, "fill", {type_operand(body_, type_, slot_.type.span), value}, span, {});
  }

  Body& body_;
  const ast::Slot& slot_;
  const Type& type_;
};

// A fn of the agent's parameters that returns the first value of the slot.
FunctionId initial_value(World& world, AgentId agent, const ast::Slot& slot, Type& type) {
  Function function;
  function.name = slot.name.text;
  function.agent = agent;
  function.module = world.program[agent].module;
  function.span = slot.name.span;
  FunctionId id = world.add_function(std::move(function));
  world.info(id).stage = FunctionInfo::Stage::checked;
  Body body(world, id);
  add_agent_parameters(body);
  type = written_tensor(body, slot.type, Blank::agent, slot.name.text);
  if (!type.is_tensor() && !type.is(Kind::error)) {
    wrong_type(world.diags, slot.type.span,
               fmt::format("a slot holds a tensor, '{}' is {}", slot.name.text, type.text()));
    type = Kind::error;
  }
  Term value = type.is(Kind::error) ? body.error(slot.name.span) : Initialiser(body, slot, type).run();
  body.make(Form::return_, Kind::none, slot.name.span, {value});
  body.function().result = type;
  body.finish();
  return id;
}

// ---- parameters -----------------------------------------------------------------------------------

Type agent_parameter_type(World& world, Body& file, const ast::Param& param) {
  if (param.privilege) {
    world.diags.error("E1003", param.privilege->span, "parameters of agents have no privilege: they never change");
    return Kind::error;
  }
  Type type = written_type(file, param.type, Blank::agent, param.name.text);
  if (!type.is_tensor()) return type;
  wrong_type(world.diags, param.type.span,
             fmt::format("parameters of agents are host values, '{}' is {}", param.name.text, type.text()))
      .help("make it a slot, or a parameter of the task");
  return Kind::error;
}

// The default of parameter `i` where A(...) is written: earlier parameters are `given`, other names those of the
// agent's file.
Term default_value(Body& body, AgentId agent, std::size_t i, const std::vector<Term>& given, Span span) {
  World& world = body.world;
  const ast::AgentDecl& decl = *world.info(agent).decl;
  Scope scope;
  for (std::size_t k = 0; k < i; ++k) {
    Binding binding{.kind = Binding::Kind::value, .what = "argument", .span = decl.params[k].name.span};
    binding.call = given[k].id;
    scope.names.emplace(decl.params[k].name.text, binding);
  }
  std::optional<ModuleId> before = body.isolated;
  body.scopes.push_back(std::move(scope));
  body.isolated = world.program[agent].module;
  Type wanted = world.program[agent].parameters[i].type;
  Term value = expression(body, *decl.params[i].default_value, &wanted);
  value = convert(body, value, wanted, {fmt::format("'{}'", decl.params[i].name.text), decl.params[i].type.span});
  body.isolated = before;
  body.scopes.pop_back();
  value.span = span;
  return value;
}

// Defaults that no call uses are checked too.
void check_defaults(World& world, AgentId agent) {
  Body& file = *world.file(world.program[agent].module).top_level;
  const std::vector<ast::Param>& params = world.info(agent).decl->params;
  dry_run(file, [&] {
    std::vector<Term> given;
    for (std::size_t i = 0; i < params.size(); ++i) {
      Span span = params[i].span;
      if (params[i].default_value && file.is_error(default_value(file, agent, i, given, span)))
        world.program.agents[agent.index()].parameters[i].type = Kind::error;
      given.push_back(file.make(Form::parameter, Type(world.program[agent].parameters[i].type), span, {}));
    }
    return true;
  });
}

}  // namespace

void resolve_agent(World& world, AgentId agent) {
  AgentInfo& info = world.info(agent);
  if (info.resolved) return;
  info.resolved = true;
  Body& file = *world.file(world.program[agent].module).top_level;
  Names seen = info.names;
  for (const ast::Param& param : info.decl->params) {
    Type type = agent_parameter_type(world, file, param);
    auto [clash, added] = seen.emplace(param.name.text, Binding{.span = param.name.span});
    if (!added) defined_twice(world.diags, param.name.text, clash->second.span, param.name.span);
    Parameter made{param.name.text, std::move(type), Privilege::in, Role::agent_parameter, {}, {}, {}, param.span};
    world.program.agents[agent.index()].parameters.push_back(std::move(made));
  }
  check_defaults(world, agent);
  for (const ast::Slot* slot : info.slots) {
    Slot made;
    std::optional<SlotKind> kind = slot_kind(world, slot->kind);
    made.kind = kind.value_or(SlotKind::state);
    made.name = slot->name.text;
    made.span = slot->name.span;
    made.initial = initial_value(world, agent, *slot, made.type);
    world.program.agents[agent.index()].slots.push_back(std::move(made));
  }
}

void add_agent_parameters(Body& body) {
  if (!body.agent.valid()) return;
  const std::vector<Parameter> parameters = body.world.program[body.agent].parameters;
  const std::vector<ast::Param>& params = body.world.info(body.agent).decl->params;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Binding binding{.kind = Binding::Kind::value, .what = "parameter"};
    binding.call = body.add_parameter(parameters[i], params[i].span);
    binding.index = static_cast<std::uint32_t>(i);
    binding.span = params[i].name.span;
    body.scopes.front().names.emplace(params[i].name.text, binding);  // one defined twice was reported for the agent
  }
}

Type slot_type(Body& body, std::uint32_t index) {
  if (body.world.program[body.agent].slots[index].type.is(Kind::error)) return Kind::error;
  // Names in it are those of the agent, not of the member that asks.
  std::vector<Scope> around = std::move(body.scopes);
  body.scopes.clear();
  body.scopes.push_back(std::move(around.front()));
  const ast::Slot& slot = *body.world.info(body.agent).slots[index];
  Type type = written_tensor(body, slot.type, Blank::agent, slot.name.text);
  around.front() = std::move(body.scopes.front());
  body.scopes = std::move(around);
  return type;
}

Term make_agent(Body& body, AgentId agent, const ast::Call& call, Span span) {
  World& world = body.world;
  resolve_agent(world, agent);
  const std::vector<ast::Param>& params = world.info(agent).decl->params;
  std::vector<ParameterName> names;
  for (const ast::Param& param : params) names.push_back({param.name.text, param.default_value != nullptr});
  std::string text = fmt::format("agent '{}'", world.program[agent].name);
  auto places = place_arguments(world.diags, {text, world.program[agent].span, names, 0}, call.args, span);
  if (!places) {
    check_arguments(body, call);
    return body.error(span);
  }
  std::vector<Term> in(params.size());
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    std::size_t at = (*places)[i];
    Type wanted = world.program[agent].parameters[at].type;
    in[at] = convert(body, expression(body, *call.args[i].value, &wanted), wanted,
                     {fmt::format("'{}' of {}", params[at].name.text, text), params[at].span});
  }
  bool failed = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    bool wrong = world.program[agent].parameters[i].type.is(Kind::error);
    if (!in[i].valid()) in[i] = wrong ? body.error(span) : default_value(body, agent, i, in, span);
    failed = failed || body.is_error(in[i]);
  }
  if (failed) return body.error(span);
  Type type(Kind::agent);
  type.agent = agent;
  if (!world.program[agent].slots.empty()) body.info().effects.graph = true;
  Term made = body.make(Form::agent, std::move(type), span, in);
  body[made.id].agent = agent;
  return made;
}

}  // namespace taskspec::checking
