// Bytes that are equal exactly for values that do the same in a node: part of the name under which its plan is kept.
//
//   put_value(key, Value(3));      put_value(key, closure);    // code, captures and agent, not how it prints
#pragma once
#include "ir/base/key.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

void put_value(std::string& key, const Value& value);

}  // namespace taskspec
