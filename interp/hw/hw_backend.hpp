// The backend of simulated chips: a batch of tasks is lowered to blocks, mapped on the cores, and runs there.
#pragma once
#include "interp/hw/chip_run.hpp"
#include "ir/plan/backend.hpp"

namespace taskspec {

std::unique_ptr<Backend> make_hw_backend(const HwOptions& options);

}  // namespace taskspec
