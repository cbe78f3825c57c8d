// C++ functions of task(...).native(...), host_fn and define_extern, as the runtime calls them.
#pragma once
#include "frontend/dsl/node.hpp"
#include "interp/embed/extern_bodies.hpp"

namespace taskspec::dsl::detail {

// The C++ body of a task or fn.
void define_body(Natives& natives, const std::string& symbol, const std::shared_ptr<Function>& function);

}  // namespace taskspec::dsl::detail
