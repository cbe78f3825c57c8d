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

// An extern of a text: its signature is only known here.
void require_fit(const NativeParameter& wanted, const Value& value, bool is_output, std::size_t position) {
  bool fits = wanted.is_tensor == value.is_array() && wanted.is_output == is_output;
  if (fits && !wanted.is_tensor)
    fits = wanted.precision == (value.is_bool() ? "bool" : value.is_integer() ? "int" : "float");
  if (fits && value.is_array()) fits = wanted.precision == stored_as(std::string(info(value.array().precision()).name));
  if (!fits)
    throw std::runtime_error(
        fmt::format("parameter {} of the C++ function is of another type or direction", position + 1));
}

NativeBody body_of(std::shared_ptr<const Native> native) {
  return [native](std::span<const Value> arguments, std::span<Array> outputs) {
    if (arguments.size() + outputs.size() != native->parameters.size())
      throw std::runtime_error(fmt::format("the C++ function takes {} parameters, the task has {} and {} outputs",
                                           native->parameters.size(), arguments.size(), outputs.size()));
    std::vector<NativeArgument> given;
    auto take = [&](const Value& value, bool is_output) {
      require_fit(native->parameters[given.size()], value, is_output, given.size());
      given.push_back(argument_of(value));
    };
    for (const Value& argument : arguments) take(argument, false);
    for (const Array& output : outputs) take(Value(output), true);
    native->call(given);
  };
}

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
    natives.define(symbol, body_of(std::make_shared<const Native>(*function->native)));
}

Natives& extern_bodies() {
  static Natives bodies;
  return bodies;
}

void define_extern(const Name& symbol, Native native) {
  extern_bodies().define(symbol.text, body_of(std::make_shared<const Native>(std::move(native))));
}

}  // namespace taskspec::dsl::detail
