#include "interp/control/function_key.hpp"

#include <algorithm>

#include "interp/control/interpreter.hpp"
#include "interp/control/value_key.hpp"

namespace taskspec {

bool is_plain_value(const Value& value) {
  if (value.is_list()) return std::ranges::all_of(value.list(), is_plain_value);
  if (value.is_tuple()) return std::ranges::all_of(value.tuple().items, is_plain_value);
  return value.is_number() || value.is_bool() || value.is_string() || value.is_range();
}

std::string function_key(const Program& program, const Value& function) {
  auto* callable = function.as<Callable>();
  if (!callable || !callable->agent.is_none() || !std::ranges::all_of(callable->captures, is_plain_value)) return {};
  std::string key;
  put_number(key, program.functions.size());  // at a prompt what it calls may be another one later
  put_value(key, function);
  return key;
}

std::string Interpreter::computed_by(const Value& function, const CallSite& site) const {
  std::string key = function_key(program_, function);
  if (key.empty()) return key;
  const FunctionId callee = applied(*function.as<Callable>(), site);
  if (!callee.valid() || !facts_->only_computes(callee)) return {};
  for (const GlobalUse& use : facts_->globals(callee)) {
    const Value value = global(program_.modules[use.module.index()], use.variable);
    if (!is_plain_value(value)) return {};
    put_value(key, value);
  }
  return key;
}

}  // namespace taskspec
