// Mutable data: tables of fields, regions, their pieces and fields, as host code and graphs name them.
//
//   fields Cell { state: f64 }    let c = region Cell[8]    c.state    blocks(c, 2)[1]    p & q
#pragma once
#include <optional>

#include "frontend/check/body.hpp"

namespace taskspec::checking {

FieldsId declare_fields(World& world, ModuleId module, const ast::FieldsDecl& decl);

// The position of a field of this data; what is wrong with the name is reported.
std::optional<std::uint32_t> field_named(Body& body, const Type& data, const ast::Name& name);
Precision field_precision(const Body& body, const Type& data, std::uint32_t field);

Term region_expression(Body& body, const ast::RegionExpr& node, Span span);
Term field_of_region(Body& body, const Term& region, const ast::Name& name, Span span);
Term piece_expression(Body& body, const Term& partition, const ast::Index& index, Span span);
Term map_item_expression(Body& body, const Term& map, const ast::Index& index, Span span);
// p & q, p | q, p - q, where one of them is a partition; the other one may be a region.
std::optional<Term> partition_operator(Body& body, const ast::Name& sign, const Term& left, const Term& right,
                                       Span span);

// The ints of `[i, j]`, or of one tuple; none when that is not so many of them: then it is reported.
std::optional<std::vector<Term>> colour_of(Body& body, const ast::Index& index, std::size_t rank,
                                           const std::string& whose);

}  // namespace taskspec::checking
