// One call of an op, on the calling thread: what is known before a graph runs is computed so, and what an op does to
// places or to single numbers is asked of its own kernel.
#pragma once
#include "ir/records/op.hpp"

namespace taskspec {

std::vector<Array> evaluate(const OpInstance& op, std::span<const Array> tensors);  // throws Error

}  // namespace taskspec
