#include "frontend/check/regions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/convert.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/types.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

std::optional<Precision> precision_of_field(Diags& diags, const ast::Field& field) {
  auto* named = std::get_if<ast::NamedType>(&field.type.node);
  const bool plain = named && named->dims.empty() && named->fields.empty();
  if (plain && named->name.text == "int") return Precision::i64;
  if (plain && named->name.text == "float") return Precision::f64;
  if (plain)
    if (const std::optional<Precision> precision = precision_of(named->name.text)) return precision;
  diags
      .error("E1004", field.type.span,
             fmt::format("field '{}' holds one number at each point: a precision such as f64, int or float",
                         field.name.text))
      .help(named && !named->dims.empty() ? "several numbers are several fields" : "");
  return std::nullopt;
}

}  // namespace

FieldsId declare_fields(World& world, ModuleId module, const ast::FieldsDecl& decl) {
  FieldsTable table{decl.name.text, module, {}, decl.name.span};
  if (decl.fields.size() > FieldsTable::most)
    world.diags.error("E0005", decl.name.span, fmt::format("more than {} fields in one table", FieldsTable::most));
  for (std::size_t i = 0; i < std::min(decl.fields.size(), FieldsTable::most); ++i) {
    const ast::Field& field = decl.fields[i];
    const auto first = std::find_if(decl.fields.begin(), decl.fields.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const ast::Field& other) { return other.name.text == field.name.text; });
    if (first != decl.fields.begin() + static_cast<std::ptrdiff_t>(i)) {
      defined_twice(world.diags, field.name.text, first->name.span, field.name.span);
      continue;
    }
    const std::optional<Precision> precision = precision_of_field(world.diags, field);
    table.fields.push_back({field.name.text, precision.value_or(Precision::f64)});
  }
  const FieldsId id(world.program.fields_tables.size());
  world.program.fields_tables.push_back(std::move(table));
  return id;
}

std::optional<std::uint32_t> field_named(Body& body, const Type& data, const ast::Name& name) {
  const std::vector<FieldsTable::Field>& fields = body.world.program[data.fields].fields;
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name.text) return i;
    names.push_back(fields[i].name);
  }
  no_member(body.world.diags, name, fmt::format("fields '{}'", data.names[0]), "field", names);
  return std::nullopt;
}

Precision field_precision(const Body& body, const Type& data, std::uint32_t field) {
  return body.world.program[data.fields].fields[field].precision;
}

Term region_expression(Body& body, const ast::RegionExpr& node, Span span) {
  Diags& diags = body.world.diags;
  const Type type = written_type(body, *node.type, Blank::maker);
  if (type.is(Kind::error)) return body.error(span);
  if (!type.is(Kind::region)) {
    Diag& diag = wrong_type(diags, node.type->span, fmt::format("a region has fields, this is {}", type.text()));
    diag.help(type.is(Kind::view) ? fmt::format("it has all fields of '{}': region {}{}", type.names[0], type.names[0],
                                                shape_text(type.dims))
                                  : "declare them: fields Cell { state: f64 }, and then region Cell[n]");
    return body.error(span);
  }
  if (body.function().kind == FunctionKind::task) {
    not_built(diags, span, "a region in a task body", "nested tasks");
    body.info().broken = true;
    return body.error(span);
  }
  body.info().effects.graph = true;
  return body.make(Form::make_region, type, span, {});
}

Term field_of_region(Body& body, const Term& region, const ast::Name& name, Span span) {
  const Type data = body.type(region);
  const std::optional<std::uint32_t> field = field_named(body, data, name);
  if (!field) return body.error(span);
  Type type(Kind::region_field);
  type.fields = data.fields;
  type.names = {data.names[0], name.text};
  type.places = {*field};
  type.parts = {Type::tensor(field_precision(body, data, *field), data.dims)};
  Term made = body.make(Form::region_field, std::move(type), span, {region});
  body[made.id].name = name.text;
  return made;
}

std::optional<std::vector<Term>> colour_of(Body& body, const ast::Index& index, std::size_t rank,
                                           const std::string& whose) {
  std::vector<Term> colour;
  for (const ast::IndexItem& item : index.items) {
    if (item.is_slice) {
      wrong_type(body.world.diags, item.span, fmt::format("one of {} is taken at a time", whose));
      return std::nullopt;
    }
    const Term at = output_of(body, expression(body, *item.at));
    const Type type = body.type(at);
    const std::size_t parts = type.is(Kind::tuple) && index.items.size() == 1 ? type.parts.size() : 0;
    for (std::size_t i = 0; i < parts; ++i) colour.push_back(element_of(body, at, i, item.span));
    if (parts == 0) colour.push_back(at);
  }
  for (Term& at : colour) {
    at = convert(body, at, Kind::integer, {"a colour", {}});
    if (body.is_error(at)) return std::nullopt;
  }
  if (colour.size() == rank) return colour;
  wrong_type(body.world.diags, index.brackets,
             fmt::format("{} goes by {}, here {}", whose, plural(rank, "number"), colour.size()));
  return std::nullopt;
}

Term piece_expression(Body& body, const Term& partition, const ast::Index& index, Span span) {
  const Type type = body.type(partition);
  const auto colour = colour_of(body, index, type.inputs, "a piece");
  if (!colour) return body.error(span);
  Type piece(Kind::region);
  piece.names = type.names;
  piece.fields = type.fields;
  for (std::size_t i = 0; i < type.dims.size(); ++i) piece.dims.push_back(unknown_extent(body, "_"));
  std::vector<Term> in{partition};
  in.insert(in.end(), colour->begin(), colour->end());
  return body.make(Form::piece, std::move(piece), span, in);
}

Term map_item_expression(Body& body, const Term& map, const ast::Index& index, Span span) {
  const Type type = body.type(map);
  const auto point = colour_of(body, index, type.inputs, "an output of a point");
  if (!point) return body.error(span);
  std::vector<Term> in{map};
  in.insert(in.end(), point->begin(), point->end());
  body.info().effects.graph = true;
  return body.make(Form::map_item, Type(type.parts[0]), span, in);
}

std::optional<Term> partition_operator(Body& body, const ast::Name& sign, const Term& left, const Term& right,
                                       Span span) {
  const Type one = body.type(left), two = body.type(right);
  auto is_data = [](const Type& type) { return type.is(Kind::partition) || type.is(Kind::region); };
  if (!is_data(one) && !is_data(two)) return std::nullopt;
  if (one.is(Kind::error) || two.is(Kind::error)) return body.error(span);
  const Record record = find_builtin(body.world, "partition." + sign.text);
  if (!record || !one.is(Kind::partition)) {
    Diag& diag = wrong_type(body.world.diags, sign.span,
                            fmt::format("'{}' does not work on {} and {}", sign.text, one.text(), two.text()));
    if (record && one.is(Kind::region) && two.is(Kind::partition)) diag.help("the partition stands on the left");
    return body.error(span);
  }
  return call_with(body, record, {{left}, {right}}, span, sign.span);
}

}  // namespace taskspec::checking
