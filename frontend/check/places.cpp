#include "frontend/check/places.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"

namespace taskspec::checking {

bool WrittenPlaces::check(Body& body) const {
  for (std::size_t i = 0; i < named_.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const Named &first = named_[k], &second = named_[i];
      if (first.variable != second.variable || (!first.written() && !second.written())) continue;
      body.world.diags
          .error("E1403", second.span,
                 fmt::format("'{}' is named twice in a call that writes it", body.text(second.span)))
          .at(second.written() ? "written here" : "read here")
          .label(first.span, first.written() ? "written here" : "read here")
          .help("pass a copy for one of them: x.copy()");
      return false;
    }
  return true;
}

std::vector<Place> WrittenPlaces::places(std::uint32_t first_operand) const {
  std::vector<Place> places;
  for (const Named& named : named_)
    if (named.written()) places.push_back({first_operand + static_cast<std::uint32_t>(named.argument), named.variable});
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.operand < b.operand; });
  return places;
}

namespace {

// May this call, or one inside of it, leave a new version in the variable? Members write slots of their agent unseen.
bool may_change(Body& body, CallId id, VariableId variable, bool is_slot) {
  const Call& call = body[id];
  const bool calls = call.form == Form::call || call.form == Form::invoke || call.form == Form::apply;
  auto inside = [&](const Block& block) {
    return std::ranges::any_of(block.calls, [&](CallId c) { return may_change(body, c, variable, is_slot); });
  };
  return (is_slot && calls) || std::ranges::any_of(call.places, [&](Place p) { return p.variable == variable; }) ||
         std::ranges::any_of(call.blocks, inside);
}

}  // namespace

void WrittenPlaces::read_newest(Body& body) const {
  for (const Named& named : named_) {
    if (!named.written()) continue;
    const bool is_slot = std::ranges::any_of(body.slots, [&](const auto& s) { return s.second == named.variable; });
    const std::vector<CallId>& open = body.open_calls();
    auto since = std::ranges::find(open, named.value);
    if (std::any_of(since, open.end(), [&](CallId id) { return may_change(body, id, named.variable, is_slot); }))
      body.move_to_end(named.value);
  }
}

bool write_slot(Body& body, const Binding& slot, const ast::Name& name) {
  const ast::Slot& written = *body.world.info(body.agent).slots[slot.index];
  if (!sees_slots(body, name.span)) return false;
  VariableId variable = slot_variable(body, slot.index);
  if (written.kind.text == "state") {
    body.function().variables[variable.index()].is_mutable = true;
    body.info().effects.writes = true;
    return true;
  }
  read_only(body.world.diags, name.span, name.text, body.world.described(body.id), slot.span)
      .note(fmt::format("a {} slot is {}", written.kind.text,
                        written.kind.text == "weight" ? "only changed by training" : "never changed"));
  return false;
}

namespace {

// The variable that a name stands for, if that is one.
VariableId variable_of(Body& body, const Binding& binding) {
  bool global = binding.kind == Binding::Kind::global && binding.is_mutable && body.at_top_level();
  if (binding.kind == Binding::Kind::variable || global) return binding.variable;
  return binding.kind == Binding::Kind::slot ? slot_variable(body, binding.index) : VariableId();
}

Term no_place(Body& body, const ast::Name& name, const Binding& binding) {
  Diags& diags = body.world.diags;
  bool input = binding.what == "parameter" && body.in_graph();
  if (input)
    read_only(diags, name.span, name.text, body.world.described(body.id), binding.span).help("declare it inout");
  else
    final_name(diags, name.span, name.text, binding.what, binding.span).note("an inout parameter changes its argument");
  return body.error(name.span);
}

}  // namespace

Term place_argument(Body& body, const ast::Expr& expr, std::size_t argument, WrittenPlaces& written) {
  auto* named = std::get_if<ast::NameExpr>(&expr.node);
  std::optional<Binding> binding = named ? body.find(named->name.text) : std::nullopt;
  if (!binding) {
    Term value = expression(body, expr);
    if (!body.is_error(value))
      body.world.diags
          .error("E1007", expr.span, fmt::format("'{}' is no place that could be changed", body.text(expr.span)))
          .help("an inout argument is a var, an inout parameter or a state slot");
    return body.error(expr.span);
  }
  if (binding->kind == Binding::Kind::error) return body.error(expr.span);
  if (binding->kind == Binding::Kind::global && binding->is_mutable && !body.at_top_level())
    return read_binding(body, *binding, named->name);  // E1010
  if (binding->kind == Binding::Kind::slot && !write_slot(body, *binding, named->name)) return body.error(expr.span);
  VariableId variable = variable_of(body, *binding);
  bool place = variable.valid() && (binding->is_place || binding->kind == Binding::Kind::slot);
  if (!place) return no_place(body, named->name, *binding);
  const Term now = body.read_variable(variable, expr.span);
  written.write(variable, argument, now);
  return now;
}

void note_read(Body& body, const ast::Expr& expr, std::size_t argument, WrittenPlaces& written) {
  auto* named = std::get_if<ast::NameExpr>(&expr.node);
  std::optional<Binding> binding = named ? body.find(named->name.text) : std::nullopt;
  if (!binding) return;
  bool global = binding->kind == Binding::Kind::global && binding->is_mutable && body.at_top_level();
  bool is_variable =
      binding->kind == Binding::Kind::variable || global || (binding->kind == Binding::Kind::slot && body.in_graph());
  if (is_variable) written.read(variable_of(body, *binding), argument, expr.span);
}

}  // namespace taskspec::checking
