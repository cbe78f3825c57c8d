// Host values as JSON: what `export(record, "x.json")` writes. Records are objects with their fields in order, lists
// and tuples arrays; what has no form in JSON is the text that print shows.
#pragma once
#include <string>

#include "ir/types/value.hpp"

namespace taskspec {

std::string value_json(const Value& value);

}  // namespace taskspec
