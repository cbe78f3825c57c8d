// Small contents from one shard to another of the same machine, without a lock: a ring of messages that the one writes
// and the other reads where they lie. What is too long for it, or finds no room, goes as any other message: contents
// are numbered, so that both ways are one.
//
//   if (std::byte* room = line.room(8)) std::memcpy(room, element, 8), line.send({.number = 17, .bytes = 8});
//   if (const ContentLine::Head* next = line.next()) ... line.contents() ..., line.take();
//
// One thread at a time sends, and one takes.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace taskspec {

class ContentLine {
 public:
  static constexpr std::size_t longest = 88;  // bytes
  struct Head {
    std::uint32_t network = 0;  // several of a process may use one line, one after the other
    std::uint32_t mark = 0;
    std::uint64_t number = 0;  // of the contents that the sender has for this shard
    std::uint64_t time = 0;    // Lamport's clock of the sender
    std::uint64_t bytes = 0;
  };

  // Where contents are put before they are sent; null: there is no room.
  std::byte* room(std::size_t bytes) {
    Slot& slot = slots_[sent_ % slots_.size()];
    return bytes > longest || slot.is_full.load(std::memory_order_acquire) ? nullptr : slot.bytes.data();
  }
  // Who sends looks behind it whether the other one sleeps, and who goes to sleep whether something has come: in one
  // order for both, so that one of them sees the other.
  void send(const Head& head) {
    Slot& slot = slots_[sent_++ % slots_.size()];
    slot.head = head;
    slot.is_full.store(true, std::memory_order_seq_cst);
  }
  bool has_come() const { return slots_[taken_ % slots_.size()].is_full.load(std::memory_order_seq_cst); }

  const Head* next() const {  // null: nothing has come
    const Slot& slot = slots_[taken_ % slots_.size()];
    return slot.is_full.load(std::memory_order_acquire) ? &slot.head : nullptr;
  }
  const std::byte* contents() const { return slots_[taken_ % slots_.size()].bytes.data(); }  // of the next
  void take() { slots_[taken_++ % slots_.size()].is_full.store(false, std::memory_order_release); }

 private:
  // Two lines of the cache, of which contents of a few elements need one.
  struct alignas(128) Slot {
    std::atomic<bool> is_full = false;
    Head head;
    std::array<std::byte, longest> bytes;
  };
  static_assert(sizeof(Slot) == 128);
  std::array<Slot, 32> slots_{};
  alignas(128) std::size_t sent_ = 0;
  alignas(128) std::size_t taken_ = 0;
};

}  // namespace taskspec
