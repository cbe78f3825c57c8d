// The backend that runs on the cores of this machine.
//
//   auto backend = make_host_backend({.threads = 2});
//   auto ready = backend->prepare(plan, bodies);
//   Outcome outcome = backend->execute(*ready, inputs, {.schedule = Schedule::push});
#pragma once
#include <memory>

#include "interp/host/plan_backend.hpp"

namespace taskspec {

struct HostOptions {
  std::uint32_t threads = 0;  // workers, the caller included; 0: one per core
  bool poison = false;        // memory that holds nothing is filled with patterns (MemoryOptions)
  bool adaptive = true;       // plans of tiny steps are run by one worker where that is faster (worker_choice.hpp)
};

std::unique_ptr<PlanBackend> make_host_backend(const HostOptions& options = {});

}  // namespace taskspec
