// The backend that only counts: no task runs, every result is zeros. It shows what a plan would allocate
// and dispatch, at any size.
#pragma once
#include <memory>

#include "ir/backend.hpp"

namespace taskspec {

std::unique_ptr<Backend> make_null_backend();

}  // namespace taskspec
