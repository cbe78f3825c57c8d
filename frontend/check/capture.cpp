// Closures: what they use of the enclosing body becomes parameters of their own function.
#include "frontend/check/body.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/names.hpp"

namespace taskspec::checking {

CallId Body::capture(CallId outer_call, const std::string& name) {
  auto [entry, added] = captures_.emplace(outer_call.value, CallId());
  if (!added) return entry->second;
  const Call& call = (*outer)[outer_call];
  CallId made;
  if (call.form == Form::constant && !call.type.is(Type::Kind::error)) {
    Call copy = call;
    made = emit_in_prologue(std::move(copy));
  } else {
    Span span = call.span;
    Parameter parameter{name, import_type(Type(call.type)), Privilege::in, Role::capture, {}, {}, {}, span};
    captured.push_back(outer_call);
    made = add_parameter(std::move(parameter), span);
  }
  return captures_[outer_call.value] = made;
}

// False for a later parameter inside a default, and for an output that has no value yet.
bool Body::may_read(const Binding& binding) const {
  if (binding.what == "parameter" && binding.index >= parameter_limit) return false;
  const std::vector<Output>& outputs = world.program[id].outputs;
  if (binding.kind != Binding::Kind::variable) return true;
  for (std::size_t i = 0; i < outputs.size() && i < is_set.size(); ++i)
    if (outputs[i].variable == binding.variable && !is_set[i]) return false;
  return true;
}

Binding Body::captured_binding(const Binding& binding, std::string_view name) {
  Binding inside = binding;
  if (!outer->may_read(binding)) inside.kind = Binding::Kind::unset;
  if (inside.kind == Binding::Kind::unset) return inside;
  CallId call = binding.call;
  switch (binding.kind) {
    case Binding::Kind::value:
      break;
    case Binding::Kind::variable:
      call = outer->read_variable(binding.variable, binding.span).id;
      break;
    case Binding::Kind::dimension: {
      Term read = outer->make(Form::dimension, Type::Kind::integer, binding.span, {});
      (*outer)[read.id].symbol = binding.symbol;
      call = read.id;
      break;
    }
    case Binding::Kind::slot:
      call = read_slot(*outer, binding, binding.span).id;
      break;
    case Binding::Kind::global:
      if (!at_top_level() || binding.module != module) return binding;
      if (binding.is_mutable) call = outer->read_variable(binding.variable, binding.span).id;
      break;
    default:
      return binding;
  }
  inside.kind = Binding::Kind::value;
  inside.call = capture(call, std::string(name));
  return scopes.front().names[name] = inside;
}

// An extent that only the enclosing body knows: captured as an int.
std::optional<Dim> Body::import_symbol(const Symbol& symbol) {
  if (world.owner(symbol) != outer->id) return std::nullopt;
  if (auto known = imported.find(symbol->id); known != imported.end()) return known->second;
  CallId inner;
  if (!symbol->host) {
    Term read = outer->make(Form::dimension, Type::Kind::integer, {}, {});
    (*outer)[read.id].symbol = symbol;
    inner = capture(read.id, symbol->name);
  } else if (symbol->call != UINT32_MAX) {
    inner = capture(CallId(symbol->call), symbol->name);
  }
  Symbol mine = world.symbol(symbol->name, true, inner, id);
  exported_.emplace(mine->id, Dim(symbol));
  if (inner.valid()) extents.add(inner.value, Dim(mine));
  return imported.add(symbol->id, Dim(mine)).first->second;
}

Type Body::import_type(const Type& type) {
  return type.substitute([&](const Symbol& symbol) { return import_symbol(symbol); });
}

namespace {

// Extents that a closure works out itself may differ from call to call.
void open_own(World& world, FunctionId own, Type& type) {
  for (Dim& dim : type.dims)
    for (const Symbol& symbol : dim.symbols())
      if (world.owner(symbol) == own) {
        dim = Dim(world.symbol(dim.text(), false, CallId(), FunctionId()));
        break;
      }
  for (Type& part : type.parts) open_own(world, own, part);
}

}  // namespace

Type Body::export_type(const Type& type) {
  Type outside = type.substitute([&](const Symbol& symbol) -> std::optional<Dim> {
    if (auto known = exported_.find(symbol->id); known != exported_.end()) return known->second;
    if (world.owner(symbol) != id) return std::nullopt;
    // An int of outside that was captured is what it was there.
    for (auto [outside, inside] : captures_)
      if (symbol->host && inside.value == symbol->call)
        return exported_.emplace(symbol->id, extent_of(*outer, CallId(outside), symbol->name)).first->second;
    return std::nullopt;
  });
  open_own(world, id, outside);
  return outside;
}

}  // namespace taskspec::checking
