// Do packets bring what the net asks for? Every byte of every message is looked up at both ends: the element of the
// block that its sender made there, and the one that its receiver's net wants there. It knows nothing of how the mapper
// found the ways; done once for a program, before it runs.
#pragma once
#include "hwsim/program/program.hpp"

namespace taskspec {

// Throws Error E5012: a message that brings something else, to somewhere else, twice or not at all; a call or a move
// on buffers that are not its own.
void check_ways(const ChipProgram& program);

}  // namespace taskspec
