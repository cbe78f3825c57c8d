// The task of an `ir` declaration: its body is one call of the op that runs blocks, with their graph as a constant.
#pragma once
#include "ir/blocks/value.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

// The graph of blocks that the function runs; null for a function of another kind.
std::shared_ptr<const BlockGraph> blocks_of(const Program& program, FunctionId function);

}  // namespace taskspec
