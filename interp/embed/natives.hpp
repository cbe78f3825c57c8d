// C++ functions of task(...).native(...) and define_extern, as the runtime calls them.
#pragma once
#include "frontend/dsl/node.hpp"
#include "interp/embed/extern_bodies.hpp"

namespace taskspec::dsl::detail {

NativeBody native_body(const std::shared_ptr<Function>& function);

}  // namespace taskspec::dsl::detail
