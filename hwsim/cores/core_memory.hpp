// The memory of a core, with a shadow that knows who wrote what: reading what nobody wrote in this step, or what
// another buffer has written over, is a fault of the mapping, and is told as one (E5012).
#pragma once
#include <functional>
#include <vector>

#include "hwsim/program/fault_place.hpp"

namespace taskspec {

class CoreMemory {
 public:
  // Of a core, by its position. The program stays where it is.
  CoreMemory(const ChipProgram& program, std::int32_t core);

  // Who works on it from now on: told with faults. Without a block it is that of the buffer concerned.
  void works(std::int32_t phase, ChipStage stage, BlockId block = {}, std::int32_t message = ChipMessage::no_message) {
    place_ = {.core = position_, .phase = phase, .stage = stage, .block = block, .message = message};
  }
  void works(ChipStage stage, BlockId block) { works(place_.phase, stage, block); }  // in the same phase

  // Bytes of a buffer's slot, checked. Of `write` the bytes of elements become that buffer's.
  const std::byte* read(std::int32_t buffer, std::int64_t slot, std::int64_t step) const;
  const std::byte* read(std::int32_t buffer, std::int64_t slot, std::int64_t step, std::int64_t begin,
                        std::int64_t bytes) const;
  std::byte* write(std::int32_t buffer, std::int64_t slot, std::int64_t step);
  std::byte* write(std::int32_t buffer, std::int64_t slot, std::int64_t step, std::int64_t begin, std::int64_t bytes);

  // Of a buffer that keeps rows: elements in [begin, end) of place `at`, where row `row` should be; and to there.
  const std::byte* read_row(std::int32_t buffer, std::int64_t at, std::int64_t row, std::int64_t step,
                            std::int64_t begin, std::int64_t end) const;
  std::byte* write_row(std::int32_t buffer, std::int64_t at, std::int64_t row, std::int64_t step, std::int64_t begin,
                       std::int64_t end);

  // Packets: what has come and was not moved yet; what was loaded in place of packets.
  void arrive(std::int32_t buffer, std::int64_t slot, std::int64_t begin, const std::byte* bytes, std::int64_t count,
              std::int64_t step);
  void await(std::int32_t buffer, std::int64_t slot, const ChipMove::Run& run);
  void moved(std::int32_t buffer, std::int64_t slot, const ChipMove::Run& run);
  // A buffer with a packet of that step that nobody moved; none: no_buffer.
  std::int32_t unread(std::int64_t step) const;

  const ChipBuffer& buffer(std::int32_t number) const { return core_.buffers[static_cast<std::size_t>(number)]; }

 private:
  static constexpr std::int64_t word = 8, always = INT64_MAX;
  // Bits are bytes of the word.
  struct Word {
    std::int64_t step = -1;                            // of the last write
    std::int32_t writer = -1;                          // buffer
    std::uint8_t loaded = 0, written = 0, unread = 0;  // before the first step, in that step, and not moved since
  };
  Word& at_word(std::int64_t w) { return words_[static_cast<std::size_t>(w)]; }
  std::int64_t address(std::int32_t buffer, std::int64_t slot, std::int64_t begin, std::int64_t bytes) const;
  void check(std::int32_t buffer, std::int64_t word, std::uint8_t mask, std::int64_t step) const;
  void load();  // first contents of all buffers
  void load_rows(std::int32_t buffer);
  void mark(std::int32_t buffer, std::int64_t word, std::uint8_t mask, std::int64_t step);
  std::int64_t row_address(std::int32_t buffer, std::int64_t at, std::int64_t begin, std::int64_t bytes) const;
  [[noreturn]] void fault(std::int32_t buffer, std::int64_t at, const std::string& what) const;

  const ChipProgram& program_;
  const Chip& chip_;
  const ChipCore& core_;
  std::int32_t position_ = 0;
  FaultPlace place_;
  std::vector<std::byte> bytes_;
  std::vector<Word> words_;
  std::vector<std::vector<std::uint8_t>> holds_;   // by buffer and word: which bytes hold elements
  std::vector<std::vector<std::int64_t>> unread_;  // by buffer and slot: bytes
  std::vector<std::vector<std::int64_t>> rows_;    // by buffer that keeps rows, and place: which row is there
};

}  // namespace taskspec
