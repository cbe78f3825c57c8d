// Tasks whose body is a C++ function: does it fit the signature? And fns that are one.
#include "taskspec/native.hpp"

#include <fmt/format.h>

#include "frontend/dsl/errors.hpp"
#include "frontend/dsl/record.hpp"
#include "ir/base/text.hpp"
#include "taskspec/declare.hpp"

namespace taskspec::dsl::detail {

namespace {

bool is_host(const Type& type) {
  return type.name == "int" || type.name == "float" || (type.name == "bool" && type.dims.empty());
}

std::string written(const NativeParameter& p) {
  if (!p.is_tensor) return p.precision;
  return fmt::format("a span of {}{}", p.is_output ? "" : "const ", p.precision);
}

}  // namespace

std::string stored_as(const std::string& precision) {
  if (precision == "tern") return "i8";
  if (precision == "u4") return "u8";
  if (precision == "i9") return "i16";
  if (precision == "i28") return "i32";
  if (precision == "f16") return "u16";
  return precision;
}

namespace {

void require_fit(const Function& function, std::size_t i, const NativeParameter& given, const Name& name,
                 const Type& type, bool is_output) {
  NativeParameter wanted{is_host(type) ? type.name : stored_as(type.name), !is_host(type), is_output};
  if (given.precision == wanted.precision && given.is_tensor == wanted.is_tensor && given.is_output == wanted.is_output)
    return;
  fail("E1004", name.at,
       fmt::format("'{}' of {} is {}; parameter {} of its C++ body is {}", name.text.empty() ? "value" : name.text,
                   described(function), written(wanted), i + 1, written(given)));
}

void require_none(const Function& function, At at) {
  if (function.recorded || function.native || !function.symbol.empty())
    fail("E1005", at, described(function) + " has a body already");
}

bool is_float(const Type& type) { return type.name == "f16" || type.name == "f32" || type.name == "f64"; }

}  // namespace

void attach_body(const std::shared_ptr<Function>& function, Native native, At at) {
  require_none(*function, at);
  std::size_t wanted = function->parameters.size() + function->outputs.size();
  if (native.parameters.size() != wanted)
    fail("E1003", at,
         fmt::format("this body takes {}, and {} has {} and {}", plural(native.parameters.size(), "parameter"),
                     described(*function), plural(function->parameters.size(), "parameter"),
                     plural(function->outputs.size(), "output")),
         "one span of const for each input, then one span for each output");
  std::size_t next = 0;
  for (const Parameter& p : function->parameters) {
    require_fit(*function, next, native.parameters[next], p.name, p.type, p.privilege == "inout");
    ++next;
  }
  for (const Output& output : function->outputs) {
    require_fit(*function, next, native.parameters[next], output.name, output.type, true);
    ++next;
  }
  function->native = std::move(native);
}

void attach_reverse(const std::shared_ptr<Function>& function, Native backward, At at) {
  struct Wanted {
    const Name& name;
    const Type& type;
    bool is_output;
  };
  std::vector<Wanted> wanted;
  for (const Parameter& p : function->parameters) wanted.push_back({p.name, p.type, false});
  for (const Output& o : function->outputs) wanted.push_back({o.name, o.type, false});
  for (const Output& o : function->outputs)
    if (is_float(o.type)) wanted.push_back({o.name, o.type, false});
  for (const Parameter& p : function->parameters)
    if (is_float(p.type) && p.privilege != "inout") wanted.push_back({p.name, p.type, true});
  if (backward.parameters.size() != wanted.size())
    fail("E1003", at,
         fmt::format("the reverse of {} takes {}, here are {}", described(*function),
                     plural(wanted.size(), "parameter"), backward.parameters.size()),
         "its parameters, its outputs, their gradients as spans of const; then a span for the gradient of each float "
         "among the parameters");
  for (std::size_t i = 0; i < wanted.size(); ++i)
    require_fit(*function, i, backward.parameters[i], wanted[i].name, wanted[i].type, wanted[i].is_output);
  function->backward = std::move(backward);
}

void attach_symbol(const std::shared_ptr<Function>& function, const Name& symbol) {
  require_none(*function, symbol.at);
  if (symbol.text.empty()) fail("E1001", symbol.at, "'' is no name of a C++ function");
  function->symbol = symbol.text;
}

FunctionPtr declare_host(const Name& name, HostFunction body) {
  FunctionPtr function = declare(Kind::fn, name, nullptr);
  const std::size_t count = body.parameters.size();
  for (std::size_t i = 0; i < count; ++i)
    parameter(*function, "in", Name(count == 1 ? "x" : fmt::format("x{}", i + 1), name.at), body.parameters[i], {});
  if (body.result) result(*function, Name("", name.at), *body.result);
  function->host = std::move(body);
  function->acts = true;
  return function;
}

}  // namespace taskspec::dsl::detail
