// taskspec embedded in C++: agents, tasks and graphs are written in C++ and run by the runtime of the language.
//
//   #include <taskspec/taskspec.hpp>
//   using namespace taskspec;
//
//   auto twice = graph("twice").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x * 2.0; });
//   std::vector<float> y = twice(tensor({1, 2, 3}, f32)).run().array<float>();
//
// include/taskspec/README.md tells the rest.
#pragma once
#include "taskspec/control.hpp"
#include "taskspec/host_fn.hpp"
#include "taskspec/launch.hpp"
#include "taskspec/ops.hpp"
#include "taskspec/print.hpp"
#include "taskspec/registry.hpp"
#include "taskspec/training.hpp"

namespace taskspec {
using namespace dsl;
}
