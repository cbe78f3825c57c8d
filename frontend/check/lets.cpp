// let and var.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/closures.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/statements.hpp"
#include "frontend/check/types.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

// The value of a let as it may be named: it has a type, and is not nothing.
Term namable(Body& body, const Term& value) {
  if (body.is_error(value)) return value;
  if (body.type(value).is(Kind::region_field)) return output_of(body, value);  // what it holds when it is named
  if (!body.type(value).is(Kind::none)) return typed(body, value);
  wrong_type(body.world.diags, value.span, "this gives no value that could be named");
  return body.error(value.span);
}

// What -D says about a top-level let of this name.
const std::string* define_of(Body& body, const ast::Name& name) {
  return body.is_file_scope() ? define_for(body.world, body.module, name.text) : nullptr;
}

Term value_of(Body& body, const ast::Let& let, const std::optional<Type>& written) {
  const Type* wanted = written ? &*written : nullptr;
  std::optional<Type> sharding;
  if (!written && (sharding = sharding_type(body, *let.value))) wanted = &*sharding;
  const ast::Name& name = let.pattern.names[0];
  bool can_be_defined = !let.is_var && let.pattern.names.size() == 1;
  const std::string* defined = can_be_defined ? define_of(body, name) : nullptr;
  Term value = defined ? defined_value(body, name.text, *defined, let.value.get(), wanted)
                       : expression(body, *let.value, wanted);
  if (written) value = convert(body, value, *written, {fmt::format("'{}'", name.text), let.type->span});
  value = namable(body, value);
  // A name of a recording without one says nothing.
  if (body[value.id].form == Form::make_region && value.fresh && !name.text.starts_with('%'))
    body[value.id].name = name.text;
  return value;
}

}  // namespace

// A let of the top level is a variable as well, which functions read.
void bind_let(Body& body, const ast::Name& name, const Term& value, Binding& binding) {
  binding.kind = Binding::Kind::global;
  binding.call = value.id;
  binding.module = body.module;
  binding.variable = body.add_variable(name.text, Type(body.type(value)), false, name.span);
  body.write_variable(binding.variable, value, name.span);
  FileScope& file = body.world.file(body.module);
  file.lets.add(value.id.value, binding.variable);
  file.values.add(binding.variable.value, value.id);
}

namespace {

void define_let(Body& body, const ast::Name& name, const Term& value, std::string_view what) {
  Binding binding{.kind = Binding::Kind::value, .what = what};
  binding.call = value.id;
  if (body.is_error(value)) {
    binding = Binding{.what = what};
  } else if (body.is_file_scope() && what == "let") {
    bind_let(body, name, value, binding);
  }
  body.define(name, binding);
}

// The type of a var: what its first value has, but any extent where `_` is written, for later values may differ there.
Type opened(const World& world, Type value, const Type& declared) {
  if (value.kind != declared.kind || declared.is(Kind::function)) return value;  // of a function they are its own
  for (std::size_t i = 0; i < value.dims.size(); ++i)
    if (is_any(world, declared.dims[i])) value.dims[i] = declared.dims[i];
  for (std::size_t i = 0; i < value.parts.size(); ++i)
    value.parts[i] = opened(world, std::move(value.parts[i]), declared.parts[i]);
  return value;
}

// `declared`: as it is written; nothing where it is not.
void define_var(Body& body, const ast::Name& name, const Term& value, const Type* declared = nullptr) {
  Binding binding{.kind = Binding::Kind::variable, .what = "var"};
  if (body.is_error(value)) {
    body.define(name, Binding{.what = "var"});
    return;
  }
  Type type = body.type(value);
  if (declared) type = opened(body.world, std::move(type), *declared);
  // What is assigned later is compared with extents that a running frame knows.
  for (Dim& dim : type.dims) dim = reachable(body, dim, {value});
  binding.variable = body.add_variable(name.text, type, true, name.span);
  binding.is_place = type.is_tensor();
  binding.is_mutable = true;
  body.write_variable(binding.variable, value, name.span);
  if (body.is_file_scope()) {
    binding.kind = Binding::Kind::global;
    binding.module = body.module;
  }
  body.define(name, binding);
}

}  // namespace

void define_pattern(Body& body, const ast::Pattern& pattern, const Term& value, std::string_view what) {
  auto define = [&](const ast::Name& name, const Term& part) {
    if (what == "var")
      define_var(body, name, part);
    else
      define_let(body, name, part, what);
  };
  if (pattern.names.size() == 1) return define(pattern.names[0], value);
  const Type type = body.type(value);
  bool fits = type.is(Kind::tuple) && type.parts.size() == pattern.names.size();
  if (!fits && !type.is(Kind::error))
    wrong_type(body.world.diags, pattern.span,
               fmt::format("{} take a tuple apart, this is {}", plural(pattern.names.size(), "name"), type.text()))
        .label(value.span, type.text());
  for (std::size_t i = 0; i < pattern.names.size(); ++i) {
    const ast::Name& name = pattern.names[i];
    Term part = fits ? element_of(body, value, i, name.span) : body.error(name.span);
    if (const std::string* defined = what == "let" && fits ? define_of(body, name) : nullptr) {
      const Type text(Kind::string);
      const Type* wanted = body.type(part).is(Kind::string) ? &text : nullptr;
      part = namable(body, defined_value(body, name.text, *defined, nullptr, wanted));
    }
    define(name, part);
  }
}

void keep_value(Body& body, const Term& given) {
  const bool field = body.type(given).is(Kind::region_field);  // its contents are shown
  const Term value = body.type(given).is(Kind::none) ? given : typed(body, field ? output_of(body, given) : given);
  if (body.type(value).is(Kind::none) || body.is_error(value)) return;
  static const ast::Name last{"_", {}};
  Binding binding{.kind = Binding::Kind::global, .what = "value of the last expression", .span = value.span};
  bind_let(body, last, value, binding);
  body.world.file(body.module).names.put(last.text, binding);
  body.world.entry_value = binding.variable;
}

void check_statement(Body& body, const ast::Let& let, Span) {
  std::optional<Type> written;
  if (let.type) written = written_type(body, *let.type, Blank::pattern);
  Term value = value_of(body, let, written);
  if (let.is_var && written && let.pattern.names.size() == 1)
    return define_var(body, let.pattern.names[0], value, &*written);
  define_pattern(body, let.pattern, value, let.is_var ? "var" : "let");
}

}  // namespace taskspec::checking
