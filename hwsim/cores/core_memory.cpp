#include "hwsim/cores/core_memory.hpp"

#include <fmt/format.h>

#include <cstring>

namespace taskspec {

void chip_fault(const ChipCore& core, const std::string& what) {
  Diag diag("E5012", Severity::error, {}, fmt::format("core {}: {}", core.core, what));
  throw Error(std::move(diag));
}

CoreMemory::CoreMemory(const Chip& chip, const ChipCore& core) : chip_(chip), core_(core) {
  std::int64_t end = 0;
  for (const ChipBank& bank : chip.banks) end = std::max(end, bank.end());
  bytes_.resize(static_cast<std::size_t>(end));
  words_.resize(static_cast<std::size_t>((end + word - 1) / word));
  for (const ChipBuffer& buffer : core.buffers) holds_.push_back(words_with_elements(buffer.layout, word));
  load(core);
}

void CoreMemory::load(const ChipCore& core) {
  for (std::size_t i = 0; i < core.buffers.size(); ++i) {
    const ChipBuffer& buffer = core.buffers[i];
    const auto number = static_cast<std::int32_t>(i);
    const bool begins_with_zeros = buffer.use == BufferUse::state || buffer.use == BufferUse::memory;
    if (buffer.data || begins_with_zeros) {
      std::byte* memory = write(number, 0, always);
      std::memset(memory, 0, static_cast<std::size_t>(buffer.bytes));
      if (buffer.data) put(buffer.layout, *buffer.data, memory);
    }
    for (std::size_t slot = 0; slot < buffer.early.size(); ++slot) {
      std::byte* memory = write(number, static_cast<std::int64_t>(slot), always);
      std::memset(memory, 0, static_cast<std::size_t>(buffer.layout.bytes));
      put(buffer.layout, buffer.early[slot], memory);
    }
  }
}

void CoreMemory::fault(std::int32_t number, std::int64_t at, const std::string& what) const {
  chip_fault(core_, fmt::format("{} '{}' at address {:#x}", what, buffer(number).name, at));
}

std::int64_t CoreMemory::address(std::int32_t number, std::int64_t slot, std::int64_t begin, std::int64_t bytes) const {
  const ChipBuffer& b = buffer(number);
  const std::int64_t at = b.address + slot * b.layout.bytes + begin;
  if (begin < 0 || begin + bytes > b.layout.bytes || slot < 0 || slot >= b.slots)
    fault(number, at, "an access outside of");
  const ChipBank* first = chip_.bank_at(at);
  const ChipBank* last = bytes > 0 ? chip_.bank_at(at + bytes - 1) : first;
  if (!first || !last) fault(number, at, "no bank has");
  return at;
}

void CoreMemory::check(std::int32_t number, std::int64_t w, std::int64_t step) const {
  const Word& entry = words_[static_cast<std::size_t>(w)];
  if (entry.writer != number) {
    if (entry.writer < 0) fault(number, w * word, "nobody wrote what is read of");
    fault(number, w * word, fmt::format("'{}' was written over what is read of", buffer(entry.writer).name));
  }
  const BufferUse use = buffer(number).use;
  if (entry.step != step && entry.step != always && use != BufferUse::state && use != BufferUse::memory)
    fault(number, w * word, "nobody wrote in this step what is read of");
}

void CoreMemory::mark(std::int32_t number, std::int64_t at, std::int64_t bytes, std::int64_t step) {
  for (std::int64_t w = at / word; w <= (at + bytes - 1) / word && bytes > 0; ++w) {
    Word& entry = words_[static_cast<std::size_t>(w)];
    entry.writer = number;
    entry.step = step;
  }
}

const std::byte* CoreMemory::read(std::int32_t number, std::int64_t slot, std::int64_t step) const {
  const std::int64_t at = address(number, slot, 0, buffer(number).layout.bytes);
  const std::vector<bool>& holds = holds_[static_cast<std::size_t>(number)];
  for (std::size_t i = 0; i < holds.size(); ++i)
    if (holds[i]) check(number, at / word + static_cast<std::int64_t>(i), step);
  return bytes_.data() + at;
}

const std::byte* CoreMemory::read(std::int32_t number, std::int64_t slot, std::int64_t step,
                                  const ChipMove::Run& run) const {
  const std::int64_t at = address(number, slot, run.byte, run.bytes);
  for (std::int64_t w = at / word; w <= (at + run.bytes - 1) / word; ++w) check(number, w, step);
  return bytes_.data() + at;
}

std::byte* CoreMemory::write(std::int32_t number, std::int64_t slot, std::int64_t step) {
  const ChipBuffer& b = buffer(number);
  return write(number, slot, step, 0, b.layout.bytes);
}

std::byte* CoreMemory::write(std::int32_t number, std::int64_t slot, std::int64_t step, std::int64_t begin,
                             std::int64_t bytes) {
  const std::int64_t at = address(number, slot, begin, bytes);
  mark(number, at, bytes, step);
  return bytes_.data() + at;
}

void CoreMemory::arrive(std::int32_t number, std::int64_t slot, std::int64_t begin, const std::byte* bytes,
                        std::int64_t count, std::int64_t step) {
  const std::int64_t at = address(number, slot, begin, count);
  const ChipBank* bank = chip_.bank_at(at);
  if (buffer(number).use != BufferUse::receive || !bank->holds(BankRole::receive))
    fault(number, at, "a packet outside of the receive area, for");
  for (std::int64_t w = at / word; w <= (at + count - 1) / word; ++w) {
    Word& entry = words_[static_cast<std::size_t>(w)];
    const bool shares = w * word < at || (w + 1) * word > at + count;  // single bytes fill a word together
    if (entry.is_unread && !shares) fault(number, w * word, "a packet onto one that nobody has read, in");
    entry = {step, number, true};
  }
  std::memcpy(bytes_.data() + at, bytes, static_cast<std::size_t>(count));
}

void CoreMemory::moved(std::int32_t number, std::int64_t slot) {
  const ChipBuffer& b = buffer(number);
  const std::int64_t at = b.address + slot * b.layout.bytes;
  for (std::int64_t w = at / word; w < (at + b.layout.bytes + word - 1) / word; ++w)
    words_[static_cast<std::size_t>(w)].is_unread = false;
}

const ChipBuffer* CoreMemory::unread(bool delayed_too) const {
  for (const Word& entry : words_)
    if (entry.is_unread && entry.writer >= 0)
      if (const ChipBuffer& b = buffer(entry.writer); delayed_too || b.slots == 1) return &b;
  return nullptr;
}

}  // namespace taskspec
