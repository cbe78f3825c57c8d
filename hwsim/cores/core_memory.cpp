#include "hwsim/cores/core_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "hwsim/map/buffer_places.hpp"

namespace taskspec {

namespace {

// Which bytes of a word lie in [begin, end).
std::uint8_t bytes_in(std::int64_t w, std::int64_t begin, std::int64_t end) {
  const std::int64_t low = std::max<std::int64_t>(0, begin - w * 8), high = std::min<std::int64_t>(8, end - w * 8);
  return static_cast<std::uint8_t>((0xff << low) & (0xff >> (8 - high)));
}

}  // namespace

CoreMemory::CoreMemory(const ChipProgram& program, std::int32_t core)
    : program_(program),
      chip_(*program.chip),
      core_(program.cores[static_cast<std::size_t>(core)]),
      position_(core),
      place_{.core = core} {
  std::int64_t end = 0;
  for (const ChipBank& bank : chip_.banks) end = std::max(end, bank.end());
  bytes_.resize(static_cast<std::size_t>(end));
  words_.resize(static_cast<std::size_t>((end + word - 1) / word));
  for (const ChipBuffer& buffer : core_.buffers) {
    holds_.push_back(bytes_with_elements(buffer.layout));
    unread_.emplace_back(static_cast<std::size_t>(buffer.slots));
    rows_.emplace_back(static_cast<std::size_t>(buffer.kept_rows), -1);
  }
  load();
}

void CoreMemory::load() {
  for (std::size_t i = 0; i < core_.buffers.size(); ++i) {
    const ChipBuffer& buffer = core_.buffers[i];
    const auto number = static_cast<std::int32_t>(i);
    place_ = user_of(program_, position_, number);  // who is to read it
    const bool begins_with_zeros = buffer.use == BufferUse::state;
    if (buffer.data || begins_with_zeros) {
      std::byte* memory = write(number, 0, always);
      std::memset(memory, 0, static_cast<std::size_t>(buffer.layout.bytes));
      if (buffer.data) put(buffer.layout, *buffer.data, memory);
    }
    if (buffer.step_rows > 0) load_rows(number);
    for (std::size_t slot = 0; slot < buffer.early.size() && buffer.step_rows == 0; ++slot) {
      // As if it had come in packets for that step.
      std::byte* memory = write(number, static_cast<std::int64_t>(slot), static_cast<std::int64_t>(slot));
      std::memset(memory, 0, static_cast<std::size_t>(buffer.layout.bytes));
      put(buffer.layout, buffer.early[slot], memory);
    }
  }
}

// Rows of the first steps, as if they had come for these.
void CoreMemory::load_rows(std::int32_t number) {
  const ChipBuffer& ring = buffer(number);
  Extents size = ring.layout.type.extents;
  size[0] = 1;
  const ChipLayout row_layout = part_of(ring.layout, size);
  const std::int64_t row_bytes = ring.layout.strides[0] / 8;
  for (std::size_t i = 0; i < ring.early.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i);
    const std::int64_t per_row = ring.early[i].elements() / ring.step_rows;
    for (std::int64_t row = 0; row < ring.step_rows; ++row) {
      const std::int64_t behind = step * ring.step_rows + row;
      std::byte* memory = write_row(number, behind % ring.kept_rows, behind + ring.box.position[0], step, 0, row_bytes);
      put(row_layout, ring.early[i], memory, row * per_row);
    }
  }
}

void CoreMemory::fault(std::int32_t number, std::int64_t at, const std::string& what) const {
  FaultPlace place = place_;
  if (!place.block.valid()) place.block = user_of(program_, position_, number).block;
  chip_fault(program_, place, fmt::format("{} '{}' at address {:#x}", what, buffer(number).name, at));
}

std::int64_t CoreMemory::address(std::int32_t number, std::int64_t slot, std::int64_t begin, std::int64_t bytes) const {
  const ChipBuffer& b = buffer(number);
  const std::int64_t at = b.address + slot * b.slot_bytes() + begin;
  if (begin < 0 || bytes < 0 || begin + bytes > b.layout.bytes || slot < 0 || slot >= b.slots)
    fault(number, at, "an access outside of");
  if (b.address % word != 0) fault(number, at, "no line begins where there is");
  const ChipBank* first = chip_.bank_at(at);
  const ChipBank* last = bytes > 0 ? chip_.bank_at(at + bytes - 1) : first;
  if (!first || !last) fault(number, at, "no bank has");
  if (!first->holds(role_of(b)) || !last->holds(role_of(b))) fault(number, at, "a bank has not the role for");
  return at;
}

void CoreMemory::check(std::int32_t number, std::int64_t w, std::uint8_t mask, std::int64_t step) const {
  const Word& entry = words_[static_cast<std::size_t>(w)];
  if (entry.writer != number) {
    if (entry.writer < 0) fault(number, w * word, "nobody wrote what is read of");
    fault(number, w * word, fmt::format("'{}' was written over what is read of", buffer(entry.writer).name));
  }
  const BufferUse use = buffer(number).use;
  const bool stays = use == BufferUse::state || use == BufferUse::memory;
  const int there = entry.loaded | (stays || entry.step == step ? entry.written : 0);
  if ((mask & ~there) != 0) fault(number, w * word, "nobody wrote in this step what is read of");
}

void CoreMemory::mark(std::int32_t number, std::int64_t w, std::uint8_t mask, std::int64_t step) {
  Word& entry = at_word(w);
  if (entry.writer != number) {
    if (entry.unread != 0)
      fault(number, w * word,
            fmt::format("packets of '{}', which nobody has read, lie under", buffer(entry.writer).name));
    entry = {.writer = number};
  }
  const auto others = static_cast<std::uint8_t>(~mask);
  if (step == always) {
    entry.loaded |= mask;
    entry.written &= others;
    return;
  }
  const BufferUse use = buffer(number).use;
  if (entry.step != step && use != BufferUse::state && use != BufferUse::memory) entry.written = 0;
  entry.step = step;
  entry.written |= mask;
  entry.loaded &= others;
}

const std::byte* CoreMemory::read(std::int32_t number, std::int64_t slot, std::int64_t step) const {
  const std::int64_t at = address(number, slot, 0, buffer(number).layout.bytes);
  const std::vector<std::uint8_t>& holds = holds_[static_cast<std::size_t>(number)];
  for (std::size_t i = 0; i < holds.size(); ++i)
    if (holds[i] != 0) check(number, at / word + static_cast<std::int64_t>(i), holds[i], step);
  return bytes_.data() + at;
}

const std::byte* CoreMemory::read(std::int32_t number, std::int64_t slot, std::int64_t step, std::int64_t begin,
                                  std::int64_t bytes) const {
  const std::int64_t at = address(number, slot, begin, bytes);
  for (std::int64_t w = at / word; w * word < at + bytes; ++w) check(number, w, bytes_in(w, at, at + bytes), step);
  return bytes_.data() + at;
}

std::byte* CoreMemory::write(std::int32_t number, std::int64_t slot, std::int64_t step) {
  const std::int64_t at = address(number, slot, 0, buffer(number).layout.bytes);
  const std::vector<std::uint8_t>& holds = holds_[static_cast<std::size_t>(number)];
  for (std::size_t i = 0; i < holds.size(); ++i) mark(number, at / word + static_cast<std::int64_t>(i), holds[i], step);
  return bytes_.data() + at;
}

std::byte* CoreMemory::write(std::int32_t number, std::int64_t slot, std::int64_t step, std::int64_t begin,
                             std::int64_t bytes) {
  const std::int64_t at = address(number, slot, begin, bytes);
  for (std::int64_t w = at / word; w * word < at + bytes; ++w) mark(number, w, bytes_in(w, at, at + bytes), step);
  return bytes_.data() + at;
}

std::int64_t CoreMemory::row_address(std::int32_t number, std::int64_t at, std::int64_t begin,
                                     std::int64_t bytes) const {
  const ChipBuffer& b = buffer(number);
  const std::int64_t row_bytes = b.layout.strides[0] / 8;
  if (at < 0 || at >= b.kept_rows || begin < 0 || begin + bytes > row_bytes)
    fault(number, b.address + at * row_bytes + begin, "an access outside of");
  return address(number, 0, at * row_bytes + begin, bytes);
}

const std::byte* CoreMemory::read_row(std::int32_t number, std::int64_t at, std::int64_t row, std::int64_t step,
                                      std::int64_t begin, std::int64_t end) const {
  const std::int64_t from = row_address(number, at, begin, end - begin);
  const std::int64_t there = rows_[static_cast<std::size_t>(number)][static_cast<std::size_t>(at)];
  if (there != row) fault(number, from, fmt::format("row {} lies where row {} is read of", there, row));
  const std::vector<std::uint8_t>& holds = holds_[static_cast<std::size_t>(number)];
  const std::int64_t first = buffer(number).address / word;
  for (std::int64_t w = from / word; w * word < from + end - begin; ++w) {
    const int mask = bytes_in(w, from, from + end - begin) & holds[static_cast<std::size_t>(w - first)];
    if (mask != 0) check(number, w, static_cast<std::uint8_t>(mask), step);
  }
  return bytes_.data() + from;
}

std::byte* CoreMemory::write_row(std::int32_t number, std::int64_t at, std::int64_t row, std::int64_t step,
                                 std::int64_t begin, std::int64_t end) {
  const std::int64_t from = row_address(number, at, begin, end - begin);
  std::int64_t& there = rows_[static_cast<std::size_t>(number)][static_cast<std::size_t>(at)];
  const std::vector<std::uint8_t>& holds = holds_[static_cast<std::size_t>(number)];
  const std::int64_t first = buffer(number).address / word, row_begin = from - begin;
  if (there != row)  // nothing of the row that was there counts for this one
    for (std::int64_t w = row_begin / word; w * word < row_begin + buffer(number).layout.strides[0] / 8; ++w)
      if (Word& entry = at_word(w); entry.writer == number && entry.unread == 0) entry.written = entry.loaded = 0;
  for (std::int64_t w = from / word; w * word < from + end - begin; ++w) {
    const int mask = bytes_in(w, from, from + end - begin) & holds[static_cast<std::size_t>(w - first)];
    if (mask != 0) mark(number, w, static_cast<std::uint8_t>(mask), step);
  }
  there = row;
  return bytes_.data() + from;
}

void CoreMemory::arrive(std::int32_t number, std::int64_t slot, std::int64_t begin, const std::byte* bytes,
                        std::int64_t count, std::int64_t step) {
  const std::int64_t at = address(number, slot, begin, count);
  if (buffer(number).use != BufferUse::receive) fault(number, at, "a packet outside of the receive area, for");
  for (std::int64_t w = at / word; w * word < at + count; ++w) {
    Word& entry = at_word(w);
    const std::uint8_t mask = bytes_in(w, at, at + count);
    const bool is_old = entry.step != step && entry.unread != 0;  // single bytes fill a word together
    if (entry.writer == number && (is_old || (entry.unread & mask) != 0))
      fault(number, w * word, "a packet onto one that nobody has read, in");
    mark(number, w, mask, step);
    entry.unread |= mask;
  }
  unread_[static_cast<std::size_t>(number)][static_cast<std::size_t>(slot)] += count;
  std::memcpy(bytes_.data() + at, bytes, static_cast<std::size_t>(count));
}

void CoreMemory::await(std::int32_t number, std::int64_t slot, const ChipMove::Run& run) {
  const std::int64_t at = address(number, slot, run.byte, run.bytes);
  for (std::int64_t w = at / word; w * word < at + run.bytes; ++w) at_word(w).unread |= bytes_in(w, at, at + run.bytes);
  unread_[static_cast<std::size_t>(number)][static_cast<std::size_t>(slot)] += run.bytes;
}

void CoreMemory::moved(std::int32_t number, std::int64_t slot, const ChipMove::Run& run) {
  const std::int64_t at = address(number, slot, run.byte, run.bytes);
  std::int64_t& left = unread_[static_cast<std::size_t>(number)][static_cast<std::size_t>(slot)];
  for (std::int64_t w = at / word; w * word < at + run.bytes; ++w) {
    Word& entry = at_word(w);
    const int mask = entry.unread & bytes_in(w, at, at + run.bytes);
    left -= std::popcount(static_cast<unsigned>(mask));
    entry.unread = static_cast<std::uint8_t>(entry.unread & ~mask);
    entry.written = static_cast<std::uint8_t>(entry.written & ~mask);  // the next batch has to bring its own
  }
}

std::int32_t CoreMemory::unread(std::int64_t step) const {
  for (std::size_t i = 0; i < unread_.size(); ++i) {
    const std::vector<std::int64_t>& slots = unread_[i];
    const bool is_left = core_.buffers[i].kept_rows > 0
                             ? std::ranges::any_of(slots, [](std::int64_t bytes) { return bytes != 0; })
                             : slots[static_cast<std::size_t>(step) % slots.size()] != 0;
    if (is_left) return static_cast<std::int32_t>(i);
  }
  return no_buffer;
}

}  // namespace taskspec
