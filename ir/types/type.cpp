#include "ir/types/type.hpp"

#include <algorithm>

namespace taskspec {

Type::Type(const Type&) = default;
Type::Type(Type&&) noexcept = default;
Type& Type::operator=(const Type&) = default;
Type& Type::operator=(Type&&) noexcept = default;
Type::~Type() = default;

Type Type::tensor(Precision precision, std::vector<Dim> dims) {
  Type type(Kind::tensor);
  type.precision = precision;
  type.dims = std::move(dims);
  return type;
}

Type Type::list(Type element) {
  Type type(Kind::list);
  type.parts.push_back(std::move(element));
  return type;
}

Type Type::tuple(std::vector<Type> parts) {
  Type type(Kind::tuple);
  type.parts = std::move(parts);
  return type;
}

Type Type::function(std::vector<Type> parameters, Type result) {
  Type type(Kind::function);
  type.parts = std::move(parameters);
  type.parts.push_back(std::move(result));
  return type;
}

Type Type::of(Type written) {
  Type type(Kind::type);
  type.parts.push_back(std::move(written));
  return type;
}

bool Type::is_host() const {
  switch (kind) {
    case Kind::integer:
    case Kind::real:
    case Kind::boolean:
    case Kind::string:
    case Kind::range:
    case Kind::list:
    case Kind::tuple:
    case Kind::function:
    case Kind::record:
      return true;
    default:
      return false;
  }
}

bool Type::has_symbols() const {
  for (const Dim& dim : dims)
    if (!dim.is_constant()) return true;
  for (const Type& part : parts)
    if (part.has_symbols()) return true;
  return false;
}

bool Type::is_place(std::size_t input) const { return std::find(places.begin(), places.end(), input) != places.end(); }

Dim Type::elements() const {
  Dim product(1);
  for (const Dim& dim : dims) product = product * dim;
  return product;
}

Type Type::substitute(FunctionRef<std::optional<Dim>(const Symbol&)> find) const {
  if (!has_symbols()) return *this;
  Type result = *this;
  for (Dim& dim : result.dims) dim = dim.substitute(find);
  for (Type& part : result.parts) part = part.substitute(find);
  return result;
}

std::string shape_text(const std::vector<Dim>& dims) {
  std::string out = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) out += (i ? ", " : "") + dims[i].text();
  return out + "]";
}

namespace {

std::string joined(const std::vector<Type>& parts, const std::vector<std::string>& names, std::size_t from,
                   std::size_t to) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) {
    if (i > from) out += ", ";
    if (i < names.size() && !names[i].empty()) out += names[i] + ": ";
    out += parts[i].text();
  }
  return out;
}

// "state, flux": names of a view behind that of its table.
std::string fields_text(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 1; i < names.size(); ++i) out += (i > 1 ? ", " : "") + names[i];
  return out;
}

}  // namespace

std::string Type::text() const {
  std::size_t n = parts.size();
  switch (kind) {
    case Kind::none:
      return "nothing";
    case Kind::error:
      return "?";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::boolean:
      return "bool";
    case Kind::string:
      return "string";
    case Kind::range:
      return "range";
    case Kind::list:
      return "[" + parts[0].text() + "]";
    case Kind::tuple:
      return "(" + joined(parts, {}, 0, n) + ")";
    case Kind::function: {
      std::string out = "fn(" + joined(parts, {}, 0, n - 1) + ")";
      return parts.back().is(Kind::none) ? out : out + " -> " + parts.back().text();
    }
    case Kind::type:
      return "type " + parts[0].text();
    case Kind::tensor:
      // Of rank 0 it goes by its precision alone, but `bool` is the type of the host.
      if (dims.empty()) return std::string(info(precision).name) + (precision == Precision::boolean ? "[]" : "");
      return std::string(info(precision).name) + shape_text(dims);
    case Kind::task: {
      std::string out;
      for (std::size_t i = 0; i < inputs; ++i)
        out += std::string(i ? ", " : "") + (is_place(i) ? "inout " : "") + joined(parts, names, i, i + 1);
      return "task(" + out + ") -> (" + joined(parts, names, inputs, n) + ")";
    }
    case Kind::invocation:
      return "invocation (" + joined(parts, names, 0, n) + ")";
    case Kind::agent:
      return "agent";
    case Kind::record:
      return "record {" + joined(parts, names, 0, n) + "}";
    case Kind::backend:
      return names.empty() ? "backend" : "backend " + names[0];
    case Kind::training:
      return "training";
    case Kind::optimizer:
      return "optimizer";
    case Kind::region:
      return names[0] + shape_text(dims);
    case Kind::view:
      return names[0] + shape_text(dims) + ".{" + fields_text(names) + "}";
    case Kind::region_field:
      return "field " + names[0] + "." + names[1] + ": " + parts[0].text();
    case Kind::partition:
      return "partition[" + names[0] + shape_text(dims) + (inputs > 1 ? ", " + std::to_string(inputs) : "") + "]";
    case Kind::launch_map:
      return "map of " + parts[0].text();
    case Kind::blocks:
      return names.empty() ? "blocks" : names[0];  // a mapping
  }
  return "?";
}

}  // namespace taskspec
