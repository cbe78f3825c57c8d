#include "ir/view_code/make_view_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "ir/records/rules.hpp"
#include "ir/records/scalar.hpp"
#include "ir/view_code/view_code_maker.hpp"

namespace taskspec {

using Kind = ViewStep::Kind;

// ---- the task -------------------------------------------------------------------------------------

Result<ViewCode> make_view_code(const ViewCodeRequest& request) {
  try {
    return ViewCodeMaker(request).make();
  } catch (const Error& error) {
    return error.diags();
  }
}

ViewCode ViewCodeMaker::make() && {
  const Function& task = program_[request_.task];
  if (!task.extern_symbol.empty())
    throw failure("E1009", task.span, "a task over views whose body is written in C++ is not built yet");
  code_.task = program_.display_name(request_.task);
  Frame frame{task};
  frame.calls.resize(task.calls.size());
  frame.variables.resize(task.variables.size());
  for (const Parameter& parameter : task.parameters) add_parameter(frame, parameter);
  for (std::size_t view = 0; view < code_.views.size(); ++view) bind_extents(frame, view);
  for (const Output& output : task.outputs)
    if (output.type.elements() == Dim(1)) cell(frame, output.variable, output.type);
  for (const Parameter& parameter : task.parameters) {
    if (parameter.type.is(Type::Kind::view) || !parameter.variable.valid()) continue;
    const Bound given = frame.parameters[static_cast<std::size_t>(&parameter - task.parameters.data())];
    emit({.kind = Kind::move, .span = parameter.span, .in = {given.value}},
         cell(frame, parameter.variable, parameter.type));
  }
  block(frame, task.body);
  finish(frame);
  require_strips(code_.body);
  return std::move(code_);
}

void ViewCodeMaker::add_parameter(Frame& frame, const Parameter& parameter) {
  Bound bound;
  if (parameter.type.is(Type::Kind::view)) {
    bound.kind = Bound::Kind::view;
    bound.view = static_cast<std::uint32_t>(code_.views.size());
    ViewCode::View view{parameter.name, static_cast<std::uint8_t>(parameter.type.dims.size()), {}};
    for (const FieldsTable::Field& field : program_[parameter.type.fields].fields)
      view.fields.push_back({field.name, field.precision});
    code_.views.push_back(std::move(view));
    views_.push_back(&parameter);
  } else {
    const ArrayType& type = request_.inputs[code_.inputs++];
    const bool host = !parameter.type.is_tensor(), one = type.elements() == 1;
    bound.value = code_.add({.kind = host  ? ViewCode::Item::Kind::host
                                     : one ? ViewCode::Item::Kind::element
                                           : ViewCode::Item::Kind::whole,
                             .precision = type.precision,
                             .type = type});
    bound.kind = Bound::Kind::value;
    for (std::size_t axis = 0; parameter.type.is_tensor() && axis < parameter.type.dims.size(); ++axis)
      if (const std::vector<Symbol> symbols = parameter.type.dims[axis].symbols();
          symbols.size() == 1 && parameter.type.dims[axis] == Dim(symbols[0]) && axis < type.extents.size())
        frame.extents.emplace(symbols[0]->id, integer(type.extents[axis]));
  }
  frame.parameters.push_back(bound);
}

// `N` of Cell[N]: so many points there are.
void ViewCodeMaker::bind_extents(Frame& frame, std::size_t view) {
  const Type& type = views_[view]->type;
  for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
    const std::vector<Symbol> symbols = type.dims[axis].symbols();
    if (symbols.size() == 1 && type.dims[axis] == Dim(symbols[0]))
      frame.open_extents.try_emplace(symbols[0]->id, view, axis);
  }
}

void ViewCodeMaker::finish(Frame& frame) {
  const Function& task = program_[request_.task];
  for (const Output& output : task.outputs) {
    const Bound left = frame.variables[output.variable.index()];
    if (left.kind == Bound::Kind::value) {
      code_.outputs.push_back({left.value});
      continue;
    }
    if (!are_points(left)) throw not_built(output.span, "such an output");
    const ViewValue whole = code_.add({.kind = ViewCode::Item::Kind::whole, .precision = output.type.precision});
    const std::uint32_t view = view_of(left, output.span);
    each_point(view, output.span, [&](const std::vector<ViewValue>& point) {
      block_->push_back(
          {.kind = Kind::store_whole, .span = output.span, .in = {whole, element_of(left, point, view, output.span)}});
    });
    code_.outputs.push_back({whole});
  }
  for (const Parameter& parameter : task.parameters)
    if (parameter.variable.valid() && !parameter.type.is(Type::Kind::view) && parameter.privilege == Privilege::inout)
      code_.outputs.push_back({frame.variables[parameter.variable.index()].value});
}

Error ViewCodeMaker::not_built(Span span, std::string_view what, std::string help) const {
  Diag diag("E1009", Severity::error, span, fmt::format("{} in the body of a task over views is not built yet", what));
  if (!help.empty()) diag.help(std::move(help));
  return Error(std::move(diag));
}

// Ops on elements are done on strips of them.
void ViewCodeMaker::require_strips(const ViewBlock& block) const {
  for (const ViewStep& step : block) {
    for (const ViewBlock& inner : step.blocks) require_strips(inner);
    if (step.kind != Kind::op || step.op->sharing == Sharing::same_bytes) continue;
    constexpr std::int64_t some = 64;
    OpInstance call{step.op, {}, step.attributes, {{code_[step.out()].precision, {some}}}};
    for (ViewValue value : step.in) call.in.push_back({code_[value].precision, {some}});
    if (step.op->fusion != Fusion::pointwise || step.in.empty() || step.op->kernel(call)->strip_steps().empty())
      throw not_built(step.span, fmt::format("'{}' on single elements", step.op->name),
                      "elements go through element-wise ops: + - * / minimum maximum exp sqrt where ...");
  }
}

// ---- values ---------------------------------------------------------------------------------------

ViewValue ViewCodeMaker::emit(ViewStep step, ViewValue out) {
  step.outs = {out};
  block_->push_back(std::move(step));
  return out;
}

ViewValue ViewCodeMaker::host(Precision precision) {
  return code_.add({.kind = ViewCode::Item::Kind::host, .precision = precision});
}

ViewCodeMaker::Bound ViewCodeMaker::known(const Value& value, Span span) {
  Bound bound;
  bound.constant = value;
  const bool number = value.is_number() || value.is_bool() || value.is_array();
  if (value.is_range()) {
    bound.kind = Bound::Kind::range;
    bound.parts = {known(Value(value.range().begin), span), known(Value(value.range().end), span)};
    return bound;
  }
  if (!number) {
    bound.kind = value.is_type() ? Bound::Kind::type : Bound::Kind::other;
    return bound;
  }
  const Precision precision = value.is_array()  ? value.array().precision()
                              : value.is_bool() ? Precision::boolean
                              : value.is_real() ? Precision::f64
                                                : Precision::i64;
  bound.kind = Bound::Kind::value;
  using Item = ViewCode::Item::Kind;
  const bool several = value.is_array() && value.array().elements() != 1;
  bound.value = code_.add({.kind = several            ? Item::tensor
                                   : value.is_array() ? Item::element
                                                      : Item::host,
                           .precision = precision});
  code_.constants.emplace_back(bound.value, value.is_array() ? value.array() : scalar_array(value, precision));
  return bound;
}

ViewValue ViewCodeMaker::integer(std::int64_t value) { return known(Value(value), {}).value; }

// The place of a variable that changes.
ViewValue ViewCodeMaker::cell(Frame& frame, VariableId variable, const Type& type) {
  Bound& bound = frame.variables[variable.index()];
  if (bound.kind != Bound::Kind::none) return bound.value;
  const Variable& of = frame.function.variables[variable.index()];
  bound.kind = Bound::Kind::value;
  bound.value = code_.add({.kind = type.is_tensor() ? ViewCode::Item::Kind::element : ViewCode::Item::Kind::host,
                           .precision = precision_of(type, of.span),
                           .variable = true,
                           .name = of.name});
  return bound.value;
}

Precision ViewCodeMaker::precision_of(const Type& type, Span span) const {
  if (type.is_tensor()) return type.precision;
  if (type.is(Type::Kind::integer)) return Precision::i64;
  if (type.is(Type::Kind::real)) return Precision::f64;
  if (type.is(Type::Kind::boolean)) return Precision::boolean;
  throw not_built(span, fmt::format("a value of type {}", type.text()));
}

const ViewCodeMaker::Bound& ViewCodeMaker::at(const Frame& frame, CallId call) const {
  return frame.calls[call.index()];
}

ViewValue ViewCodeMaker::value(const Frame& frame, CallId call) const {
  const Bound& bound = at(frame, call);
  if (bound.kind != Bound::Kind::value) throw not_built(frame.function[call].span, "such a value");
  return bound.value;
}

// As a host value of this type: an int may stand for a float.
ViewCodeMaker::Bound ViewCodeMaker::as(const Bound& given, const Type& type, Span span) {
  if (given.kind != Bound::Kind::value || !type.is(Type::Kind::real)) return given;
  if (code_[given.value].kind != ViewCode::Item::Kind::host || code_[given.value].precision != Precision::i64)
    return given;
  if (given.constant.is_integer()) return known(Value(given.constant.real()), span);
  Bound made;
  made.kind = Bound::Kind::value;
  made.value = emit({.kind = Kind::convert, .span = span, .in = {given.value}}, host(Precision::f64));
  return made;
}

// ---- ops ------------------------------------------------------------------------------------------

// On host values.
ViewCodeMaker::Bound ViewCodeMaker::number(const Frame& frame, const Call& call) {
  if (!call.op->scalar && !call.op->outputs.empty())
    throw not_built(call.span, fmt::format("'{}', which gives several tensors,", call.op->name));
  ViewStep step{.kind = Kind::number, .span = call.span, .op = call.op};
  List constants;
  bool all_known = true;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    Bound bound = call.in[i].valid() ? as(at(frame, call.in[i]), frame.function[call.in[i]].type, call.span) : Bound();
    if (!call.in[i].valid()) bound.constant = operand_at(*call.op, i).standard.value();
    const bool is_value = bound.kind == Bound::Kind::value;
    step.attributes.push_back(is_value ? Value() : bound.constant);
    if (is_value) step.in.push_back(bound.value);
    all_known &= !bound.constant.is_none() || !is_value;
    constants.push_back(bound.constant);
  }
  if (!call.op->scalar) throw not_built(call.span, fmt::format("'{}' on host values", call.op->name));
  if (all_known) return known(call.op->scalar(constants), call.span);
  Bound made;
  made.kind = Bound::Kind::value;
  made.value = emit(std::move(step), host(precision_of(call.type, call.span)));
  return made;
}

// x[0] of a tensor of one element, or whatever else moves the elements of one tensor.
bool ViewCodeMaker::is_its_element(const Frame& frame, const Call& call) const {
  const Type& of = frame.function[call.in[0]].type;
  const auto tensors =
      std::ranges::count_if(call.in, [&](CallId in) { return in.valid() && frame.function[in].type.is_tensor(); });
  return call.op->fusion == Fusion::movement && tensors == 1 && of.is_tensor() && of.elements() == Dim(1) &&
         call.type.elements() == Dim(1) && at(frame, call.in[0]).kind == Bound::Kind::value;
}

// On tensors of one element. A number of the host takes the precision of the tensors beside it.
ViewCodeMaker::Bound ViewCodeMaker::element_op(Frame& frame, const Call& call) {
  for (CallId in : call.in)
    if (in.valid() && (are_points(at(frame, in)) || at(frame, in).kind == Bound::Kind::list))
      return points_op(frame, call);
  if (!call.type.is_tensor()) throw not_built(call.span, fmt::format("'{}'", call.op->name));
  if (is_its_element(frame, call)) return at(frame, call.in[0]);
  if (wants_tensors(frame, call)) return tensor_op(frame, call);
  if (call.op->serves == Serves::fills) return filled(frame, call);
  ViewStep step{.kind = Kind::op, .span = call.span, .op = call.op};
  std::vector<Type> types;
  bool tensors = false;
  for (CallId in : call.in) {
    types.push_back(in.valid() && frame.function[in].type.is_tensor() ? frame.function[in].type : Type());
    tensors |= types.back().is_tensor();
  }
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const Operand& operand = operand_at(*call.op, i);
    const Bound bound = call.in[i].valid() ? at(frame, call.in[i]) : Bound();
    Value attribute = call.in[i].valid() ? bound.constant : operand.standard.value();
    if (operand.at_run || operand.kind == OperandKind::tensors)
      throw not_built(call.span, fmt::format("'{}'", call.op->name));
    const bool read = operand.kind == OperandKind::tensor || types[i].is_tensor() ||
                      (operand.kind == OperandKind::value && bound.kind == Bound::Kind::value);
    if (read && bound.kind == Bound::Kind::value) {
      const bool host = code_[bound.value].kind == ViewCode::Item::Kind::host;
      const bool beside = host && operand.kind == OperandKind::tensor;
      step.in.push_back(beside ? beside_tensors(as(bound, frame.function[call.in[i]].type, call.span),
                                                tensors ? scalar_precision(types, i) : call.type.precision, call.span)
                               : bound.value);
      attribute = Value();
    } else if (bound.kind == Bound::Kind::value && attribute.is_none()) {
      throw not_built(call.span, fmt::format("operand '{}' of '{}' that is no constant", operand.name, call.op->name));
    }
    step.attributes.push_back(std::move(attribute));
  }
  Bound made;
  made.kind = Bound::Kind::value;
  made.value = emit(std::move(step), code_.add({.precision = call.type.precision}));
  return made;
}

// fill(f64[1], v): v as such an element.
ViewCodeMaker::Bound ViewCodeMaker::filled(const Frame& frame, const Call& call) {
  const Bound value = at(frame, call.in[1]);
  if (value.kind != Bound::Kind::value) throw not_built(call.span, "such a fill");
  Bound made;
  made.kind = Bound::Kind::value;
  made.value = beside_tensors(value, call.type.precision, call.span);
  return made;
}

ViewValue ViewCodeMaker::beside_tensors(const Bound& number, Precision precision, Span span) {
  if (!number.constant.is_none()) return known(Value(scalar_array(number.constant, precision)), span).value;
  return emit({.kind = Kind::convert, .span = span, .in = {number.value}}, code_.add({.precision = precision}));
}

// ---- data -----------------------------------------------------------------------------------------

// Of a field of narrower ints.
ViewValue ViewCodeMaker::index(ViewValue number, Span span) {
  const Precision precision = code_[number].precision;
  if (precision == Precision::i64) return number;
  if (is_float(precision) || precision == Precision::boolean) throw not_built(span, "an index that is no integer");
  ViewStep step{.kind = Kind::op, .span = span, .in = {number}, .op = request_.ops.find_operator("as", 2)};
  step.attributes = {Value(), Value(Type::tensor(Precision::i64, {}))};
  return emit(std::move(step), code_.add({.precision = Precision::i64}));
}

void ViewCodeMaker::access(Frame& frame, CallId id, Kind kind) {
  const Call& call = frame.function[id];
  const Bound& view = at(frame, call.in[0]);
  ViewStep step{.kind = kind, .span = call.span};
  step.view = view.view;
  step.field = field_of(view, call.name);
  for (std::size_t i = 1; i < call.in.size(); ++i) step.in.push_back(value(frame, call.in[i]));
  for (std::size_t i = 0; i < code_.views[view.view].rank; ++i) step.in[i] = index(step.in[i], call.span);
  if (kind == Kind::fold) {
    constexpr std::string_view names[] = {"add", "mul", "minimum", "maximum"};  // by ReduceOp
    step.op = request_.ops.find(names[call.index]);
  }
  if (kind == Kind::store || kind == Kind::fold) {
    ++writes_[{step.view, step.field}];
    block_->push_back(std::move(step));
    return;
  }
  const Precision precision = code_.views[step.view].fields[step.field].precision;
  frame.calls[id.index()] = {};
  frame.calls[id.index()].kind = Bound::Kind::value;
  frame.calls[id.index()].value = emit(std::move(step), code_.add({.precision = precision}));
}

std::uint32_t ViewCodeMaker::field_of(const Bound& view, const std::string& name) const {
  const std::vector<ViewCode::Field>& fields = code_.views[view.view].fields;
  return static_cast<std::uint32_t>(std::ranges::find(fields, name, &ViewCode::Field::name) - fields.begin());
}

}  // namespace taskspec
