// The one oracle of interference: two uses of a region need an order where they have points in common, and fields, and
// privileges that do not commute. Every later stage asks it.
//
//   Access a{{cells}, FieldMask::of({0}), Privilege::reduce, ReduceOp::sum}, b = a;
//   interferes(forest, a, b) == false            // contributions of one operator commute
#pragma once
#include "ir/records/hazard.hpp"
#include "ir/records/operand.hpp"
#include "ir/records/reduce_op.hpp"
#include "ir/region/field_mask.hpp"
#include "ir/region/forest.hpp"

namespace taskspec {

struct Access {
  Space space;
  FieldMask fields;
  Privilege privilege = Privilege::in;
  ReduceOp op = ReduceOp::sum;  // under reduce
};

// What a privilege does. A contribution keeps the value it is added to: it reads as well.
constexpr bool reads(Privilege p) { return p != Privilege::out; }
constexpr bool writes(Privilege p) { return p != Privilege::in; }

// By privileges alone: none where the two commute (both read; both contribute with one operator).
constexpr Hazard hazard(Privilege earlier, ReduceOp earlier_op, Privilege later, ReduceOp later_op) {
  if (earlier == Privilege::reduce && later == Privilege::reduce && earlier_op == later_op) return Hazard::none;
  if (writes(earlier)) return reads(later) ? Hazard::raw : Hazard::waw;
  return writes(later) ? Hazard::war : Hazard::none;
}

// Points, fields, privileges, in this order.
Hazard hazard(const RegionForest& forest, const Access& earlier, const Access& later);
inline bool interferes(const RegionForest& forest, const Access& earlier, const Access& later) {
  return hazard(forest, earlier, later) != Hazard::none;
}

}  // namespace taskspec
