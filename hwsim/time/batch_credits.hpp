// Room for batches of rows: those of a stream share a receive buffer, and what is sent next has room when the one
// before it was moved.
#pragma once
#include "hwsim/program/program.hpp"

namespace taskspec {

struct BatchCredits {
  std::vector<std::vector<std::int32_t>> next;  // by message, of the first of each batch: those that may come then
  // By message, before anything was moved: 0, or -1 for batches of a step that wait for one before them.
  std::vector<std::int64_t> first;
};

// Of a buffer that has no batches, each move makes room for the same messages once more.
BatchCredits batch_credits(const ChipProgram& program);

}  // namespace taskspec
