// The backend that only counts: no task runs, every result is zeros. It shows what a plan would allocate
// and dispatch, at any size.
#pragma once
#include <memory>

#include "interp/host/plan_backend.hpp"

namespace taskspec {

std::unique_ptr<PlanBackend> make_null_backend();

}  // namespace taskspec
