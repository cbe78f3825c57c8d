// Calls of fns, tasks and graphs, and of values that hold them.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/arguments.hpp"
#include "frontend/check/calls.hpp"
#include "frontend/check/closures.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/launch.hpp"
#include "frontend/check/mentions.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/places.hpp"
#include "frontend/check/time_steps.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

std::optional<Dim> own_extent(Body& body, const std::string& parameter) {
  auto own = body.scopes.front().names.find(parameter);
  if (own == body.scopes.front().names.end()) return std::nullopt;
  return extent_of(body, own->second.call, parameter);
}

// `layer c = Linear(10, n)`: what stands there, a number or a parameter of the agent that has the layer.
std::optional<Dim> layer_extent(Body& body, std::size_t index, std::size_t parameter) {
  const Program& program = body.world.program;
  const std::vector<Slot>& slots = program[body.agent].slots;
  if (index >= slots.size() || slots[index].kind != SlotKind::layer || !slots[index].initial.valid())
    return std::nullopt;
  const Function& initial = program[slots[index].initial];
  if (initial.body.calls.empty()) return std::nullopt;
  const Call& end = initial[initial.body.calls.back()];
  if (end.form != Form::return_ || end.in.empty() || initial[end.in[0]].form != Form::agent) return std::nullopt;
  const Call& made = initial[end.in[0]];
  if (parameter >= made.in.size() || !made.in[parameter].valid()) return std::nullopt;
  const Call& given = initial[made.in[parameter]];
  if (!given.type.is(Kind::integer)) return std::nullopt;
  if (given.form == Form::constant) return Dim(given.value.integer());
  if (given.form != Form::parameter || initial.parameters[given.index].role != Role::agent_parameter)
    return std::nullopt;
  return own_extent(body, initial.parameters[given.index].name);
}

// What the int symbols of a member's signature are for this agent, where that can be seen: its arguments, those of a
// layer, or the own parameters inside of it.
std::optional<Dim> agent_extent(Body& body, const Term& agent, std::size_t parameter) {
  const Call& call = body[agent.id];
  const AgentDef& definition = body.world.program[body.type(agent).agent];
  const std::string name = definition.parameters[parameter].name;
  if (call.form == Form::agent && parameter < call.in.size()) {
    CallId in = call.in[parameter];
    return body.type(in).is(Kind::integer) ? std::optional(extent_of(body, in, name)) : std::nullopt;
  }
  if (call.form == Form::self) return own_extent(body, name);
  if (call.form != Form::variable || !body.agent.valid()) return std::nullopt;
  for (const auto& [index, variable] : body.slots)
    if (variable == call.variable) return layer_extent(body, index, parameter);
  return std::nullopt;
}

}  // namespace

void set_outer_symbols(Body& body, Match& match, FunctionId function, const std::optional<Term>& agent) {
  World& world = body.world;
  AgentId owner = world.program[function].agent;
  std::size_t of_agent = owner.valid() ? world.program[owner].parameters.size() : 0;
  for (const auto& [symbol, source] : world.info(function).symbols) {
    if (source.module.valid())
      match.set(symbol, global_extent(body, source.module, source.variable));
    else if (agent && source.parameter < of_agent)
      if (std::optional<Dim> dim = agent_extent(body, *agent, source.parameter)) match.set(symbol, *dim);
  }
}

namespace {

Type invocation_type(const std::vector<Output>& outputs) {
  Type type(Kind::invocation);
  for (const Output& output : outputs) {
    type.parts.push_back(output.type);
    type.names.push_back(output.name);
  }
  return type;
}

class FunctionCall {
 public:
  FunctionCall(Body& body, FunctionId function, const std::optional<Term>& agent, std::span<const ast::Arg> args,
               Span span)
      : body_(body),
        world_(body.world),
        id_(function),
        agent_(agent),
        args_(args),
        span_(span),
        match_(body, Match::all) {}

  Term run() {
    resolve_signature(world_, id_);
    if (!allowed() || !place()) {
      check_arguments(body_, args_);
      return body_.error(span_);
    }
    set_outer_symbols(body_, match_, id_, agent_);
    read_arguments();
    // What a fn with dimensions of its own gives is known once those that it takes are.
    for (std::size_t i = 0; i < declared_.size(); ++i)
      if (terms_[i].valid() && parameter(i).type.is(Kind::function)) match_.bind(parameter(i).type, terms_[i]);
    try {
      for (std::size_t i = 0; i < declared_.size(); ++i)
        if (terms_[i].valid() && !fits(i)) failed_ = true;
      if (failed_ || !written_.check(body_)) return body_.error(span_);
      return emit();
    } catch (const Error& error) {  // an extent that overflows, or a quotient that leaves a rest
      world_.report(error, span_);
      return body_.error(span_);
    }
  }

 private:
  const Function& callee() const { return world_.program[id_]; }
  const Parameter& parameter(std::size_t i) const { return callee().parameters[declared_[i]]; }

  bool allowed() {
    if (body_.function().kind != FunctionKind::task || callee().kind == FunctionKind::fn) return true;
    not_built(world_.diags, span_, fmt::format("a call of {} in a task body", world_.described(id_)), "nested tasks");
    body_.info().broken = true;
    return false;
  }

  bool place() {
    std::vector<ParameterName> names;
    const std::vector<Parameter>& parameters = callee().parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].role != Role::declared) continue;
      declared_.push_back(i);
      names.push_back({parameters[i].name, parameters[i].default_value.valid()});
    }
    terms_.resize(declared_.size());
    Callable callable{world_.described(id_), callee().span, names, 0};
    std::optional<std::vector<std::size_t>> places = place_arguments(world_.diags, callable, args_, span_);
    if (places) places_ = std::move(*places);
    return places.has_value();
  }

  Expected expected(std::size_t i) const {
    return {fmt::format("'{}' of {}", parameter(i).name, world_.described(id_)), parameter(i).span};
  }

  // An extent that an argument with an error would have said is not missed in the others.
  bool fits(std::size_t i) {
    if (failed_ && match_.is_open(parameter(i).type)) return false;
    return match_.require(parameter(i).type, terms_[i], expected(i), true);
  }

  // From left to right; but closures whose parameters have extents that other arguments decide come last.
  void read_arguments() {
    std::vector<std::pair<std::size_t, Scope>> later;
    for (std::size_t i = 0; i < args_.size(); ++i)
      if (must_wait(*args_[i].value, places_[i]))
        later.emplace_back(i, values_now(*args_[i].value));
      else
        read(*args_[i].value, places_[i]);
    use_defaults();
    for (auto& [i, values] : later) {
      if (must_wait(*args_[i].value, places_[i])) {
        unknown_parameters(args_[i].span, places_[i]);
        continue;
      }
      body_.scopes.push_back(std::move(values));
      read(*args_[i].value, places_[i]);
      body_.scopes.pop_back();
    }
  }

  // A closure is made of the values that variables have where it stands: other arguments may change them.
  Scope values_now(const ast::Expr& closure) {
    Scope values;
    if (body_.isolated) return values;
    each_mention(closure, [&](const ast::Name& name, const std::vector<const ast::Expr*>&) {
      std::optional<Binding> found = body_.find(name.text);
      bool variable = found && found->kind == Binding::Kind::variable;
      bool global = found && found->kind == Binding::Kind::global && found->is_mutable && body_.at_top_level();
      if ((!variable && !global) || !body_.may_read(*found)) return;
      Binding now = *found;
      now.kind = Binding::Kind::value;
      now.call = body_.read_variable(found->variable, name.span).id;
      values.names.emplace(name.text, now);
    });
    return values;
  }

  bool must_wait(const ast::Expr& expr, std::size_t i) {
    const Type& type = parameter(i).type;
    if (!type.is(Kind::function) || !is_untyped_function(body_, expr)) return false;
    return std::any_of(type.parts.begin(), type.parts.end() - 1,
                       [&](const Type& part) { return match_.is_open(part); });
  }

  void unknown_parameters(Span span, std::size_t i) {
    failed_ = true;
    terms_[i] = body_.error(span);
    wrong_type(world_.diags, span,
               fmt::format("no other argument says what the extents of {} are", parameter(i).type.text()))
        .help("pass a fn that is declared with its types");
  }

  void read(const ast::Expr& expr, std::size_t i) {
    Type wanted = match_.substitute(parameter(i).type);
    Term term;
    if (wanted.is(Kind::error) && is_untyped_function(body_, expr)) {
      term = body_.error(expr.span);  // the parameter was reported
    } else if (parameter(i).privilege == Privilege::inout && !wanted.is(Kind::error)) {
      term = place_argument(body_, expr, i, written_);
    } else {
      const Term given = expression(body_, expr, &wanted);
      term = adapt(body_, slice_of_step(body_, match_, args_, given, wanted, expected(i)), wanted);
      note_read(body_, expr, i, written_);
    }
    terms_[i] = term;
    if (body_.is_error(term)) {
      failed_ = true;
      return;
    }
    match_.bind(parameter(i).type, term);
    if (body_.type(term).is(Kind::integer)) set_int(i, extent_of(body_, term.id, body_.text(term.span)));
  }

  void use_defaults() {
    const std::vector<std::optional<Value>>& defaults = world_.info(id_).defaults;
    for (std::size_t i = 0; i < declared_.size(); ++i) {
      std::size_t plain = plain_position(i);
      if (terms_[i].valid() || plain >= defaults.size() || !defaults[plain]) continue;
      if (defaults[plain]->is_integer()) set_int(i, Dim(defaults[plain]->integer()));
    }
    // Defaults and agents that are not known here: the callee knows them, and looks at its arguments itself.
    for (const auto& [symbol, source] : world_.info(id_).symbols)
      if (!match_.is_set(symbol)) match_.set(symbol, unknown_extent(body_, name_at(source.parameter)));
  }

  std::string name_at(std::size_t plain) const {
    for (std::size_t i = 0; i < declared_.size(); ++i)
      if (plain_position(i) == plain) return parameter(i).name;
    return "_";
  }

  // Among the agent's parameters and the declared ones: the numbers that signatures use.
  std::size_t plain_position(std::size_t i) const {
    AgentId owner = callee().agent;
    return i + (owner.valid() ? world_.program[owner].parameters.size() : 0);
  }

  void set_int(std::size_t i, const Dim& dim) {
    for (const auto& [symbol, source] : world_.info(id_).symbols)
      if (!source.module.valid() && source.parameter == plain_position(i)) match_.set(symbol, dim);
  }

  Term emit() {
    bool fn = callee().kind == FunctionKind::fn;
    written_.read_newest(body_);
    Call made;
    made.form = fn ? Form::call : Form::invoke;
    made.span = span_;
    made.callee = id_;
    if (agent_) push(made, *agent_);
    for (const Term& term : terms_) push(made, term);
    made.type = match_.result(fn ? Type(callee().result) : invocation_type(callee().outputs));
    made.guards = std::move(match_.guards);
    made.places = written_.places(agent_ ? 1 : 0);
    note_effects(made);
    return {body_.emit(std::move(made)), span_, true};
  }

  static void push(Call& call, const Term& term) {
    call.in.push_back(term.id);
    call.in_spans.push_back(term.span);
  }

  void note_effects(const Call& made) {
    EffectNotes& effects = body_.info().effects;
    bool task = callee().kind != FunctionKind::fn;
    effects.callees.push_back({id_, span_, task});
    effects.graph = effects.graph || task || made.type.is_tensor();
    effects.writes = effects.writes || !made.places.empty();
    effects.invokes = effects.invokes || task;
  }

  Body& body_;
  World& world_;
  FunctionId id_;
  std::optional<Term> agent_;
  const std::span<const ast::Arg> args_;
  Span span_;
  Match match_;
  std::vector<std::size_t> declared_;  // positions of the declared parameters
  std::vector<std::size_t> places_;    // by argument: its declared parameter
  std::vector<Term> terms_;            // by declared parameter
  WrittenPlaces written_;
  bool failed_ = false;
};

}  // namespace

Term call_function(Body& body, FunctionId function, const std::optional<Term>& agent, std::span<const ast::Arg> args,
                   Span span) {
  resolve_signature(body.world, function);
  const Function& callee = body.world.program[function];
  if (takes_views(callee)) return call_over_regions(body, function, agent, args, span);
  return FunctionCall(body, function, agent, args, span).run();
}

Type callable_type(Body& body, FunctionId function, const std::optional<Term>& agent) {
  World& world = body.world;
  Match match(body, Match::all);
  set_outer_symbols(body, match, function, agent);
  // What depends on an int argument is not known for the function as a value.
  for (const auto& [symbol, source] : world.info(function).symbols)
    if (!match.is_set(symbol)) match.set(symbol, unknown_extent(body, "_"));
  const Function& callee = world.program[function];
  Type type(Kind::task);
  std::vector<Type> parts;
  std::vector<std::string> names;
  for (const Parameter& parameter : callee.parameters) {
    if (parameter.role != Role::declared) continue;
    if (parameter.privilege == Privilege::inout && parameter.variable.valid())
      type.places.push_back(static_cast<std::uint32_t>(parts.size()));
    parts.push_back(parameter.type);
    names.push_back(parameter.name);
  }
  if (callee.kind == FunctionKind::fn) return match.substitute(Type::function(std::move(parts), callee.result));
  type.inputs = static_cast<std::uint32_t>(parts.size());
  for (const Output& output : callee.outputs) {
    parts.push_back(output.type);
    names.push_back(output.name);
  }
  type.parts = std::move(parts);
  type.names = std::move(names);
  return match.substitute(type);
}

Term bound_member(Body& body, const Term& agent, FunctionId function, Span span) {
  resolve_signature(body.world, function);
  body.info().effects.callees.push_back({function, span});
  Term made = body.make(Form::member, callable_type(body, function, agent), span, {agent});
  body[made.id].callee = function;
  return made;
}

// ---- calls of values ------------------------------------------------------------------------------

namespace {

Term not_callable(Body& body, const Term& callee, const ast::Call& call, Span span) {
  check_arguments(body, call.args);
  if (body.is_error(callee)) return body.error(span);
  const Type type = body.type(callee);
  std::string help;
  if (type.is(Kind::list) || type.is(Kind::string) || type.is(Kind::tuple) || type.is_tensor())
    help = fmt::format("brackets pick an item: {}[0]", body.text(callee.span));
  if (type.is(Kind::agent)) help = fmt::format("call a task of it by its name: {}.forward(x)", body.text(callee.span));
  wrong_type(body.world.diags, callee.span,
             fmt::format("'{}' is {} and cannot be called", body.text(callee.span), type.text()))
      .help(std::move(help));
  return body.error(span);
}

// Arguments by the parts of a function or task type.
Term apply(Body& body, const Term& callee, const ast::Call& call, Span span) {
  const Type type = body.type(callee);
  bool task = type.is(Kind::task);
  std::size_t count = task ? type.inputs : type.parts.size() - 1;
  std::vector<ParameterName> names(count);
  for (std::size_t i = 0; task && i < count; ++i) names[i].name = type.names[i];
  Callable callable{fmt::format("'{}'", body.text(callee.span)), {}, names, 0};
  auto places = place_arguments(body.world.diags, callable, call.args, span);
  if (!places) return not_callable(body, {body.error(span).id, span}, call, span);
  auto expected = [&](std::size_t i) -> Expected {
    return {task ? fmt::format("'{}' of {}", names[i].name, callable.text)
                 : fmt::format("argument {} of {}", i + 1, callable.text),
            {}};
  };
  Match match(body, Match::foreign);
  std::vector<Term> in(count + 1);
  in[0] = callee;
  WrittenPlaces written;
  bool failed = false;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    std::size_t at = (*places)[i];
    const ast::Expr& argument = *call.args[i].value;
    if (type.is_place(at) && !type.parts[at].is(Kind::error)) {
      in[at + 1] = place_argument(body, argument, at, written);
    } else {
      Type wanted = match.substitute(type.parts[at]);
      const Term given = expression(body, argument, &wanted);
      in[at + 1] = adapt(body, slice_of_step(body, match, call.args, given, wanted, expected(at)), wanted);
      note_read(body, argument, at, written);
    }
    match.bind(type.parts[at], in[at + 1]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    failed = !match.require(type.parts[i], in[i + 1], expected(i), true) || body.is_error(in[i + 1]) || failed;
  }
  if (failed || !written.check(body)) return body.error(span);
  written.read_newest(body);
  Type result = type.parts.back();
  if (task) {
    result = Type(Kind::invocation);
    result.parts.assign(type.parts.begin() + type.inputs, type.parts.end());
    result.names.assign(type.names.begin() + type.inputs, type.names.end());
  }
  Term made = body.make(Form::apply, match.result(result), span, in);
  body[made.id].guards = std::move(match.guards);
  body[made.id].places = written.places(1);
  EffectNotes& effects = body.info().effects;
  effects.writes = effects.writes || !type.places.empty();
  effects.graph = effects.graph || task || body.type(made).is_tensor();
  effects.invokes = effects.invokes || task;
  return made;
}

}  // namespace

Term call_value(Body& body, const Term& callee, const ast::Call& call, Span span) {
  const Call& made = body[callee.id];
  if (made.form == Form::function) return call_function(body, made.callee, std::nullopt, call.args, span);
  if (made.form == Form::member) {
    Term agent{made.in[0], callee.span};
    return call_function(body, made.callee, agent, call.args, span);
  }
  const Type type = body.type(callee);
  if (type.is(Kind::function) || type.is(Kind::task)) return apply(body, callee, call, span);
  return not_callable(body, callee, call, span);
}

}  // namespace taskspec::checking
