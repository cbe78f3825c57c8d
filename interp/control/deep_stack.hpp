// Runs a function on a thread with a stack deep enough for 10^6 nested calls of a host program.
#pragma once
#include <functional>

namespace taskspec {

void with_deep_stack(const std::function<void()>& body);

}  // namespace taskspec
