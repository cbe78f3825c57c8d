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

}  // namespace

NativeBody native_body(const std::shared_ptr<Function>& function) {
  return body_of(std::make_shared<const Native>(*function->native));
}

Natives& extern_bodies() {
  static Natives bodies;
  return bodies;
}

void define_extern(const Name& symbol, Native native) {
  extern_bodies().define(symbol.text, body_of(std::make_shared<const Native>(std::move(native))));
}

}  // namespace taskspec::dsl::detail
