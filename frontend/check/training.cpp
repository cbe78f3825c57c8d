#include "frontend/check/training.hpp"

#include <algorithm>

#include "frontend/check/calls.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "ir/program/trained_member.hpp"

namespace taskspec::checking {

namespace {

constexpr std::string_view prefix = "training.";

Record builtin_of(Body& body, std::string_view name) {
  return find_builtin(body.world, std::string(prefix).append(name));
}

Term call_of(Body& body, std::string_view name, const Term& training, std::span<const ast::Arg> args, Span span) {
  return call_record(body, builtin_of(body, name), training, args, span);
}

std::optional<FunctionId> member_of(Body& body, const Term& training, Span span) {
  World& world = body.world;
  const AgentId agent = body.type(training).agent;
  std::vector<FunctionId> members;
  for (const std::string& name : world.members(agent)) {
    const std::optional<Binding> found = world.find(agent, name);
    if (found && found->kind == Binding::Kind::function) members.push_back(found->function);
  }
  const std::optional<FunctionId> member = trained_member(world.program, members);
  if (!member) wrong_type(world.diags, span, "the net has no task 'forward' to train");
  return member;
}

Term forward(Body& body, const Term& training, std::span<const ast::Arg> args, Span span) {
  const std::optional<FunctionId> member = member_of(body, training, span);
  if (!member) {
    check_arguments(body, args);
    return body.error(span);
  }
  return call_function(body, *member, call_of(body, "agent", training, {}, span), args, span);
}

// A builtin whose type the net decides.
Term typed_call(Body& body, std::string_view name, const std::vector<Term>& operands, Type type, Span span) {
  Term made = body.make(Form::builtin, std::move(type), span, operands);
  body[made.id].builtin = builtin_of(body, name).builtin;
  body.info().effects.graph = true;
  return made;
}

// As precise as what the net says.
Type loss_type(Body& body, const Term& training, Span span) {
  Type type = Type::tensor(Precision::f32, {});
  const std::optional<FunctionId> member = member_of(body, training, span);
  if (member && !body.world.program[*member].outputs.empty())
    if (const Type& said = body.world.program[*member].outputs[0].type; said.is_tensor())
      type.precision = said.precision;
  return type;
}

// The slot at a path: "w", "c1.w", "blocks[2].w"; null: there is none.
const Slot* slot_at(const World& world, AgentId agent, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string_view name = path.substr(0, std::min(dot, path.find('[')));
  for (const Slot& slot : world.program[agent].slots) {
    if (slot.name != name) continue;
    if (dot == std::string_view::npos) return slot.kind == SlotKind::weight ? &slot : nullptr;
    const Type& inner = slot.type.is(Type::Kind::list) ? slot.type.parts[0] : slot.type;
    return inner.is(Type::Kind::agent) ? slot_at(world, inner.agent, path.substr(dot + 1)) : nullptr;
  }
  return nullptr;
}

// m.grad("c1.w") and m.weight("c1.w"), of the shape of the weight.
Term of_weight(Body& body, const std::string& name, const Term& training, const ast::Call& call, Span span) {
  auto* path = call.args.size() == 1 ? std::get_if<ast::StringLit>(&call.args[0].value->node) : nullptr;
  if (!path) {
    wrong_type(body.world.diags, span, name + " takes the name of a weight, such as \"w\" or \"c1.w\"");
    check_arguments(body, call.args);
    return body.error(span);
  }
  const Slot* slot = slot_at(body.world, body.type(training).agent, path->value);
  if (!slot) {
    body.world.diags.error("E1002", call.args[0].span, "the net has no weight '" + path->value + "'");
    return body.error(span);
  }
  Type type = slot->type;
  for (Dim& dim : type.dims) dim = unknown_extent(body, dim.text());
  return typed_call(body, name, {training, body.constant(Value(path->value), Type::Kind::string, call.args[0].span)},
                    type, span);
}

// forward, backward, update: the last argument is what the prediction should have been.
Term step(Body& body, const Term& training, std::span<const ast::Arg> args, Span span) {
  if (args.size() < 2) {
    wrong_type(body.world.diags, span, "step takes what forward takes, and then what the prediction should have been");
    check_arguments(body, args);
    return body.error(span);
  }
  forward(body, training, args.first(args.size() - 1), span);
  call_of(body, "backward", training, args.last(1), span);
  return call_of(body, "update", training, {}, span);
}

// What a function of the epoch does besides giving rows is done by the host, which has not seen what a checkpoint set
// the number to: it is told that of the first one.
Term fit(Body& body, const Term& training, std::span<const ast::Arg> args, Span span) {
  const Term made = call_of(body, "fit", training, args, span);
  const bool by_epoch = body[made.id].form == Form::builtin && body.type(body[made.id].in[1]).is(Type::Kind::function);
  if (!by_epoch) return made;
  const Term epochs = call_of(body, "epochs", training, {}, span);
  const Term first = body.make(Form::receive, Type::Kind::integer, span, {epochs});
  body[first.id].index = static_cast<std::uint32_t>(Receive::scalar);
  body[made.id].in.push_back(first.id);
  body[made.id].in_spans.push_back(span);
  body.move_to_end(made.id);
  return made;
}

Term no_such_member(Body& body, const Term& training, const ast::Name& name, Span span) {
  std::vector<std::string> names{"forward", "step", "metrics"};
  for (const Builtin* builtin : body.world.options.builtins.all())
    if (builtin->name.starts_with(prefix)) names.emplace_back(builtin->name.substr(prefix.size()));
  no_member(body.world.diags, name, body.type(training).text(), "member", names);
  return body.error(span);
}

}  // namespace

Term training_method(Body& body, const Term& training, const ast::Member& member, const ast::Call& call, Span span) {
  const std::string& name = member.name.text;
  const FunctionKind kind = body.function().kind;
  if (name != "eval" && (kind == FunctionKind::task || kind == FunctionKind::graph)) {
    not_built(body.world.diags, span, "training inside of a task or graph", "steps of training as nodes");
    check_arguments(body, call.args);
    return body.error(span);
  }
  if (name == "forward") return forward(body, training, call.args, span);
  if (name == "step") return step(body, training, call.args, span);
  if (name == "fit") return fit(body, training, call.args, span);
  if (name == "grad" || name == "weight") return of_weight(body, name, training, call, span);
  const bool is_member = name == "loss" || name == "steps" || name == "epochs" || name == "cost";
  if (builtin_of(body, name) && !is_member) return call_of(body, name, training, call.args, span);
  check_arguments(body, call.args);
  return no_such_member(body, training, member.name, span);
}

Term training_member(Body& body, const Term& training, const ast::Name& name, Span span) {
  if (name.text == "steps" || name.text == "epochs" || name.text == "cost")
    return call_of(body, name.text, training, {}, span);
  if (name.text == "loss") return typed_call(body, "loss", {training}, loss_type(body, training, span), span);
  return no_such_member(body, training, name, span);
}

Term training_metric(Body& body, const Term& training, const ast::Name& name, Span span) {
  const Term text = body.constant(Value(name.text), Type::Kind::string, name.span);
  return call_with(body, builtin_of(body, "metric"), {{training}, {text}}, span);
}

}  // namespace taskspec::checking
