// Whole fields in a body, `(v.r * v.r).sum(0)`: what is computed of them by element waits until somebody wants it, and
// then is one loop over the points. Ops that are no matter of single points take them as tensors
// (view_code_tensors.cpp).
#include <fmt/format.h>

#include "ir/records/rules.hpp"
#include "ir/view_code/view_code_maker.hpp"

namespace taskspec {

using Kind = ViewStep::Kind;

bool ViewCodeMaker::are_points(const Bound& bound) const {
  return bound.kind == Bound::Kind::points ||
         (bound.kind == Bound::Kind::value && (code_[bound.value].kind == ViewCode::Item::Kind::whole ||
                                               code_[bound.value].kind == ViewCode::Item::Kind::tensor));
}

ViewCodeMaker::Bound ViewCodeMaker::whole_field(const Frame& frame, const Call& call) {
  if (points_ > 0)
    throw not_built(call.span, "a whole field inside of a loop over points",
                    "name it in front of the loop, or take the element there: v[i].f");
  Bound made;
  made.kind = Bound::Kind::points;
  made.view = at(frame, call.in[0]).view;
  made.step = {.kind = Kind::read, .span = call.span};
  made.step.view = made.view;
  made.step.field = field_of(made, call.name);
  made.since = writes_[{made.view, made.step.field}];
  made.loops = loops_;
  return made;
}

// The view whose points these are: that of the first field.
std::uint32_t ViewCodeMaker::view_of(const Bound& points, Span span) const {
  if (points.kind == Bound::Kind::points && points.parts.empty()) return points.view;
  for (const Bound& part : points.parts)
    if (part.kind == Bound::Kind::points) return view_of(part, span);
  throw not_built(span, "a tensor without a field of a view");
}

// Whether elements of a view come into it, and not of tensors alone.
bool ViewCodeMaker::has_field(const Bound& points) const {
  return points.kind == Bound::Kind::points &&
         (points.parts.empty() || std::ranges::any_of(points.parts, [&](const Bound& p) { return has_field(p); }));
}

// How many points the view has.
ViewCodeMaker::Bound ViewCodeMaker::count_of(std::uint32_t view, Span span) {
  Bound made;
  made.kind = Bound::Kind::value;
  for (std::uint32_t axis = 0; axis < code_.views[view].rank; ++axis) {
    ViewStep step{.kind = Kind::extent, .span = span};
    step.view = view;
    step.field = axis;
    const ViewValue extent = emit(std::move(step), host(Precision::i64));
    if (axis == 0) {
      made.value = extent;
      continue;
    }
    ViewStep times{
        .kind = Kind::number, .span = span, .in = {made.value, extent}, .op = request_.ops.find_operator("*", 2)};
    times.attributes = {Value(), Value()};
    made.value = emit(std::move(times), host(Precision::i64));
  }
  return made;
}

ViewCodeMaker::Bound ViewCodeMaker::mean_of(Bound sum, std::uint32_t view, Precision precision, Span span) {
  const ViewValue count = beside_tensors(count_of(view, span), precision, span);
  ViewStep step{.kind = Kind::op, .span = span, .in = {sum.value, count}, .op = request_.ops.find_operator("/", 2)};
  step.attributes = {Value(), Value()};
  sum.value = emit(std::move(step), code_.add({.precision = precision}));
  return sum;
}

ViewCodeMaker::Bound ViewCodeMaker::points_op(Frame& frame, const Call& call) {
  const OpDef& op = *call.op;
  if (is_total(frame, call)) return points_total(call, at(frame, call.in[0]));
  if (!goes_by_point(frame, call)) return tensor_op(frame, call);
  Bound made;
  made.kind = Bound::Kind::points;
  made.step = {.kind = Kind::op, .span = call.span, .op = &op};
  made.step.outs = {code_.add({.precision = call.type.precision})};  // says the precision of each element
  std::vector<Type> types;
  for (CallId in : call.in)
    types.push_back(in.valid() && frame.function[in].type.is_tensor() ? frame.function[in].type : Type());
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    Bound operand = call.in[i].valid() ? at(frame, call.in[i]) : Bound();
    Value attribute = call.in[i].valid() ? operand.constant : operand_at(op, i).standard.value();
    if (operand.kind == Bound::Kind::value || operand.kind == Bound::Kind::points) {
      const bool host = operand.kind == Bound::Kind::value && code_[operand.value].kind == ViewCode::Item::Kind::host;
      const bool tensor = operand_at(op, i).kind == OperandKind::tensor || types[i].is_tensor();
      if (host && !tensor && attribute.is_none()) throw not_built(call.span, "such an operand");
      if (host && tensor) {
        operand.value = beside_tensors(as(operand, frame.function[call.in[i]].type, call.span),
                                       scalar_precision(types, i), call.span);
        operand.constant = {};
      }
      if (tensor) {
        made.parts.push_back(std::move(operand));
        attribute = Value();
      }
    }
    made.step.attributes.push_back(std::move(attribute));
  }
  return made;
}

// One element, at the point of a loop over `view`.
ViewValue ViewCodeMaker::element_of(const Bound& points, const std::vector<ViewValue>& point, std::uint32_t view,
                                    Span span) {
  if (points.kind == Bound::Kind::value) {
    if (!are_points(points)) return points.value;
    const Precision precision = code_[points.value].precision;
    return emit({.kind = Kind::read_whole, .span = span, .in = {points.value}}, code_.add({.precision = precision}));
  }
  ViewStep step = points.step;
  if (step.kind == Kind::read) {
    const ViewCode::Field& field = code_.views[step.view].fields[step.field];
    if (writes_[{step.view, step.field}] != points.since) throw written_since(step.view, step.field, span);
    if (points.loops < loops_) reuses_.push_back({points.loops, step.view, step.field, points.since, span});
    if (step.view == view)
      step.in = point;
    else
      step.kind = Kind::read_number;
    return emit(std::move(step), code_.add({.precision = field.precision}));
  }
  const Precision precision = code_[step.out()].precision;
  for (const Bound& part : points.parts) step.in.push_back(element_of(part, point, view, span));
  return emit(std::move(step), code_.add({.precision = precision}));
}

Error ViewCodeMaker::written_since(std::uint32_t view, std::uint32_t field, Span span) const {
  const ViewCode::View& of = code_.views[view];
  return not_built(span, fmt::format("a use of {}.{} from before it was written", of.name, of.fields[field].name));
}

// The turn of a loop: what is named in front of it is not what an earlier turn has written.
ViewBlock ViewCodeMaker::repeated(FunctionRef<void()> make) {
  ++loops_;
  ViewBlock made = inside(make);
  --loops_;
  for (const Reuse& use : reuses_)
    if (use.loops <= loops_ && writes_[{use.view, use.field}] != use.since)
      throw written_since(use.view, use.field, use.span);
  if (loops_ == 0) reuses_.clear();
  return made;
}

void ViewCodeMaker::each_point(std::uint32_t view, Span span, FunctionRef<void(const std::vector<ViewValue>&)> body) {
  ViewStep loop{.kind = Kind::each_point, .span = span};
  loop.view = view;
  for (std::size_t axis = 0; axis < code_.views[view].rank; ++axis) loop.outs.push_back(host(Precision::i64));
  loop.blocks.push_back(inside([&] { body(loop.outs); }));
  block_->push_back(std::move(loop));
}

ViewCodeMaker::Bound ViewCodeMaker::points_total(const Call& call, const Bound& of) {
  const bool mean = call.op->name == "mean";
  Bound made;
  made.kind = Bound::Kind::value;
  made.value = code_.add({.precision = call.type.precision});
  const std::uint32_t view = view_of(of, call.span);
  const OpDef* fold = mean ? request_.ops.find("sum") : call.op;
  each_point(view, call.span, [&](const std::vector<ViewValue>& point) {
    const ViewValue element = element_of(of, point, view, call.span);
    emit({.kind = Kind::accumulate, .span = call.span, .in = {element}, .op = fold}, made.value);
  });
  if (mean) return mean_of(std::move(made), view, call.type.precision, call.span);
  return made;
}

void ViewCodeMaker::store_field(const Frame& frame, const Call& call) {
  if (points_ > 0)
    throw not_built(call.span, "a whole field inside of a loop over points", "write the element there: v[i].f = ...");
  const Bound target = at(frame, call.in[0]), given = at(frame, call.in[1]);
  const std::uint32_t field = field_of(target, call.name);
  each_point(target.view, call.span, [&](const std::vector<ViewValue>& point) {
    ViewStep store{.kind = Kind::store, .span = call.span, .in = point};
    store.view = target.view;
    store.field = field;
    store.in.push_back(element_of(given, point, target.view, call.span));
    block_->push_back(std::move(store));
  });
  ++writes_[{target.view, field}];
}

}  // namespace taskspec
