#include "interp/embed/natives.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "frontend/dsl/record.hpp"
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
  void call() const {
    if (more_ > 0 || given_.size() < native_.parameters.size())
      throw std::runtime_error(fmt::format("the C++ function takes {} parameters, the task gives it {}",
                                           native_.parameters.size(), given_.size() + more_));
    native_.call(given_);
  }

 private:
  // Of an extern of a text the signature is only known here.
  void require_fit(const NativeParameter& wanted, const Value& value, bool is_output) const {
    bool fits = wanted.is_tensor == value.is_array() && wanted.is_output == is_output;
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
