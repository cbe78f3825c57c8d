#include "ir/program/host_symbols.hpp"

#include <algorithm>

#include "ir/program/alone.hpp"

namespace taskspec {

namespace {

void visit_type(const Type& type, FunctionRef<void(CallId)> visit) {
  auto in_dim = [&](const Dim& dim) {
    if (!dim.has_host_symbol()) return;
    for (const Symbol& symbol : dim.symbols())
      if (symbol->host && symbol->call != UINT32_MAX) visit(CallId(symbol->call));
  };
  for (const Dim& dim : type.dims) in_dim(dim);
  for (const Type& part : type.parts) visit_type(part, visit);
}

}  // namespace

void for_each_host_symbol(const Call& call, FunctionRef<void(CallId)> visit) {
  visit_type(call.type, visit);
  for (const Guard& guard : call.guards)
    for (const Dim* dim : {&guard.left, &guard.right})
      for (const Symbol& symbol : dim->symbols())
        if (symbol->host && symbol->call != UINT32_MAX) visit(CallId(symbol->call));
}

namespace {

void visit_quotients(const Type& type, FunctionRef<void(const Dim&)> visit) {
  for (const Dim& dim : type.dims)
    if (dim.is_quotient()) visit(dim);
  for (const Type& part : type.parts) visit_quotients(part, visit);
}

}  // namespace

void for_each_quotient(const Function& function, FunctionRef<void(const Dim&)> visit) {
  for (const Parameter& parameter : function.parameters) visit_quotients(parameter.type, visit);
  visit_quotients(function.result, visit);
  for (const Output& output : function.outputs) visit_quotients(output.type, visit);
}

void for_each_host_symbol(const Function& function, FunctionRef<void(CallId)> visit) {
  for (const Parameter& parameter : function.parameters) visit_type(parameter.type, visit);
  visit_type(function.result, visit);
}

namespace {

bool has_alone(const Type& type, const Symbol& dimension) {
  const auto is_it = [&](const Dim& dim) { return dim == Dim(dimension); };
  const auto in_part = [&](const Type& part) { return has_alone(part, dimension); };
  return std::ranges::any_of(type.dims, is_it) || std::ranges::any_of(type.parts, in_part);
}

}  // namespace

bool has_alone(const Function& function, const Symbol& dimension) {
  return std::ranges::any_of(function.parameters, [&](const Parameter& p) { return has_alone(p.type, dimension); });
}

}  // namespace taskspec
