#include "frontend/check/body.hpp"

#include <algorithm>

#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"

namespace taskspec::checking {

Body::Body(World& w, FunctionId function_id, Body* enclosing)
    : world(w),
      id(function_id),
      module(w.program[function_id].module),
      agent(w.program[function_id].agent),
      outer(enclosing),
      top_level_(w.program[function_id].kind == FunctionKind::module) {
  scopes.emplace_back();
  blocks_.emplace_back();
}

// ---- calls ----------------------------------------------------------------------------------------

CallId Body::emit(Call call) {
  CallId made(function().calls.size());
  function().calls.push_back(std::move(call));
  blocks_.back().calls.push_back(made);
  return made;
}

CallId Body::emit_in_prologue(Call call) {
  CallId made(function().calls.size());
  function().calls.push_back(std::move(call));
  prologue_.push_back(made);
  return made;
}

Term Body::make(Form form, Type type, Span span, const std::vector<Term>& in) {
  Call call;
  call.form = form;
  call.type = std::move(type);
  call.span = span;
  for (const Term& operand : in) {
    call.in.push_back(operand.id);
    call.in_spans.push_back(operand.span);
  }
  return {emit(std::move(call)), span, true};
}

Term Body::constant(Value value, Type type, Span span) {
  Term made = make(Form::constant, std::move(type), span, {});
  (*this)[made.id].value = std::move(value);
  (*this)[made.id].folded = true;
  return made;
}

Term Body::error(Span span) { return make(Form::constant, Type::Kind::error, span, {}); }

void Body::take_back(const Term& operand) {
  std::vector<CallId>& block = blocks_.back().calls;
  bool last = !block.empty() && block.back() == operand.id && operand.id.index() + 1 == function().calls.size();
  if (!operand.fresh || !last) return;
  if (Form form = (*this)[operand.id].form; form != Form::constant && form != Form::type) return;
  block.pop_back();
  function().calls.pop_back();
}

std::optional<Value> Body::known(CallId id) {
  const Call& call = (*this)[id];
  bool can_be = call.form == Form::constant || call.form == Form::global || call.form == Form::type;
  return can_be && !call.value.is_none() ? std::optional(call.value) : std::nullopt;
}

CallId Body::add_parameter(Parameter parameter, Span span) {
  Call call;
  call.form = Form::parameter;
  call.type = parameter.type;
  call.span = span;
  CallId made = emit_in_prologue(std::move(call));
  bool capture = parameter.role == Role::capture;
  std::vector<Parameter>& list = capture ? capture_parameters_ : function().parameters;
  (*this)[made].index = static_cast<std::uint32_t>(list.size());
  (capture ? capture_calls_ : parameter_calls_).push_back(made);
  list.push_back(std::move(parameter));
  return made;
}

VariableId Body::add_variable(std::string name, Type type, bool is_mutable, Span span) {
  std::vector<Variable>& variables = function().variables;
  variables.push_back({std::move(name), std::move(type), is_mutable, span});
  return VariableId(variables.size() - 1);
}

Term Body::read_variable(VariableId variable, Span span) {
  Term made = make(Form::variable, type_now(variable), span, {});
  (*this)[made.id].variable = variable;
  return made;
}

// A var whose extents may be any has those of the value that it holds, until it gets another one.
Type Body::type_now(VariableId variable) {
  const Type declared = function().variables[variable.index()].type;
  if (!holds_any(world, declared)) return declared;
  auto known = types_now_.find(variable.value);
  if (known == types_now_.end()) known = types_now_.emplace(variable.value, item_type(*this, declared)).first;
  return known->second;
}

void Body::write_variable(VariableId variable, const Term& value, Span span) {
  types_now_.erase(variable.value);
  Term made = make(Form::write, Type::Kind::none, span, {value});
  (*this)[made.id].variable = variable;
}

void Body::open_block() {
  blocks_.emplace_back();
  types_now_.clear();
}

Block Body::close_block() {
  types_now_.clear();
  Block block = std::move(blocks_.back());
  blocks_.pop_back();
  return block;
}

void Body::splice(const Block& block) {
  std::vector<CallId>& open = blocks_.back().calls;
  open.insert(open.end(), block.calls.begin(), block.calls.end());
}

void Body::move_to_end(CallId call) {
  std::vector<CallId>& open = blocks_.back().calls;
  auto place = std::ranges::find(open, call);
  std::rotate(place, place + 1, open.end());
}

void Body::drop_calls(std::size_t first) {
  if (std::any_of(prologue_.begin(), prologue_.end(), [&](CallId call) { return call.index() >= first; })) return;
  function().calls.resize(first);
  extents.remove_from(static_cast<std::uint32_t>(first));
}

void Body::back_to(const Mark& mark) {
  scopes.resize(mark.scopes);
  blocks_.resize(mark.blocks);
  loops = mark.loops;
}

void Body::begin_entry() {
  extents.remember(), extents.settle();
  imported.remember(), imported.settle();
  globals.remember(), globals.settle();
}

Body::Books Body::books() {
  return {function().calls.size(),
          function().variables.size(),
          blocks_.front().calls.size(),
          prologue_.size(),
          extents.mark(),
          imported.mark(),
          globals.mark(),
          info().effects.mark(),
          info().found,
          function().effects};
}

void Body::back_to(const Books& books) {
  back_to(Mark{1, 1, 0});
  scopes.front() = Scope();
  types_now_.clear();
  function().calls.resize(books.calls);
  function().variables.resize(books.variables);
  blocks_.front().calls.resize(books.listed);
  prologue_.resize(books.prologue);
  extents.back_to(books.extents);
  imported.back_to(books.imported);
  globals.back_to(books.globals);
  info().effects.back_to(books.effects);
  info().found = books.found;
  function().effects = books.inferred;
  info().broken = false;
  finish();
}

void Body::finish() {
  place_parameters();
  auto at = [](std::vector<CallId>& list, std::size_t position) {
    return list.begin() + static_cast<std::ptrdiff_t>(position);
  };
  std::vector<CallId>&body = function().body.calls, &listed = blocks_.front().calls;
  // Also after some of them were taken back: what is there of both lists stays, the rest follows.
  const std::size_t prologue = std::min(finished_prologue_, prologue_.size());
  body.erase(at(body, prologue), at(body, finished_prologue_));
  body.insert(at(body, prologue), at(prologue_, prologue), prologue_.end());
  const std::size_t stay = std::min(finished_listed_, listed.size());
  body.resize(prologue_.size() + stay);
  body.insert(body.end(), at(listed, stay), listed.end());
  finished_prologue_ = prologue_.size();
  finished_listed_ = listed.size();
}

// Only now it is known which slots and which values of outside are used: captures come first, then the agent's
// parameters, its slots and the declared parameters.
void Body::place_parameters() {
  std::vector<Parameter>& list = function().parameters;
  auto is_declared = [](const Parameter& p) { return p.role == Role::declared; };
  auto declared = static_cast<std::size_t>(std::find_if(list.begin(), list.end(), is_declared) - list.begin());
  std::sort(slots.begin(), slots.end());
  std::vector<Parameter> used;
  for (auto [index, variable] : slots) {
    const Variable& place = function().variables[variable.index()];
    Parameter parameter{place.name, place.type, Privilege::in, Role::slot, variable, {}, {}, place.span};
    if (place.is_mutable) parameter.privilege = Privilege::inout;
    used.push_back(std::move(parameter));
  }
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(declared), used.begin(), used.end());
  list.insert(list.begin(), capture_parameters_.begin(), capture_parameters_.end());
  for (CallId call : parameter_calls_) {
    std::uint32_t& index = (*this)[call].index;
    if (index >= declared) index += static_cast<std::uint32_t>(used.size());
    index += static_cast<std::uint32_t>(capture_parameters_.size());
  }
}

// ---- names ----------------------------------------------------------------------------------------

void Body::define(const ast::Name& name, Binding binding) {
  binding.span = name.span;
  if (name.text == "_") return wildcard_as_name(world.diags, name.span);
  if (is_file_scope()) return define_in_file(name, binding);
  auto [place, added] = scopes.back().names.emplace(name.text, binding);
  if (added) return;
  if (place->second.kind != Binding::Kind::error) defined_twice(world.diags, name.text, place->second.span, name.span);
  place->second = binding;
}

// At a prompt a name may be defined again, but not twice in one entry.
void Body::define_in_file(const ast::Name& name, const Binding& binding) {
  UndoMap<Names>& names = world.file(module).names;
  const bool again = world.options.at_prompt && world.entered.insert(name.text).second;
  auto [place, added] = names.add(name.text, binding);
  if (added) return;
  if (!again && place->second.kind != Binding::Kind::error)
    defined_twice(world.diags, name.text, place->second.span, name.span);
  names.put(name.text, binding);
}

std::optional<Binding> Body::find(std::string_view name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (auto found = scope->names.find(name); found != scope->names.end()) return found->second;
    if (isolated) break;
  }
  if (outer && !isolated) {
    std::optional<Binding> found = outer->find(name);
    return found ? std::optional(captured_binding(*found, name)) : std::nullopt;
  }
  if (!isolated)
    if (std::optional<Binding> found = find_in_agent(name)) return found;
  return world.find(isolated.value_or(module), name);
}

std::optional<Binding> Body::find_in_agent(std::string_view name) {
  return agent.valid() ? world.find(agent, name) : std::nullopt;
}

Term Body::self(Span span) {
  if (outer) {
    if (!self_.valid()) self_ = capture(outer->self(span).id, "self");
    return {self_, span};
  }
  Type type(Type::Kind::agent);
  type.agent = agent;
  return make(Form::self, std::move(type), span, {});
}

}  // namespace taskspec::checking
