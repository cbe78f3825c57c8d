#include "frontend/check/convert.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/extents.hpp"
#include "frontend/check/record_call.hpp"
#include "ir/program/folded.hpp"
#include "ir/records/rules.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

std::optional<std::uint32_t> single_output(const Type& invocation) {
  std::size_t count = invocation.parts.size();
  if (count > 0 && invocation.parts.back().is(Kind::record) && invocation.names.back() == "report") --count;
  const bool ran = count < invocation.parts.size();
  if (ran && count > 0 && invocation.parts[count - 1].is(Kind::invocation)) --count;  // of all time steps
  return count == 1 ? std::optional<std::uint32_t>(0) : std::nullopt;
}

Term output_at(Body& body, const Term& invocation, std::uint32_t index, Span span) {
  Term output = body.make(Form::output, Type(body.type(invocation).parts[index]), span, {invocation});
  body[output.id].index = index;
  body[output.id].folded = is_folded(body.function(), body[output.id]);
  return output;
}

namespace {

// A field of a region where a tensor is wanted: what it holds now.
Term contents_of(Body& body, const Term& field) {
  body.info().effects.graph = true;
  return body.make(Form::field_value, Type(body.type(field).parts[0]), field.span, {field});
}

}  // namespace

Term output_of(Body& body, const Term& value) {
  if (body.type(value).is(Kind::region_field)) return contents_of(body, value);
  if (!body.type(value).is(Kind::invocation)) return value;
  std::optional<std::uint32_t> only = single_output(body.type(value));
  return only ? output_at(body, value, *only, value.span) : value;
}

namespace {

// Ints inside a literal that is to hold floats.
Value with_floats(const Value& value, const Type& wanted) {
  if (wanted.is(Kind::real) && value.is_integer()) return value.real();
  bool list = value.is_list() && wanted.is(Kind::list);
  bool tuple = value.is_tuple() && wanted.is(Kind::tuple);
  if (!list && !tuple) return value;
  List items = list ? value.list() : value.tuple().items;
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = with_floats(items[i], wanted.parts[list ? 0 : i]);
  return list ? Value(std::move(items)) : Value(Tuple{std::move(items)});
}

// A literal may become a literal of `wanted`: `[]` as [int], `[1]` as [float], `(1, 2)` as (float, int).
bool fits_literal(const Type& given, const Type& wanted) {
  if (given.is(Kind::error) || given == wanted) return true;
  if (given.is(Kind::integer)) return wanted.is(Kind::real);
  bool container = given.is(Kind::list) || given.is(Kind::tuple);
  if (!container || given.kind != wanted.kind || given.parts.size() != wanted.parts.size()) return false;
  for (std::size_t i = 0; i < given.parts.size(); ++i)
    if (!fits_literal(given.parts[i], wanted.parts[i])) return false;
  return true;
}

Term literal_as(Body& body, const Term& value, const Type& wanted) {
  if (body[value.id].form != Form::constant) return value;
  Value constant = with_floats(body[value.id].value, wanted);
  body.take_back(value);
  return body.constant(std::move(constant), wanted, value.span);
}

Term to_float(Body& body, const Term& value) {
  if (body[value.id].form == Form::constant) return literal_as(body, value, Kind::real);
  return cast_to(body, value, Kind::real, value.span);
}

// A host number as a tensor of rank 0: exact, as beside a tensor in an operation.
Term to_tensor(Body& body, const Term& value, const Type& wanted) {
  const Type given = body.type(value);
  bool precise = given.is(Kind::integer) ? wanted.precision != Precision::boolean
                 : given.is(Kind::real)  ? is_float(wanted.precision)
                                         : wanted.precision == Precision::boolean;
  if (!precise) return value;
  const std::optional<Value> known = body.known(value.id);
  if (known && known->is_integer())
    if (std::optional<std::string> misfit = misfit_text(known->integer(), wanted.precision)) {
      body.world.diags.error("E2003", value.span, *misfit);
      return body.error(value.span);
    }
  return cast_to(body, value, wanted, value.span);
}

// The value once its extents are compared, with the type that it is then known to have: whoever uses it depends on
// the guards.
Term guarded(Body& body, const Term& value, const Type& type, std::vector<Guard> guards) {
  VariableId variable = body.add_variable("_", type, false, value.span);
  body.write_variable(variable, value, value.span);
  Term read = body.read_variable(variable, value.span);
  body[read.id].guards = std::move(guards);
  return read;
}

}  // namespace

Term adapt(Body& body, const Term& given, const Type& wanted) {
  if (wanted.is(Kind::error) || body.is_error(given)) return given;
  Term value = wanted.is(Kind::invocation) ? given : output_of(body, given);
  const Type type = body.type(value);
  if (wanted.is(Kind::real) && type.is(Kind::integer)) return to_float(body, value);
  bool host_scalar = type.is_number() || type.is(Kind::boolean);
  if (wanted.is_tensor() && wanted.rank() == 0 && host_scalar) return to_tensor(body, value, wanted);
  bool container = wanted.is(Kind::list) || wanted.is(Kind::tuple);
  if (container && !(type == wanted) && fits_literal(type, wanted)) return literal_as(body, value, wanted);
  return value;
}

Term adapt_part(Body& body, const Term& given, const Type& wanted) {
  Term value = adapt(body, given, wanted);
  const Type type = body.type(value);
  bool tensors = wanted.is_tensor() && type.is_tensor();
  if (!tensors || wanted.precision != type.precision || wanted.rank() != type.rank()) return value;
  bool open = false;
  for (std::size_t i = 0; i < type.rank(); ++i) {
    Same is_same = same(wanted.dims[i], type.dims[i]);
    if (is_same == Same::no || !is_reachable(body, wanted.dims[i])) return value;
    open = open || is_same == Same::open;
  }
  return open ? convert(body, value, wanted, {"this", {}}) : value;
}

Term convert(Body& body, const Term& given, const Type& wanted, const Expected& expected) {
  Term value = adapt(body, given, wanted);
  Match match(body, Match::foreign);
  match.bind(wanted, value);
  if (!match.require(wanted, value, expected)) return body.error(value.span);
  return match.guards.empty() ? value : guarded(body, value, match.result(wanted), std::move(match.guards));
}

namespace {

bool has_open_list(const Type& type) {
  if (type.is(Kind::error)) return true;
  bool container = type.is(Kind::list) || type.is(Kind::tuple);
  return container && std::any_of(type.parts.begin(), type.parts.end(), has_open_list);
}

}  // namespace

Term typed(Body& body, const Term& value) {
  if (body.is_error(value) || !has_open_list(body.type(value))) return value;
  body.world.diags.error("E1004", value.span, "the type of an empty list is not known")
      .help("say it: let l: [int] = []");
  return body.error(value.span);
}

namespace {

Term retyped(Body& body, const Term& value, const Type& type) {
  if (!value.fresh || body[value.id].form != Form::list) return guarded(body, value, type, {});
  body[value.id].type = type;
  return value;
}

}  // namespace

void join_extents(Body& body, Term& left, Term& right) {
  const Type one = body.type(left), two = body.type(right);
  if (!one.is(Kind::list) || !two.is(Kind::list) || one == two) return;
  auto takes = [&](const Type& wanted, const Type& given) { return Match(body, Match::foreign).fits(wanted, given); };
  if (takes(one, two))
    right = retyped(body, right, one);
  else if (takes(two, one))
    left = retyped(body, left, two);
}

std::optional<Type> common_type(const Type& a, const Type& b) {
  if (a.is(Kind::error) || a == b) return b;
  if (b.is(Kind::error)) return a;
  if (a.is_number() && b.is_number()) return Type(Kind::real);
  bool container = a.is(Kind::list) || a.is(Kind::tuple);
  if (!container || a.kind != b.kind || a.parts.size() != b.parts.size()) return std::nullopt;
  Type result = a;
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    std::optional<Type> part = common_type(a.parts[i], b.parts[i]);
    if (!part) return std::nullopt;
    result.parts[i] = *part;
  }
  return result;
}

}  // namespace taskspec::checking
