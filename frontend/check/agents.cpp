// Agents: their parameters, and A(args).
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/arguments.hpp"
#include "frontend/check/calls.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/slots.hpp"
#include "frontend/check/types.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

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
  resolve_slots(world, agent);
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

Term make_agent(Body& body, AgentId agent, const ast::Call& call, Span span, std::span<const std::string> others) {
  World& world = body.world;
  resolve_agent(world, agent);
  if (holds_itself(world, agent, call.callee->span)) return body.error(span);
  const std::vector<ast::Param>& params = world.info(agent).decl->params;
  std::vector<ParameterName> names;
  for (const ast::Param& param : params) names.push_back({param.name.text, param.default_value != nullptr});
  for (const std::string& other : others) names.push_back({other, true});
  std::string text = fmt::format("agent '{}'", world.program[agent].name);
  auto places = place_arguments(world.diags, {text, world.program[agent].span, names, 0}, call.args, span);
  if (!places) {
    check_arguments(body, call.args);
    return body.error(span);
  }
  std::vector<Term> in(params.size());
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    std::size_t at = (*places)[i];
    if (at >= params.size()) continue;
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
