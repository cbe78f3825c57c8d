#include "interp/control/frame.hpp"

namespace taskspec {

Frame::Frame(const Function& f, FunctionId self, const FunctionFacts& known)
    : function(f), id(self), facts(known), values(f.calls.size()), variables(f.variables.size()) {}

std::optional<Dim> extent_of(const Value& value) {
  if (value.is_integer()) return Dim(value.integer());
  if (auto* scalar = value.as<GraphScalar>(); scalar && scalar->type.is(Type::Kind::integer)) return scalar->dim;
  return std::nullopt;
}

namespace {

std::optional<Dim> find(const Symbol& symbol, const Frame& frame) {
  if (auto known = frame.dimensions.find(symbol->id); known != frame.dimensions.end()) return known->second;
  if (symbol->host && symbol->call < frame.values.size()) return extent_of(frame.values[symbol->call]);
  return std::nullopt;
}

}  // namespace

Dim evaluate(const Dim& dim, const Frame& frame) {
  return dim.substitute([&](const Symbol& symbol) { return find(symbol, frame); });
}

Type evaluate(const Type& type, const Frame& frame) {
  return type.substitute([&](const Symbol& symbol) { return find(symbol, frame); });
}

void bind_dimensions(const Type& parameter, const Type& argument, Frame& frame, Span span, const std::string& name) {
  if (!parameter.is_tensor()) {
    for (std::size_t i = 0; i < parameter.parts.size() && i < argument.parts.size(); ++i)
      bind_dimensions(parameter.parts[i], argument.parts[i], frame, span, name);
    return;
  }
  for (std::size_t i = 0; i < parameter.dims.size() && i < argument.dims.size(); ++i) {
    // A lone variable that is not bound yet takes the extent; anything else must agree.
    std::vector<Symbol> symbols = parameter.dims[i].symbols();
    if (symbols.size() == 1 && !symbols[0]->host && parameter.dims[i] == Dim(symbols[0]) &&
        frame.dimensions.emplace(symbols[0]->id, argument.dims[i]).second)
      continue;
    Dim wanted = evaluate(parameter.dims[i], frame);
    if (same(wanted, argument.dims[i]) == Same::no && wanted.is_constant() && argument.dims[i].is_constant())
      throw failure("E5004", span,
                    "'" + name + "' has shape " + argument.text() + "; dimension " + std::to_string(i) + " must be " +
                        wanted.text());
  }
}

}  // namespace taskspec
