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

}  // namespace

void attach_body(const std::shared_ptr<Function>& function, Native native, At at) {
  if (function->recorded || function->native) fail("E1005", at, described(*function) + " has a body already");
  std::size_t wanted = function->parameters.size() + function->outputs.size();
  if (native.parameters.size() != wanted)
    fail("E1003", at,
         fmt::format("this body takes {}, and {} has {} and {}", plural(native.parameters.size(), "parameter"),
                     described(*function), plural(function->parameters.size(), "parameter"),
                     plural(function->outputs.size(), "output")),
         "one span of const for each input, then one span for each output");
  std::size_t next = 0;
  for (const Parameter& p : function->parameters) {
    if (p.privilege == "inout")
      fail("E1009", p.name.at, "a C++ body that changes a place is not built yet",
           "give the new contents as an output");
    require_fit(*function, next, native.parameters[next], p.name, p.type, false);
    ++next;
  }
  for (const Output& output : function->outputs) {
    require_fit(*function, next, native.parameters[next], output.name, output.type, true);
    ++next;
  }
  function->native = std::move(native);
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
