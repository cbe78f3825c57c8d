// Ops on whole tensors in a body: `let k = argmax(v.w)`, `v.y = m @ v.x`, `v.x[1..4].sum()`. What they read of fields
// is moved into a tensor first, point by point; the op then is what it is outside of a body. What it makes is one
// element, or a tensor, which again may be read point by point.
//
//   %2 = make_tensor v;  each point of v: %3 { %4 = v[%3].x;  %2 <- %4 }
//   %5 = matmul(%0, %2)
//   each point of v: %6 { %7 = %5 at its number;  v[%6].y = %7 }
#include <fmt/format.h>

#include <algorithm>

#include "ir/view_code/view_code_maker.hpp"

namespace taskspec {

using Kind = ViewStep::Kind;

namespace {

// What is known of an axis, of several, or of a range.
template <class Bound>
Value constant_of(const Bound& bound) {
  if (bound.kind == Bound::Kind::range && bound.constant.is_none() && bound.parts.size() == 2 &&
      bound.parts[0].constant.is_integer() && bound.parts[1].constant.is_integer())
    return Value(Range{bound.parts[0].constant.integer(), bound.parts[1].constant.integer()});
  if (bound.kind != Bound::Kind::tuple) return bound.constant;
  Tuple items;
  for (const Bound& part : bound.parts) items.items.push_back(part.constant);
  return std::ranges::any_of(items.items, [](const Value& item) { return item.is_none(); }) ? Value()
                                                                                            : Value(std::move(items));
}

// Whether this reduction goes over all axes.
bool reduces_all(const Value& axis, std::size_t rank) {
  if (axis.is_none()) return true;
  if (axis.is_integer()) return rank == 1;
  return axis.is_tuple() && axis.tuple().items.size() == rank;
}

}  // namespace

// Of all points of a field: by the tree of the root, so that no cut of the region changes it.
bool ViewCodeMaker::is_total(const Frame& frame, const Call& call) const {
  if (call.op->fusion != Fusion::reduction || !has_field(at(frame, call.in[0]))) return false;
  const std::string_view name = call.op->name;
  if (name != "mean" && name != "sum" && name != "prod" && name != "min" && name != "max") return false;
  const bool given = call.in.size() > 1 && call.in[1].valid();
  const Value axis = given ? constant_of(at(frame, call.in[1])) : Value();
  return (!given || !axis.is_none()) && reduces_all(axis, frame.function[call.in[0]].type.rank());
}

// Element by element of a field, and of tensors of its shape: nothing is repeated along an axis.
bool ViewCodeMaker::goes_by_point(const Frame& frame, const Call& call) const {
  if (call.op->fusion != Fusion::pointwise) return false;
  bool field = false;
  for (CallId in : call.in) {
    if (!in.valid() || !are_points(at(frame, in))) continue;
    field |= has_field(at(frame, in));
    const Type& type = frame.function[in].type;
    if (type.rank() != call.type.rank()) return false;
    for (std::size_t axis = 0; axis < type.rank(); ++axis)
      if (type.dims[axis] == Dim(1) && !(call.type.dims[axis] == Dim(1))) return false;
  }
  return field;
}

// One that no element-wise op on single elements is.
bool ViewCodeMaker::wants_tensors(const Frame& frame, const Call& call) const {
  if (points_ > 0) return false;
  if (!(call.type.elements() == Dim(1))) return true;
  return call.op->fusion != Fusion::pointwise && call.op->sharing != Sharing::same_bytes &&
         std::ranges::any_of(call.in, [&](CallId in) { return in.valid() && frame.function[in].type.is_tensor(); });
}

// All points of it, as a tensor.
ViewValue ViewCodeMaker::tensor_of(const Bound& of, Span span) {
  if (of.kind == Bound::Kind::value) return of.value;
  const Precision precision = of.step.kind == Kind::read ? code_.views[of.step.view].fields[of.step.field].precision
                                                         : code_[of.step.out()].precision;
  const std::uint32_t view = view_of(of, span);
  ViewStep room{.kind = Kind::make_tensor, .span = span};
  room.view = view;
  const ViewValue made =
      emit(std::move(room), code_.add({.kind = ViewCode::Item::Kind::tensor, .precision = precision}));
  each_point(view, span, [&](const std::vector<ViewValue>& point) {
    block_->push_back({.kind = Kind::store_whole, .span = span, .in = {made, element_of(of, point, view, span)}});
  });
  return made;
}

// What is written once is what it was given; else which of several it is shows when the body runs.
void ViewCodeMaker::write_tensor(Frame& frame, const Call& call, const Bound& given) {
  Bound& place = frame.variables[call.variable.index()];
  const auto writes = std::ranges::count_if(frame.function.calls, [&](const Call& other) {
    return other.form == Form::write && other.variable == call.variable;
  });
  if (writes == 1 && place.kind == Bound::Kind::none) {
    place = given;
    return;
  }
  if (points_ > 0 || (place.kind != Bound::Kind::none && !are_points(place)))
    throw not_built(call.span, "such a variable");
  const ViewValue now = tensor_of(given, call.span);
  if (place.kind == Bound::Kind::none) {
    place.kind = Bound::Kind::value;
    place.value = code_.add({.kind = ViewCode::Item::Kind::tensor,
                             .precision = code_[now].precision,
                             .variable = true,
                             .name = frame.function.variables[call.variable.index()].name});
  }
  emit({.kind = Kind::move, .span = call.span, .in = {now}}, place.value);
}

ViewOperand ViewCodeMaker::tensor_operand(Frame& frame, const Call& call, std::size_t position) {
  const Operand& operand = operand_at(*call.op, position);
  ViewOperand made;
  if (operand.at_run || operand.supply != Supply::standard || operand.privilege != Privilege::in)
    throw not_built(call.span, fmt::format("'{}'", call.op->name));
  if (position >= call.in.size() || !call.in[position].valid()) {
    made.constant = operand.standard.value();
    return made;
  }
  const Bound bound = as(at(frame, call.in[position]), frame.function[call.in[position]].type, call.span);
  auto add = [&](const Bound& part, const Type& type) {
    made.values.push_back(tensor_of(part, call.span));
    made.ranks.push_back(static_cast<std::uint8_t>(type.rank()));
  };
  made.is_list = bound.kind == Bound::Kind::list;
  if (made.is_list) {
    const Call& list = frame.function[call.in[position]];
    for (std::size_t k = 0; k < bound.parts.size(); ++k) add(bound.parts[k], frame.function[list.in[k]].type);
    return made;
  }
  made.constant = constant_of(bound);
  if (made.constant.is_list()) made.type = frame.function[call.in[position]].type;
  if (made.constant.is_type())  // f64[N]: as many as the views have
    for (const Dim& dim : made.constant.type().dims)
      for (const Symbol& symbol : dim.symbols())
        made.extents.emplace_back(symbol->id, dimension(frame, Dim(symbol), call.span).value);
  const bool value = bound.kind == Bound::Kind::value && (made.constant.is_none() || made.constant.is_array());
  if (value || bound.kind == Bound::Kind::points) {
    add(bound, frame.function[call.in[position]].type);
    made.constant = {};
  } else if (made.constant.is_none()) {
    throw not_built(call.span, fmt::format("operand '{}' of '{}' that is no constant", operand.name, call.op->name));
  }
  return made;
}

ViewCodeMaker::Bound ViewCodeMaker::tensor_op(Frame& frame, const Call& call) {
  const OpDef& op = *call.op;
  if (!call.type.is_tensor()) throw not_built(call.span, fmt::format("'{}'", op.name));
  if (points_ > 0)
    throw not_built(call.span,
                    fmt::format("'{}' of a tensor of several elements, inside of a loop over points,", op.name),
                    "do it in front of the loop: let k = ...");
  ViewStep step{.kind = Kind::tensor_op, .span = call.span, .op = &op};
  for (std::size_t i = 0; i < call.in.size() || (i < op.operands.size() && !op.operands[i].variadic); ++i) {
    step.operands.push_back(tensor_operand(frame, call, i));
    const std::vector<ViewValue>& values = step.operands.back().values;
    step.in.insert(step.in.end(), values.begin(), values.end());
    for (const auto& [symbol, extent] : step.operands.back().extents) step.in.push_back(extent);
  }
  const bool one = call.type.elements() == Dim(1);
  Bound made;
  made.kind = Bound::Kind::value;
  made.value =
      emit(std::move(step), code_.add({.kind = one ? ViewCode::Item::Kind::element : ViewCode::Item::Kind::tensor,
                                       .precision = call.type.precision}));
  return made;
}

}  // namespace taskspec
