#include "frontend/check/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/types.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

std::optional<SlotKind> slot_kind(World& world, const ast::Name& kind) {
  for (std::size_t i = 0; i < slot_kind_words.size(); ++i)
    if (slot_kind_words[i] == kind.text) return static_cast<SlotKind>(i);
  Diag& diag = world.diags.error("E1001", kind.span, fmt::format("unknown kind of slot '{}'", kind.text));
  if (auto best = nearest(kind.text, std::vector<std::string>(slot_kind_words.begin(), slot_kind_words.end())))
    diag.help(fmt::format("did you mean '{}'?", *best));
  return std::nullopt;
}

// The first value of a slot: a maker without its type, or any value of the type.
class Initialiser {
 public:
  Initialiser(Body& body, const ast::Slot& slot, const Type& type)
      : body_(body), slot_(slot), type_(type), type_span_(slot.type->span) {}

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
    const Record builtin = name == "file" ? Record{nullptr, body_.world.options.builtins.serving(Serves::loads)}
                                          : find_builtin(body_.world, name);
    const std::vector<ast::Arg> found = name == "file" ? found_beside(call.args) : std::vector<ast::Arg>();
    const std::span<const ast::Arg> args = found.empty() ? std::span(call.args) : std::span(found);
    for (const Record& record : {find_op(body_.world, name), builtin})
      if (record && !record.operands().empty() && record.operands()[0].kind == OperandKind::type)
        return call_record(body_, record, type_operand(body_, type_, type_span_), args, slot_.init->span,
                           stream_of(record));
    return value();
  }

  // The arguments of file("net.npz", ...) with the place of a file that lies beside the text but not in the folder that
  // the program was started in; none if they may stay as they are.
  std::vector<ast::Arg> found_beside(const std::vector<ast::Arg>& args) {
    namespace fs = std::filesystem;
    auto text = [](const ast::Arg& arg) { return std::get_if<ast::StringLit>(&arg.value->node); };
    if (args.empty() || args[0].name || !std::ranges::all_of(args, text)) return {};
    const World& world = body_.world;
    const SourceId source = slot_.name.span.source;
    const auto known = world.beside.find(source);
    const fs::path folder =
        known != world.beside.end() ? fs::path(known->second) : fs::path(world.sources[source].path()).parent_path();
    const fs::path path = text(args[0])->value, there = folder / path;
    std::error_code none;
    const bool here = known == world.beside.end() && fs::exists(path, none);
    if (path.is_absolute() || here || !fs::exists(there, none)) return {};
    std::vector<ast::Arg> found;
    for (const ast::Arg& arg : args) {
      const std::string& value = found.empty() ? there.string() : text(arg)->value;
      found.push_back(
          {arg.span, arg.name, std::make_unique<ast::Expr>(ast::Expr{arg.value->span, ast::StringLit{value}})});
    }
    return found;
  }

  // Random numbers of a slot come from a stream of its own, which the agent gives when it is made.
  std::vector<Implied> stream_of(const Record& record) {
    const auto operand = std::ranges::find(record.operands(), Supply::stream, &taskspec::Operand::supply);
    if (operand == record.operands().end()) return {};
    Parameter stream;
    stream.name = operand->name;
    stream.type = Kind::integer;
    stream.span = slot_.name.span;
    CallId parameter = body_.add_parameter(std::move(stream), slot_.name.span);
    return {{operand->name, {parameter, slot_.name.span}}};
  }

  Term value() {
    return convert(body_, expression(body_, *slot_.init, &type_), type_,
                   {fmt::format("slot '{}'", slot_.name.text), type_span_});
  }

  Term zero(Span span) {
    const bool truth = type_.precision == Precision::boolean;
    return fill(truth ? body_.constant(Value(false), Kind::boolean, span)
                      : body_.constant(Value(std::int64_t{0}), Kind::integer, span),
                span);
  }

  Term fill(const Term& value, Span span) {
    return served_call(body_, Serves::fills, {type_operand(body_, type_, type_span_), value}, span);
  }

  Body& body_;
  const ast::Slot& slot_;
  const Type& type_;
  const Span type_span_;
};

Type tensor_slot_type(Body& body, const ast::Slot& slot) {
  Type type = written_tensor(body, *slot.type, Blank::agent, slot.name.text);
  if (type.is_tensor() || type.is(Kind::error)) return type;
  Diag& diag = wrong_type(body.world.diags, slot.type->span,
                          fmt::format("a slot holds a tensor, '{}' is {}", slot.name.text, type.text()));
  if (type.is(Kind::agent)) diag.help(fmt::format("layer {} = ...", slot.name.text));
  return Kind::error;
}

Term tensor_slot(Body& body, const ast::Slot& slot, Type& type) {
  if (type.is(Kind::error)) {
    // of no known kind, which may have been meant for a layer
  } else if (!slot.type) {
    body.world.diags.error("E0001", slot.name.span, fmt::format("slot '{}' has no type", slot.name.text))
        .help(fmt::format("{} {}: f32[...]{}", slot.kind.text, slot.name.text, slot.init ? " = ..." : ""));
    type = Kind::error;
  } else {
    type = tensor_slot_type(body, slot);
  }
  return type.is(Kind::error) ? body.error(slot.name.span) : Initialiser(body, slot, type).run();
}

// ---- layers ---------------------------------------------------------------------------------------

bool is_layer(const Type& type) {
  return type.is(Kind::agent) || (type.is(Kind::list) && type.parts[0].is(Kind::agent));
}

// Whether every agent in it is made right there, one after the other: so each layer is one of its own, and the k-th
// that is made is the k-th of the list.
bool makes_agents(const Program& program, const Function& function, CallId value) {
  const Call& call = function[value];
  auto is_made = [&](CallId part) { return makes_agents(program, function, part); };
  if (call.form == Form::agent) return true;
  if (call.form == Form::list) return std::ranges::all_of(call.in, is_made);
  if (call.form == Form::closure) {
    const Function& inner = program[call.callee];
    return std::ranges::all_of(inner.calls, [&](const Call& end) {
      return end.form != Form::return_ || (!end.in.empty() && inner[end.in[0]].form == Form::agent);
    });
  }
  // A builtin that calls a function for each item of what holds no agents.
  return call.form == Form::builtin && std::ranges::all_of(call.in, [&](CallId in) {
           return in.valid() && (function[in].type.is(Kind::function) ? is_made(in) : !is_layer(function[in].type));
         });
}

Term layer(Body& body, const ast::Slot& slot, Type& type) {
  Diags& diags = body.world.diags;
  type = Kind::error;
  if (slot.type) wrong_type(diags, slot.type->span, "a layer has the type of its agent").help("leave out the type");
  Term value = slot.init && !slot.type ? expression(body, *slot.init) : body.error(slot.name.span);
  auto* list = slot.init ? std::get_if<ast::ListExpr>(&slot.init->node) : nullptr;
  const bool empty = !slot.init || (list && list->parts.empty());
  if (empty && !slot.type)
    wrong_type(diags, slot.name.span, fmt::format("layer '{}' holds no agent", slot.name.text))
        .help(fmt::format("layer {} = Agent(...)", slot.name.text));
  if (empty || body.is_error(value)) return body.error(slot.name.span);
  const Type found = body.type(value);
  if (!is_layer(found)) {
    wrong_type(diags, slot.init->span,
               fmt::format("a layer holds an agent or a list of agents, '{}' is {}", slot.name.text, found.text()));
    return body.error(slot.name.span);
  }
  if (!makes_agents(body.world.program, body.function(), value.id)) {
    wrong_type(diags, slot.init->span, fmt::format("layer '{}' holds agents that were made elsewhere", slot.name.text))
        .note("its slots are slots of the agent that it belongs to")
        .help("make them here: Agent(...), [Agent(...), ...] or map(0..n, i => Agent(...))");
    return body.error(slot.name.span);
  }
  type = found;
  return value;
}

// A fn of the agent's parameters that returns the first value of the slot.
FunctionId initial_value(World& world, AgentId agent, const ast::Slot& slot, Slot& made) {
  Function function;
  function.name = slot.name.text;
  function.agent = agent;
  function.module = world.program[agent].module;
  function.span = slot.name.span;
  FunctionId id = world.add_function(std::move(function));
  world.info(id).stage = FunctionInfo::Stage::checked;
  Body body(world, id);
  add_agent_parameters(body);
  Term value = made.kind == SlotKind::layer ? layer(body, slot, made.type) : tensor_slot(body, slot, made.type);
  body.make(Form::return_, Kind::none, slot.name.span, {value});
  body.function().result = made.type;
  body.finish();
  return id;
}

}  // namespace

void resolve_slots(World& world, AgentId agent) {
  for (const ast::Slot* slot : world.info(agent).slots) {
    Slot made;
    const std::optional<SlotKind> kind = slot_kind(world, slot->kind);
    made.kind = kind.value_or(SlotKind::state);
    if (!kind && !slot->type) made.type = Kind::error;
    made.name = slot->name.text;
    made.span = slot->name.span;
    world.slots_in_the_making.emplace_back(agent, slot);
    made.initial = initial_value(world, agent, *slot, made);
    world.slots_in_the_making.pop_back();
    world.program.agents[agent.index()].slots.push_back(std::move(made));
  }
}

Type slot_type(Body& body, std::uint32_t index) {
  const Slot& known = body.world.program[body.agent].slots[index];
  if (known.kind == SlotKind::layer || known.type.is(Kind::error)) return known.type;
  // Names in it are those of the agent, not of the member that asks.
  std::vector<Scope> around = std::move(body.scopes);
  body.scopes.clear();
  body.scopes.push_back(std::move(around.front()));
  const ast::Slot& slot = *body.world.info(body.agent).slots[index];
  Type type = written_tensor(body, *slot.type, Blank::agent, slot.name.text);
  around.front() = std::move(body.scopes.front());
  body.scopes = std::move(around);
  return type;
}

bool holds_itself(World& world, AgentId agent, Span span) {
  const auto& making = world.slots_in_the_making;
  auto first = std::ranges::find(making, agent, [](const auto& slot) { return slot.first; });
  if (first == making.end()) return false;
  if (std::exchange(world.info(agent).holds_itself, true)) return true;
  std::string way;
  for (auto slot = first; slot != making.end(); ++slot)
    way += fmt::format("{}.{} -> ", world.program[slot->first].name, slot->second->name.text);
  Diag& diag = world.diags.error("E3001", span, fmt::format("cycle: {}{}", way, world.program[agent].name));
  for (auto slot = first; slot != making.end(); ++slot)
    diag.label(slot->second->name.span, fmt::format("made with each {}", world.program[slot->first].name));
  return true;
}

}  // namespace taskspec::checking
