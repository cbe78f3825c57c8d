// The reverse of an embedded task, made of the tape of what it did and computed at once.
#pragma once
#include "interp/control/tape.hpp"
#include "ir/graph/embedded_task.hpp"

namespace taskspec {

// `parts`: gradients of the outputs, of each as many as the task says. Gives those of the inputs that are wanted, in
// order: zeros where no output depends on one. E5013 where all ways to one go through ops without a gradient.
std::vector<Array> gradients_of(const Tape& tape, const EmbeddedTask& task, std::span<const Array> parts);

}  // namespace taskspec
