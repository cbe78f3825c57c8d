// Addresses of the buffers of one core: each in a bank with its role, none over another one that lives at the same
// time.
#pragma once
#include <span>

#include "hwsim/program/program.hpp"

namespace taskspec {

struct BufferFit {
  bool fits = false;
  std::int64_t bytes = 0;             // in use at the worst moment; where nothing fits: that would be
  std::int64_t there = 0;             // bytes of the banks that might have held it
  const ChipBuffer* first = nullptr;  // that found no place
};

// Sets the addresses. Greedy by decreasing size; inputs and weights of a call lie in different banks where they can.
BufferFit place_buffers(const Chip& chip, std::span<ChipBuffer> buffers, std::int32_t phases);

// Do both live in some phase?
bool live_together(const ChipBuffer& a, const ChipBuffer& b, std::int32_t phases);
BankRole role_of(const ChipBuffer& buffer);
// Both hold the same for ever, in the same layout.
bool may_be_one(const ChipBuffer& a, const ChipBuffer& b);

}  // namespace taskspec
