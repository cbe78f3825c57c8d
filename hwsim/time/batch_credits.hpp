// Room for what is sent: batches of rows of a stream come through one receive buffer in turn, and the next one has room
// when the one before it was moved; with two slots, the one before that.
#pragma once
#include "hwsim/program/program.hpp"

namespace taskspec {

struct BatchCredits {
  std::vector<std::vector<std::int32_t>> next;  // by message, of the first of each batch: those that may come then
  std::vector<std::int64_t> first;              // by message: items of it that have room before anything was moved
};

// Of a buffer that has no batches, each move makes room for the same messages once more.
BatchCredits batch_credits(const ChipProgram& program);

// Items that wait at most in one receive buffer.
std::int64_t most_room(const ChipProgram& program);

// Ticks until the sender of a message has the credit for its room: as many as a packet takes, if none is in its way.
std::int64_t way_back(const ChipProgram& program, std::int32_t message);

}  // namespace taskspec
