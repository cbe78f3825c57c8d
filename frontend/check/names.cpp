#include "frontend/check/names.hpp"

#include <fmt/format.h>

#include <limits>
#include <numbers>

#include "frontend/check/blocks.hpp"
#include "frontend/check/calls.hpp"
#include "frontend/check/cycle.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/foreign.hpp"
#include "frontend/check/later.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/slots.hpp"

namespace taskspec::checking {

// ---- names that are there -------------------------------------------------------------------------

namespace {

bool is_data(const Type& type) {
  using Kind = Type::Kind;
  return type.is(Kind::region) || type.is(Kind::partition) || type.is(Kind::launch_map);
}

// Which points a task touches, and what it does to them, its signature says.
Term data_in_task(Body& body, const ast::Name& name, const Type& type) {
  Diag& diag = wrong_type(body.world.diags, name.span,
                          fmt::format("a task sees what its call gives it, and '{}' is {}", name.text, type.text()));
  if (type.is(Type::Kind::launch_map))
    diag.help("pass what it holds as an argument: m[i], or m.sum()");
  else
    diag.help(fmt::format("make it a parameter: in c: {}[{}]", type.names[0], type.dims.size() == 1 ? "_" : "_, _"));
  return body.error(name.span);
}

Term read_global(Body& body, const Binding& binding, const ast::Name& name) {
  World& world = body.world;
  bool own = body.at_top_level() && binding.module == body.module && !body.outer;
  if (own && !binding.is_mutable) return {binding.call, name.span};
  if (own && !body.isolated) return body.read_variable(binding.variable, name.span);
  if (binding.is_mutable) {
    top_level_var(world.diags, name, binding.span);
    return body.error(name.span);
  }
  Body& file = *world.file(binding.module).top_level;
  const Call& value = file[binding.call];
  if (body.function().kind == FunctionKind::task && is_data(value.type)) return data_in_task(body, name, value.type);
  Call read;
  read.form = Form::global;
  read.type = type_from_file(body, binding.module, Type(value.type));
  read.span = name.span;
  read.module = binding.module;
  read.variable = binding.variable;
  if (std::optional<Value> known = file.known(binding.call)) read.value = *std::move(known);
  read.folded = file[binding.call].folded;
  return {body.emit(std::move(read)), name.span};
}

Term not_a_value(Body& body, const Binding& binding, const ast::Name& name) {
  Diag& diag = wrong_type(body.world.diags, name.span,
                          fmt::format("'{}' is {}, not a value", name.text, with_article(binding.what)));
  if (binding.kind == Binding::Kind::agent) diag.help(fmt::format("make one: {}(...)", name.text));
  if (binding.kind == Binding::Kind::fields) diag.help(fmt::format("make a region of it: region {}[n]", name.text));
  return body.error(name.span);
}

}  // namespace

Term read_binding(Body& body, const Binding& binding, const ast::Name& name) {
  if (binding.kind == Binding::Kind::unset) {
    read_name(*body.outer, name);  // says why
    return body.error(name.span);
  }
  if (binding.what == "parameter" && binding.index >= body.parameter_limit) {
    not_set_yet(body.world.diags, name).label(binding.span, "a later parameter");
    return body.error(name.span);
  }
  switch (binding.kind) {
    case Binding::Kind::value:
      return {binding.call, name.span};
    case Binding::Kind::variable:
      if (!require_set(body, binding.variable, name)) return body.error(name.span);
      return body.read_variable(binding.variable, name.span);
    case Binding::Kind::dimension: {
      Term read = body.make(Form::dimension, Type::Kind::integer, name.span, {});
      body[read.id].symbol = binding.symbol;
      return {read.id, name.span};
    }
    case Binding::Kind::slot:
      return read_slot(body, binding, name.span);
    case Binding::Kind::global:
      return read_global(body, binding, name);
    case Binding::Kind::function:
      return function_name(body, binding.function, name.span);
    case Binding::Kind::blocks: {
      const std::optional<Term> instance = blocks_instance(body, binding, name);
      return instance ? bound_member(body, *instance, binding.function, name.span) : body.error(name.span);
    }
    case Binding::Kind::agent:
    case Binding::Kind::fields:
    case Binding::Kind::module:
      return not_a_value(body, binding, name);
    case Binding::Kind::unset:
    case Binding::Kind::error:
      break;
  }
  return body.error(name.span);
}

Term read_name(Body& body, const ast::Name& name, const std::string& help) {
  const bool last_value = name.text == "_" && body.world.options.at_prompt && body.find("_");
  if (name.text == "_" && !last_value) {
    wildcard_as_name(body.world.diags, name.span);
    return body.error(name.span);
  }
  if (std::optional<Binding> found = body.find(name.text)) return read_binding(body, *found, name);
  return missing_name(body, name, help);
}

VariableId slot_variable(Body& body, std::uint32_t index) {
  for (auto [used, variable] : body.slots)
    if (used == index) return variable;
  const ast::Slot& slot = *body.world.info(body.agent).slots[index];
  VariableId variable = body.add_variable(slot.name.text, slot_type(body, index), false, slot.name.span);
  body.slots.emplace_back(index, variable);
  return variable;
}

bool sees_slots(Body& body, Span span) {
  if (body.in_graph()) return true;
  body.world.diags
      .error("E1001", span, fmt::format("'{}' is a slot; a fn of an agent sees its parameters only", body.text(span)))
      .help("make the fn a graph or task, or pass the value");
  return false;
}

Term read_slot(Body& body, const Binding& slot, Span span) {
  if (!sees_slots(body, span)) return body.error(span);
  const bool layer = body.world.program[body.agent].slots[slot.index].kind == SlotKind::layer;
  if (layer && body.function().kind == FunctionKind::task) {
    not_built(body.world.diags, span, fmt::format("layer '{}' in a task body", body.text(span)), "nested tasks")
        .help("make it a graph, which calls the tasks of layers");
    return body.error(span);
  }
  return body.read_variable(slot_variable(body, slot.index), span);
}

Term function_name(Body& body, FunctionId function, Span span) {
  World& world = body.world;
  resolve_signature(world, function);
  body.info().effects.callees.push_back({function, span});
  bool member = world.program[function].agent.valid();
  std::vector<Term> in;
  if (member) in.push_back(body.self(span));
  Type type = callable_type(body, function, member ? std::optional(in[0]) : std::nullopt);
  Term made = body.make(member ? Form::member : Form::function, std::move(type), span, in);
  body[made.id].callee = function;
  return {made.id, span};
}

// ---- names that are not ---------------------------------------------------------------------------

std::optional<double> constant_of_library(std::string_view name) {
  if (name == "pi") return std::numbers::pi;
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

namespace {

template <class Map>
void collect(const Map& names, std::vector<std::string>& out) {
  for (const auto& [name, binding] : names)
    if (binding.kind != Binding::Kind::error) out.emplace_back(name);
}

// Of a session of thousands of names the newest: who mistypes a name thinks of one of those, and it takes no longer.
void collect_file(Body& body, std::vector<std::string>& out) {
  const World& world = body.world;
  const auto& names = body.world.file(body.module).names;
  constexpr std::size_t newest = 250;  // of each kind
  if (!world.options.at_prompt || names.size() <= newest) return collect(names, out);
  auto collect_newest = [&](const auto& declared) {
    for (std::size_t i = declared.size() - std::min(declared.size(), newest); i < declared.size(); ++i) {
      auto known = names.find(std::string_view(declared[i].name));
      if (known != names.end() && known->second.kind != Binding::Kind::error) out.push_back(declared[i].name);
    }
  };
  collect_newest(world.program[world.program.modules[body.module.index()].top_level].variables);
  collect_newest(world.program.functions);
  collect_newest(world.program.agents);
}

// Everything that can be seen from here, for a suggestion. Sorted, since scopes are hashed.
std::vector<std::string> visible_names(Body& body) {
  std::vector<std::string> names;
  for (const Body* b = &body; b; b = b->outer) {
    for (const Scope& scope : b->scopes) collect(scope.names, names);
    if (b->agent.valid()) collect(b->world.info(b->agent).names, names);
  }
  collect_file(body, names);
  for (const OpDef* op : body.world.options.ops.all()) names.emplace_back(op->name);
  for (const Builtin* builtin : body.world.options.builtins.all()) names.emplace_back(builtin->name);
  std::sort(names.begin(), names.end());
  return names;
}

// The scope around here whose later statements set this name.
Scope* scope_that_sets(Body& body, std::string_view name) {
  for (Body* b = &body; b; b = b->outer)
    for (auto scope = b->scopes.rbegin(); scope != b->scopes.rend(); ++scope)
      if (scope->setters().contains(name)) return &*scope;
  Body* file = body.world.file(body.module).top_level.get();
  if (!file || file == &body || !file->scopes.front().setters().contains(name)) return nullptr;
  return &file->scopes.front();
}

}  // namespace

Term missing_name(Body& body, const ast::Name& name, const std::string& help) {
  World& world = body.world;
  if (Scope* scope = scope_that_sets(body, name.text)) {
    report_used_before_set(body, *scope, name);
    Body* file = world.file(body.module).top_level.get();
    if (file && file != &body && !body.outer && scope == &file->scopes.front()) {
      body.info().broken = true;
      body.scopes.front().names.emplace(name.text, Binding{.span = name.span});  // once per function is enough
    }
    return body.error(name.span);
  }
  if (std::optional<double> constant = constant_of_library(name.text))
    return body.constant(Value(*constant), Type::Kind::real, name.span);
  if (find_op(world, name.text) || find_builtin(world, name.text)) {
    wrong_type(world.diags, name.span, fmt::format("'{}' is a function of the library; call it", name.text))
        .help(world.options.at_prompt && !foreign_at_prompt(name.text).empty()
                  ? std::string(foreign_at_prompt(name.text))
                  : fmt::format("as a function value: x => {}(x)", name.text));
    return body.error(name.span);
  }
  if (auto stale = world.stale.find(name.text); stale != world.stale.end()) {
    world.diags.error("E1001", name.span, fmt::format("'{}' is not valid any more: {}", name.text, stale->second))
        .help("define it again");
  } else if (std::string_view part = part_of_name(name.text); !part.empty()) {
    not_built(world.diags, name.span, fmt::format("'{}'", name.text), part);
  } else {
    constexpr std::size_t enough = 40;  // suggestions are dear, and nobody reads that many
    Diag& diag =
        unknown_name(world.diags, name, world.diags.size() < enough ? visible_names(body) : std::vector<std::string>{});
    if (const auto known = foreign_at_prompt(name.text); world.options.at_prompt && !known.empty())
      diag.help(std::string(known));
    if (diag.help_text.empty()) diag.help(help);
  }
  body.info().broken = true;
  body.scopes.front().names.emplace(name.text, Binding{.span = name.span});  // once per function is enough
  return body.error(name.span);
}

bool require_set(Body& body, VariableId variable, const ast::Name& name) {
  const std::vector<Output>& outputs = body.function().outputs;
  for (std::size_t i = 0; i < outputs.size() && i < body.is_set.size(); ++i) {
    if (outputs[i].variable != variable || body.is_set[i]) continue;
    if (body.missed[i].empty()) {
      report_output_before_set(body, name);
    } else {
      Diag& diag =
          body.world.diags.error("E1006", name.span, fmt::format("'{}' is not set on every path to here", name.text));
      for (const Label& label : body.missed[i]) diag.label(label.span, label.text);
    }
    body.is_set[i] = true;  // said once
    return false;
  }
  return true;
}

}  // namespace taskspec::checking
