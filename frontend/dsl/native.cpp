// Tasks whose body is a C++ function: does it fit the signature? And fns that are one.
#include "taskspec/native.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  if (p.axes > 0)
    return fmt::format("a FieldView<{}{}{}>", p.is_output ? "" : "const ", p.precision,
                       p.axes == 1 ? "" : fmt::format(", {}", p.axes));
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
  if (given.precision == wanted.precision && given.is_tensor == wanted.is_tensor &&
      given.is_output == wanted.is_output && given.axes == 0)
    return;
  fail("E1004", name.at,
       fmt::format("'{}' of {} is {}; parameter {} of its C++ body is {}", name.text.empty() ? "value" : name.text,
                   described(function), written(wanted), i + 1, written(given)));
}

// The fields of a view, in the order of their table: each is a parameter of the C++ function.
std::vector<NativeParameter> fields_of(const Parameter& view) {
  std::vector<NativeParameter> wanted;
  for (const Field& field : view.type.table->fields) {
    if (std::ranges::find(view.type.fields, field.name.text) == view.type.fields.end()) continue;
    const std::string precision = field.precision == "int"     ? "i64"
                                  : field.precision == "float" ? "f64"
                                                               : stored_as(field.precision);
    wanted.push_back({precision, true, view.privilege != "in", view.type.dims.size()});
  }
  return wanted;
}

void require_fields(const Function& function, std::size_t first, std::span<const NativeParameter> given,
                    const Parameter& view) {
  const std::vector<NativeParameter> wanted = fields_of(view);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const NativeParameter& is = given[first + i];
    if (is.precision == wanted[i].precision && is.is_tensor && is.is_output == wanted[i].is_output &&
        is.axes == wanted[i].axes)
      continue;
    fail("E1004", view.name.at,
         fmt::format("a field of view '{}' of {} is {}; parameter {} of its C++ body is {}", view.name.text,
                     described(function), written(wanted[i]), first + i + 1, written(is)),
         "each field of a view is a parameter, in the order in which its fields are declared");
  }
}

void require_none(const Function& function, At at) {
  if (function.recorded || function.native || !function.symbol.empty())
    fail("E1005", at, described(function) + " has a body already");
}

bool is_float(const Type& type) { return type.name == "f16" || type.name == "f32" || type.name == "f64"; }

}  // namespace

void attach_body(const std::shared_ptr<Function>& function, Native native, At at) {
  require_none(*function, at);
  std::size_t wanted = function->outputs.size();
  for (const Parameter& p : function->parameters) wanted += p.type.fields.empty() ? 1 : fields_of(p).size();
  if (native.parameters.size() != wanted)
    fail("E1003", at,
         fmt::format("this body takes {}, and {} has {} and {}", plural(native.parameters.size(), "parameter"),
                     described(*function), plural(function->parameters.size(), "parameter"),
                     plural(function->outputs.size(), "output")),
         "one span of const for each input (of a view one FieldView for each field), then one span for each output");
  std::size_t next = 0;
  for (const Parameter& p : function->parameters) {
    if (!p.type.fields.empty()) {
      require_fields(*function, next, native.parameters, p);
      next += fields_of(p).size();
      continue;
    }
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
  for (const Parameter& p : function->parameters)
    if (!p.type.fields.empty())
      fail("E1004", at, described(*function) + " works on views, and has no reverse: a net learns through tensors");
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

// ---- fields of views ------------------------------------------------------------------------------

const NativeField::Row* NativeField::row_of(const std::array<std::int64_t, most_axes>& point) const {
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (point[axis] < low[axis] || point[axis] >= high[axis]) return nullptr;
  auto behind = std::ranges::upper_bound(rows, point, std::less(), &Row::first);
  if (behind == rows.begin()) return nullptr;
  const Row& row = *--behind;
  for (std::size_t axis = 0; axis + 1 < rank; ++axis)
    if (row.first[axis] != point[axis]) return nullptr;
  return point[rank - 1] < row.first[rank - 1] + row.count ? &row : nullptr;
}

std::int64_t NativeField::place(const std::array<std::int64_t, most_axes>& point) const {
  if (by_number) {
    const Row* row = row_of(point);
    if (!row) refuse(point);
    return row->number + point[rank - 1] - row->first[rank - 1];
  }
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) at += (point[axis] - origin[axis]) * stride[axis];
  return at;
}

void NativeField::refuse(const std::array<std::int64_t, most_axes>& point) const {
  std::vector<std::string> index;
  for (std::size_t axis = 0; axis < rank; ++axis) index.push_back(std::to_string(point[axis]));
  throw OutsideView(fmt::format("{}[{}] is outside of the view", name, joined(index, ", ")));
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
