#include "frontend/check/record_call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/arguments.hpp"
#include "frontend/check/closures.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/fold.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/modules.hpp"
#include "frontend/check/places.hpp"
#include "frontend/check/rule_context.hpp"
#include "frontend/check/types.hpp"
#include "ir/program/folded.hpp"
#include "ir/records/backend_record.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

Record find_op(const World& world, std::string_view name) { return {world.options.ops.find(name), nullptr}; }
Record find_builtin(const World& world, std::string_view name) { return {nullptr, world.options.builtins.find(name)}; }

Term type_operand(Body& body, const Type& type, Span span) {
  Term term = body.make(Form::type, Type::of(type), span, {});
  if (!type.has_symbols()) body[term.id].value = Value(type);
  body[term.id].folded = is_folded(body.function(), body[term.id]);
  return term;
}

// ---- operands -------------------------------------------------------------------------------------

namespace {

class Operands {
 public:
  Operands(Body& body, const Record& record) : body_(body), record_(record) {}

  // The operand at `place`, written so; what the call does to places goes to `written`.
  RuleOperand read(std::size_t place, const ast::Expr& expr, WrittenPlaces& written) {
    const taskspec::Operand& operand = operand_at(record_, place);
    if (operand.privilege == Privilege::inout) return {place_argument(body_, expr, place, written)};
    RuleOperand given = read(operand, expr);
    if (changes_places()) note_read(body_, expr, place, written);
    return given;
  }

  RuleOperand read(const taskspec::Operand& operand, const ast::Expr& expr) {
    switch (operand.kind) {
      case OperandKind::type:
        return {type(operand, expr)};
      case OperandKind::function:
        return function(operand, expr);
      case OperandKind::tensors:
        return {tensors(operand, expr)};
      case OperandKind::value:  // the rule may know of which types its parameters are
        if (std::holds_alternative<ast::Lambda>(expr.node)) return {{}, &expr};
        [[fallthrough]];
      default:
        return {fit(operand, expression(body_, expr))};
    }
  }

  // A value that is there already, as this operand.
  Term fit(const taskspec::Operand& operand, const Term& given) {
    switch (operand.kind) {
      case OperandKind::tensor:
      case OperandKind::value:  // a call with one output goes through to it
        return output_of(body_, given);
      case OperandKind::tensors:
        return listed(operand, given);
      case OperandKind::integer:
        if (operand.at_run && is_tensor_like(given)) return output_of(body_, given);
        return host(operand, given, Kind::integer);
      case OperandKind::real:
        return host(operand, given, Kind::real);
      case OperandKind::boolean:
        return host(operand, given, Kind::boolean);
      case OperandKind::string:
        return host(operand, given, Kind::string);
      case OperandKind::pair:
        return pair(operand, given);
      default:
        return given;
    }
  }

  bool changes_places() const {
    return std::ranges::any_of(record_.operands(), [](const auto& o) { return o.privilege == Privilege::inout; });
  }

 private:
  std::string what(const taskspec::Operand& operand) const {
    return fmt::format("'{}' of '{}'", operand.name, record_.name());
  }

  // A tensor, or the call of a task with one as its only output.
  bool is_tensor_like(const Term& given) const {
    const Type type = body_.type(given);
    return type.is_tensor() || (type.is(Kind::invocation) && type.parts.size() == 1);
  }

  Term host(const taskspec::Operand& operand, const Term& given, Kind wanted) {
    if (wanted == Kind::string && body_.type(given).is_tensor()) return tensor_for_text(operand, given);
    const Type type = body_.type(given);
    if (operand.variadic && (type.is(Kind::tuple) || type.is(Kind::list)) && wanted == Kind::integer) {
      wrong_type(body_.world.diags, given.span, what(operand), wanted, type).help("write them one by one: f(3, 2)");
      return body_.error(given.span);
    }
    return convert(body_, given, wanted, {what(operand), {}});
  }

  // graph_print(x, "x"): a tensor is no text, whatever is received of it.
  Term tensor_for_text(const taskspec::Operand& operand, const Term& given) {
    Diag& diag = wrong_type(body_.world.diags, given.span, what(operand), Kind::string, body_.type(given));
    const auto operands = record_.operands();
    if (operands.size() > 1 && operand.name == operands[0].name)
      diag.help(fmt::format("'{}' comes first, then '{}'", operands[0].name, operands[1].name));
    return body_.error(given.span);
  }

  Term pair(const taskspec::Operand& operand, const Term& given) {
    const Type type = body_.type(given);
    bool two = type.is(Kind::tuple) && type.parts.size() == 2 && type.parts[0].is(Kind::integer) &&
               type.parts[1].is(Kind::integer);
    if (two || type.is(Kind::error) || type.is(Kind::integer)) return given;
    wrong_type(body_.world.diags, given.span,
               fmt::format("{} is an int or a pair of ints, this is {}", what(operand), type.text()));
    return body_.error(given.span);
  }

  Term type(const taskspec::Operand& operand, const ast::Expr& expr) {
    const bool reads = record_.builtin && record_.builtin->effect != Effect::pure;
    if (std::optional<Type> written = type_as_argument(body_, expr, reads ? Blank::open : Blank::maker))
      return written->is(Kind::error) ? body_.error(expr.span) : type_operand(body_, *written, expr.span);
    Term given = expression(body_, expr);
    if (body_.is_error(given)) return given;
    wrong_type(body_.world.diags, expr.span,
               fmt::format("{} is a tensor type such as f32[4], this is {}", what(operand), body_.type(given).text()));
    return body_.error(expr.span);
  }

  RuleOperand function(const taskspec::Operand& operand, const ast::Expr& expr) {
    if (is_untyped_function(body_, expr)) return {{}, &expr};
    Term given = expression(body_, expr);
    const Type type = body_.type(given);
    if (type.is(Kind::function) || type.is(Kind::task) || type.is(Kind::error)) return {given};
    wrong_type(body_.world.diags, expr.span, fmt::format("{} is a function, this is {}", what(operand), type.text()));
    return {body_.error(expr.span)};
  }

  // How many tensors there are must be known, so the list must be written somewhere.
  Term listed(const taskspec::Operand& operand, const Term& given) {
    const Type type = body_.type(given);
    if (type.is(Kind::error) || body_[given.id].form == Form::list) return given;
    wrong_type(body_.world.diags, given.span,
               fmt::format("{} is a list written in place, such as [a, b]", what(operand)));
    return body_.error(given.span);
  }

  Term tensors(const taskspec::Operand& operand, const ast::Expr& expr) {
    auto* list = std::get_if<ast::ListExpr>(&expr.node);
    if (!list) return listed(operand, expression(body_, expr));
    std::vector<Term> parts;
    bool fine = true;
    for (const ast::Expr& part : list->parts) {
      parts.push_back(output_of(body_, expression(body_, part)));
      fine = fine && !body_.is_error(parts.back());
    }
    if (!fine) return body_.error(expr.span);
    Type element = parts.empty() ? Type(Kind::error) : body_.type(parts[0]);
    return body_.make(Form::list, Type::list(std::move(element)), expr.span, parts);
  }

  Body& body_;
  const Record& record_;
};

Type default_type(const Default& standard) {
  switch (standard.kind) {
    case Default::Kind::integer:
      return Kind::integer;
    case Default::Kind::real:
      return Kind::real;
    case Default::Kind::boolean:
      return Kind::boolean;
    case Default::Kind::string:
      return Kind::string;
    default:
      return Kind::none;
  }
}

// A missing operand: its default as a constant; nothing where it may be absent.
void fill_in(Body& body, const Record& record, std::vector<RuleOperand>& operands, Span span) {
  std::size_t count = record.operands().size();
  if (count > 0 && record.operands().back().variadic) --count;
  if (operands.size() < count) operands.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Default& standard = record.operands()[i].standard;
    bool missing = !operands[i].term.valid() && !operands[i].closure;
    if (missing && !standard.value().is_none())
      operands[i].term = body.constant(standard.value(), default_type(standard), span);
  }
}

// What a command line says of the time steps of all sessions: it decides about types, so it is said here.
void override_time_steps(Body& body, const Record& record, std::vector<RuleOperand>& operands, Span span) {
  const std::optional<std::int64_t>& steps = body.world.options.time_steps;
  if (!steps || !record.builtin || !record.builtin->backend) return;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (record.operands()[i].name == time_steps_option)
      operands[i].term =
          body.constant(Value(*steps), Kind::integer, operands[i].term.valid() ? operands[i].term.span : span);
}

// ---- what the rule said ---------------------------------------------------------------------------

// A mismatch has two sides: both tensors are labelled with what they are, of an operator all operands.
void label_sides(Body& body, Diag& diag, const std::vector<RuleOperand>& operands, bool all) {
  for (const RuleOperand& given : operands)
    if (given.term.valid() && (all || body.type(given.term).is_tensor()))
      diag.label(given.term.span, body.type(given.term).text());
}

void report(Body& body, const RuleFailure& failure, const std::vector<RuleOperand>& operands, Span span, Span sign) {
  bool one = failure.operand >= 0 && static_cast<std::size_t>(failure.operand) < operands.size();
  Term guilty = one ? operands[static_cast<std::size_t>(failure.operand)].term : Term{};
  Span place = guilty.valid() ? guilty.span : sign.valid() ? sign : span;
  Diag& diag = body.world.diags.error(failure.code, place, failure.message).help(failure.help);
  if (guilty.valid()) return;
  label_sides(body, diag, operands, sign.valid());
}

void note_effects(Body& body, const Record& record, const Type& type, Span span) {
  EffectNotes& effects = body.info().effects;
  effects.graph = effects.graph || type.is_tensor() || (record.op && makes_tensors(*record.op, type));
  if (record.builtin && record.builtin->runs_in == RunsIn::graph && type.is(Kind::none))
    effects.graph = effects.writes = true;  // it does nothing else
  const bool prints = record.op && console_operand(*record.op);
  effects.writes = effects.writes || prints;
  if (prints && body.function().kind == FunctionKind::task) effects.host.push_back({std::string(record.name()), span});
  if (!record.builtin || record.builtin->effect == Effect::pure) return;
  effects.host.push_back({std::string(record.name()), span});
}

Term emit_record(Body& body, const Record& record, const std::vector<RuleOperand>& operands, Type type, Span span) {
  Call call;
  call.form = record.op ? Form::op : Form::builtin;
  call.op = record.op;
  call.builtin = record.builtin;
  call.span = span;
  for (const RuleOperand& given : operands) {
    call.in.push_back(given.term.id);
    call.in_spans.push_back(given.term.span);
  }
  call.type = std::move(type);
  call.folded = is_folded(body.function(), call);
  return {body.emit(std::move(call)), span, true};
}

}  // namespace

namespace {

// Types with open extents are worked out by the rule when the program runs.
void open_extents(Body& body, Type& type) {
  for (Dim& dim : type.dims) dim = unknown_extent(body, dim.text());
  for (Type& part : type.parts) open_extents(body, part);
}

// The call by its rule; `places` are those that it writes.
Term ruled_call(Body& body, const Record& record, TypeRule rule, std::vector<RuleOperand> operands,
                std::vector<Place> places, Span span, Span sign) {
  fill_in(body, record, operands, span);
  override_time_steps(body, record, operands, span);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Term& term = operands[i].term;
    if (term.valid() && operand_at(record, i).kind != OperandKind::tensors) term = typed(body, term);
    if (term.valid() && body.is_error(term)) return body.error(span);
  }
  CheckRules rules(body, record, operands);
  Type type;
  try {
    type = rule(rules);
  } catch (const RuleFailure& failure) {
    const auto at = static_cast<std::size_t>(failure.operand);
    if (failure.operand >= 0 && at < operands.size() && operands[at].closure)
      expression(body, *operands[at].closure);  // no function is wanted: it stands on its own
    else
      report(body, failure, operands, span, sign);
    return body.error(span);
  }
  for (RuleOperand& given : operands) {
    if (given.closure) given.term = expression(body, *given.closure);  // the rule did not ask: it stands on its own
    if (given.term.valid() && body.is_error(given.term)) return body.error(span);
  }
  if (type.is(Kind::error)) return body.error(span);
  if (record.op) type = result_of_call(*record.op, type);
  note_effects(body, record, type, span);
  if (std::optional<Term> folded = fold(body, record, operands, type, span)) return *folded;
  if (rules.unproven) open_extents(body, type);
  Term made = emit_record(body, record, operands, std::move(type), span);
  body[made.id].guards = std::move(rules.guards);
  if (places.empty()) return made;
  body[made.id].folded = false;
  body[made.id].places = std::move(places);
  body.info().effects.writes = true;
  return made;
}

// The variable that is called a method of: x.lif(v, ...) reads x.
void note_receiver(Body& body, const Term& receiver, WrittenPlaces& written) {
  const Call& call = body[receiver.id];
  if (call.form == Form::variable) written.read(call.variable, 0, receiver.span);
}

}  // namespace

Term call_with(Body& body, const Record& record, std::vector<RuleOperand> operands, Span span, Span sign,
               TypeRule rule) {
  return ruled_call(body, record, rule ? rule : record.rule(), std::move(operands), {}, span, sign);
}

namespace {

// What the graph program carries out cannot ask functions of the host: of one that says something of each piece of a
// partition the host makes the list beforehand, in the order of the colours.
void list_by_colour(Body& body, const Record& record, std::vector<RuleOperand>& operands, Span span) {
  if (!record.builtin || record.builtin->runs_in != RunsIn::asked || operands.empty()) return;
  const Term first = operands[0].term;
  if (!first.valid() || !body.type(first).is(Type::Kind::partition)) return;
  for (RuleOperand& operand : operands) {
    if (!operand.closure && !(operand.term.valid() && body.type(operand.term).is(Type::Kind::function))) continue;
    const Term colours = call_with(body, find_builtin(body.world, "colours"), {{first}}, span);
    operand = {call_with(body, find_builtin(body.world, "map"), {{colours}, operand}, span)};
  }
}

}  // namespace

Term call_record(Body& body, const Record& record, const std::optional<Term>& receiver, std::span<const ast::Arg> args,
                 Span span, std::span<const Implied> implied) {
  std::vector<ParameterName> names;
  for (const taskspec::Operand& operand : record.operands())
    names.push_back({operand.name, operand.standard.kind != Default::Kind::none, operand.variadic});
  Callable callable{fmt::format("'{}'", record.name()), {}, names, receiver ? 1u : 0u};
  std::optional<std::vector<std::size_t>> places;
  if (receiver && names.empty())
    body.world.diags.error("E1003", span, fmt::format("{} takes no arguments", callable.text));
  else
    places = place_arguments(body.world.diags, callable, args, span);
  Operands reader(body, record);
  WrittenPlaces written;
  std::vector<RuleOperand> operands(record.operands().size());
  if (receiver && places) operands[0].term = reader.fit(record.operands()[0], *receiver);
  if (receiver && reader.changes_places()) note_receiver(body, *receiver, written);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!places) {
      const ast::Expr& argument = *args[i].value;
      if (!is_untyped_function(body, argument) && !type_as_argument(body, argument, Blank::open))
        expression(body, argument);
      continue;
    }
    std::size_t place = (*places)[i];
    if (place >= operands.size()) operands.resize(place + 1);
    operands[place] = reader.read(place, *args[i].value, written);
  }
  if (!places) return body.error(span);
  if (record.builtin && !record.builtin->module.empty()) serve_module(body.world, record.builtin->module, span);
  // An empty variadic operand is no operand at all.
  bool variadic = !names.empty() && names.back().variadic;
  if (variadic && operands.size() == names.size() && !operands.back().term.valid() && !operands.back().closure)
    operands.pop_back();
  for (const Implied& value : implied)
    for (std::size_t i = 0; i < record.operands().size(); ++i)
      if (record.operands()[i].name == value.operand && !operands[i].term.valid()) operands[i].term = value.term;
  if (!written.check(body)) return body.error(span);
  written.read_newest(body);
  list_by_colour(body, record, operands, span);
  return ruled_call(body, record, record.rule(), std::move(operands), written.places(0), span, {});
}

namespace {

Term call_of(Body& body, const OpDef& op, const std::vector<Term>& operands, Span span, Span sign, TypeRule rule) {
  const Record record{&op, nullptr};
  Operands reader(body, record);
  std::vector<RuleOperand> given;
  for (std::size_t i = 0; i < operands.size(); ++i) given.push_back({reader.fit(operand_at(record, i), operands[i])});
  return call_with(body, record, std::move(given), span, sign, rule);
}

}  // namespace

Term operator_call(Body& body, std::string_view symbol, const std::vector<Term>& operands, Span span, Span sign,
                   TypeRule rule) {
  const OpDef* op = body.world.options.ops.find_operator(symbol, operands.size());
  if (op) return call_of(body, *op, operands, span, sign, rule);
  not_built(body.world.diags, sign.valid() ? sign : span, fmt::format("the operator '{}'", symbol), "its op");
  return body.error(span);
}

Term served_call(Body& body, Serves serves, const std::vector<Term>& operands, Span span) {
  const OpDef* op = body.world.options.ops.serving(serves);
  if (op) return call_of(body, *op, operands, span, {}, nullptr);
  not_built(body.world.diags, span, "what is written here", "its op");
  return body.error(span);
}

Term cast_to(Body& body, const Term& value, const Type& type, Span span) {
  return operator_call(body, "as", {value, type_operand(body, type, span)}, span, {});
}

}  // namespace taskspec::checking
