// Recorded declarations, checked: the Program that a text of the same content would be.
#pragma once
#include <memory>

#include "frontend/dsl/node.hpp"
#include "interp/load.hpp"
#include "ir/base/function_ref.hpp"

namespace taskspec::dsl::detail {

struct Checked {
  Program program;
  FunctionId function;  // the one that was asked for
};

// Made once per function. Throws dsl::Error.
std::shared_ptr<const Checked> checked(const std::shared_ptr<Function>& function);

const Toolbox& toolbox();

// Calls f; an Error of the inside leaves as dsl::Error, with `at` where it knows no place.
void with_places(const Sources& sources, At at, FunctionRef<void()> f);

}  // namespace taskspec::dsl::detail
