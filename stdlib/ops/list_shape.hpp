// The shape of nested host lists, as types and as values.
//
//   list_depth([[float]]) == 2       list_dims of [[1, 2], [3, 4]] == [2, 2]
#pragma once
#include <algorithm>

#include "ir/records/rules.hpp"

namespace taskspec {

inline std::size_t list_depth(const Type& type) {
  return type.is(Type::Kind::list) ? 1 + list_depth(type.parts[0]) : 0;
}

inline const Type& list_element_type(const Type& type) {
  return type.is(Type::Kind::list) ? list_element_type(type.parts[0]) : type;
}

namespace list_shape_detail {

inline bool rectangular(const Value& value, std::span<const std::int64_t> extents) {
  if (extents.empty()) return !value.is_list();
  if (!value.is_list() || static_cast<std::int64_t>(value.list().size()) != extents[0]) return false;
  return std::all_of(value.list().begin(), value.list().end(),
                     [&](const Value& item) { return rectangular(item, extents.subspan(1)); });
}

}  // namespace list_shape_detail

// The extents of a list of this depth: E5004 unless all lists of one level are equally long.
inline std::vector<Dim> list_dims(RuleContext& c, std::size_t operand, const Value& value, std::size_t depth) {
  if (value.is_array()) return {value.array().extents().begin(), value.array().extents().end()};
  Extents extents(depth, 0);
  const Value* first = &value;
  for (std::int64_t& extent : extents) {
    extent = static_cast<std::int64_t>(first->list().size());
    if (extent == 0) break;
    first = &first->list()[0];
  }
  if (!list_shape_detail::rectangular(value, extents))
    refuse(c, "E5004", "the lists of a tensor must be rectangular", static_cast<int>(operand));
  return {extents.begin(), extents.end()};
}

// The leaves of a rectangular list, one after the other.
inline void store_leaves(const Value& value, Array& array, std::int64_t& position) {
  if (value.is_list()) {
    for (const Value& item : value.list()) store_leaves(item, array, position);
  } else if (is_float(array.precision())) {
    array.set_number(position++, value.real());
  } else {
    array.set_integer(position++, value.is_bool() ? value.boolean() : value.integer());
  }
}

// The precision that holds what is written: f64 if there is a float, else i64 for ints, else bool.
inline Precision natural_precision(const Value& value) {
  if (value.is_real()) return Precision::f64;
  if (value.is_integer()) return Precision::i64;
  Precision found = Precision::boolean;
  if (value.is_list())
    for (const Value& item : value.list()) {
      Precision p = natural_precision(item);
      if (p == Precision::f64) return p;
      if (p == Precision::i64) found = p;
    }
  return found;
}

}  // namespace taskspec
