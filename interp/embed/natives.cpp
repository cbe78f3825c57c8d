#include "interp/embed/natives.hpp"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <stdexcept>

#include "frontend/dsl/record.hpp"
#include "ir/plan/extern_body.hpp"
#include "taskspec/declare.hpp"

namespace taskspec::dsl::detail {

namespace {

NativeArgument argument_of(const Value& value) {
  NativeArgument made;
  if (value.is_array()) {
    Array array = value.array();
    made.data = array.raw();
    made.elements = static_cast<std::size_t>(array.elements());
  } else if (value.is_bool()) {
    made.integer = value.boolean();
  } else if (value.is_integer()) {
    made.integer = value.integer();
  } else if (value.is_real()) {
    made.real = value.real();
  }
  return made;
}

// Parameters of C++ functions take what a call gives them one after the other.
class Given {
 public:
  explicit Given(const Native& native) : native_(native) {}
  void take(const Value& value, bool is_output) {
    if (given_.size() == native_.parameters.size()) return static_cast<void>(++more_);
    require_fit(native_.parameters[given_.size()], value, is_output);
    given_.push_back(argument_of(value));
  }
  // Of a call over views.
  void take(const NativeField& field, taskspec::Precision precision, bool is_output) {
    take({.field = &field}, {stored(precision), true, is_output, field.rank});
  }
  void take(taskspec::Type::Kind kind, const ArrayType& type, const std::byte* bytes) {
    using Kind = taskspec::Type::Kind;
    auto* data = const_cast<std::byte*>(bytes);
    if (kind == Kind::tensor)
      return take({data, static_cast<std::size_t>(type.elements())}, {stored(type.precision), true, false});
    NativeArgument number;
    if (kind == Kind::real)
      std::memcpy(&number.real, bytes, sizeof number.real);
    else if (kind == Kind::integer)
      std::memcpy(&number.integer, bytes, sizeof number.integer);
    else
      number.integer = *bytes != std::byte{0};
    take(number, {kind == Kind::real ? "float" : kind == Kind::integer ? "int" : "bool", false, false});
  }
  void take_output(taskspec::Precision precision, std::size_t elements, std::byte* bytes) {
    take({bytes, elements}, {stored(precision), true, true});
  }

  void call() const {
    if (more_ > 0 || given_.size() < native_.parameters.size())
      throw std::runtime_error(fmt::format("the C++ function takes {} parameters, the task gives it {}",
                                           native_.parameters.size(), given_.size() + more_));
    native_.call(given_);
  }

 private:
  static std::string stored(taskspec::Precision precision) { return stored_as(std::string(info(precision).name)); }
  void take(const NativeArgument& argument, const NativeParameter& is) {
    if (given_.size() == native_.parameters.size()) return static_cast<void>(++more_);
    const NativeParameter& wanted = native_.parameters[given_.size()];
    if (wanted.precision != is.precision || wanted.is_tensor != is.is_tensor || wanted.is_output != is.is_output ||
        wanted.axes != is.axes)
      throw std::runtime_error(
          fmt::format("parameter {} of the C++ function is of another type or direction", given_.size() + 1));
    given_.push_back(argument);
  }
  // Of an extern of a text the signature is only known here.
  void require_fit(const NativeParameter& wanted, const Value& value, bool is_output) const {
    bool fits = wanted.is_tensor == value.is_array() && wanted.is_output == is_output && wanted.axes == 0;
    if (fits && !wanted.is_tensor)
      fits = wanted.precision == (value.is_bool() ? "bool" : value.is_integer() ? "int" : "float");
    if (fits && value.is_array())
      fits = wanted.precision == stored_as(std::string(info(value.array().precision()).name));
    if (!fits)
      throw std::runtime_error(
          fmt::format("parameter {} of the C++ function is of another type or direction", given_.size() + 1));
  }
  const Native& native_;
  std::vector<NativeArgument> given_;
  std::size_t more_ = 0;
};

// One field of a view of one point, as the C++ function gets it.
NativeField field_of(const NativeViewSite::Parameter& parameter, const NativeViewSite::Field& field,
                     const ExternView& view) {
  NativeField made;
  const Rect& box = *view.memory.box;
  made.base = view.fields[field.number];
  made.rank = view.root->rank;
  made.by_number = !view.memory.is_box();
  made.is_box = view.points->is_rect();
  made.checked = checks_native_calls();
  made.name = parameter.name + "." + field.name;
  std::int64_t elements = 1;
  for (std::size_t axis = made.rank; axis-- > 0;) {
    made.origin[axis] = box.lo[axis];
    made.stride[axis] = elements;
    elements *= box.extent(axis);
    made.low[axis] = view.points->rect().lo[axis];
    made.high[axis] = view.points->rect().hi[axis];
  }
  const std::size_t last = made.rank - 1;
  std::int64_t number = 0;
  auto row = [&](const Point& first, std::int64_t count) {
    const PackedPlaces* packed = view.memory.packed;
    NativeField::Row& added =
        made.rows.emplace_back(NativeField::Row{{}, count, packed ? packed->place(view.root->linear(first)) : number});
    for (std::size_t axis = 0; axis < made.rank; ++axis) added.first[axis] = first[axis];
    number += count;
  };
  if (made.is_box) {
    Rect starts = view.points->rect();
    if (starts.empty()) return made;
    starts.hi[last] = starts.lo[last] + 1;
    each_point(starts, [&](const Point& first) { return row(first, view.points->rect().extent(last)), true; });
    return made;
  }
  const std::int64_t width = view.root->extent(last);
  for (const Run& run : view.points->intervals().runs())
    for (std::int64_t lo = run.lo; lo < run.hi;) {
      const std::int64_t end = made.rank == 1 ? run.hi : std::min(run.hi, (lo / width + 1) * width);
      row(view.root->point(lo), end - lo);
      lo = end;
    }
  return made;
}

// Functions on spans, whose parameters go by position.
class SpanBody final : public NativeTaskBody {
 public:
  SpanBody(Native native, std::optional<Native> reverse) : native_(std::move(native)), reverse_(std::move(reverse)) {}

  void forward(const NativeCall& call) const override {
    Given given(native_);
    std::size_t version = call.site.outputs.size();
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      const NativeSite::Parameter& parameter = call.site.parameters[k];
      if (!parameter.of_the_call) continue;
      const bool is_place = parameter.is_place;
      given.take(is_place ? Value(call.outputs[version++]) : call.arguments[k], is_place);
    }
    for (std::size_t i = 0; i < call.site.outputs.size(); ++i) given.take(Value(call.outputs[i]), true);
    given.call();
  }

  void over_views(const NativeViewSite& site, const ExternCall& call) const override {
    std::deque<NativeField> fields;  // which the arguments point into
    Given given(native_);
    std::size_t view = 0, input = 0;
    for (const NativeViewSite::Parameter& parameter : site.parameters) {
      if (parameter.kind != taskspec::Type::Kind::view) {
        given.take(parameter.kind, parameter.type, call.inputs[input++]);
        continue;
      }
      const ExternView& of = call.views[view++];
      for (const NativeViewSite::Field& field : parameter.fields)
        given.take(fields.emplace_back(field_of(parameter, field, of)), field.precision,
                   parameter.privilege != Privilege::in);
    }
    for (std::size_t k = 0; k < site.outputs.size(); ++k)
      given.take_output(site.outputs[k], call.output_elements[k], call.outputs[k]);
    try {
      given.call();
    } catch (const OutsideView& outside) {
      const std::string point = call.point ? ", point " + call.point->text() : "";
      throw failure("E5003", {}, "task '" + site.task + "'" + point + ": " + outside.what());
    }
  }

  bool has_reverse() const override { return reverse_.has_value(); }
  Reverse reverse(const NativeSite& site) const override {
    Reverse all{std::vector<bool>(site.parameters.size(), true), std::vector<bool>(site.outputs.size(), true), {}};
    for (const NativeSite::Parameter& p : site.parameters) all.gives.push_back(p.is_tensor && !p.is_place);
    return all;
  }
  void backward(const NativeCall& call) const override {
    Given given(*reverse_);
    for (std::size_t k = 0; k < call.arguments.size(); ++k)
      if (call.site.parameters[k].of_the_call) given.take(call.arguments[k], false);
    for (const Array& result : call.results) given.take(Value(result), false);
    for (const Array& upstream : call.upstream)
      if (upstream.valid()) given.take(Value(upstream), false);
    for (const Array& gradient : call.outputs) given.take(Value(gradient), true);
    given.call();
  }

 private:
  const Native native_;
  const std::optional<Native> reverse_;
};

// ---- host values ----------------------------------------------------------------------------------

HostValue to_cpp(const Value& value) {
  auto all = [](const List& items) {
    HostValue::List made;
    for (const Value& item : items) made.push_back(to_cpp(item));
    return made;
  };
  if (value.is_bool()) return {value.boolean()};
  if (value.is_integer()) return {value.integer()};
  if (value.is_real()) return {value.real()};
  if (value.is_string()) return {value.string()};
  if (value.is_list()) return {all(value.list())};
  if (value.is_tuple()) return {HostValue::Tuple{all(value.tuple().items)}};
  return {};
}

struct FromCpp {
  Value operator()(std::monostate) const { return {}; }
  template <class T>
  Value operator()(const T& plain) const {
    return Value(plain);
  }
  Value operator()(const HostValue::List& list) const { return Value(all(list)); }
  Value operator()(const HostValue::Tuple& tuple) const { return Value(Tuple{all(tuple.parts)}); }
  static List all(const HostValue::List& list) {
    List items;
    for (const HostValue& part : list) items.push_back(std::visit(FromCpp(), part.data));
    return items;
  }
};

HostBody host_body(const std::shared_ptr<Function>& function) {
  return [function](std::span<const Value> arguments) {
    std::vector<HostValue> given;
    for (const Value& argument : arguments) given.push_back(to_cpp(argument));
    return std::visit(FromCpp(), function->host->call(given).data);
  };
}

}  // namespace

void define_body(Natives& natives, const std::string& symbol, const std::shared_ptr<Function>& function) {
  if (function->host)
    natives.define_host(symbol, host_body(function));
  else
    natives.define(symbol, std::make_shared<const SpanBody>(*function->native, function->backward));
}

void define_extern(const Name& symbol, Native native, std::optional<Native> backward) {
  extern_bodies().define(symbol.text, std::make_shared<const SpanBody>(std::move(native), std::move(backward)));
}

}  // namespace taskspec::dsl::detail

void taskspec::dsl::check_native_tasks(bool on) { check_native_calls(on); }
