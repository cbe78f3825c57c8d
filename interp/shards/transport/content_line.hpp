// Small contents from one shard to another of the same machine, without a lock: a ring of messages that the one writes
// and the other reads where they lie. What is too long for it, or finds no room, goes as any other message: contents
// are numbered, so that both ways are one.
//
//   if (std::byte* room = line.room(8)) std::memcpy(room, element, 8), line.send({.number = 17, .bytes = 8});
//   if (const ContentLine::Head* next = line.next()) ... line.contents() ..., line.take();
//
// One thread at a time sends, and one takes. A line of the cache goes over once for a message: who takes writes to no
// slot, and says only now and then how far it is.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ir/base/fetch_to_write.hpp"

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
    if (bytes > longest) return nullptr;
    if (sent_ - known_taken_ == size) known_taken_ = told_taken_.load(std::memory_order_acquire);
    return sent_ - known_taken_ == size ? nullptr : slots_[sent_ % size].bytes.data();
  }
  void send(const Head& head) {
    Slot& slot = slots_[sent_ % size];
    slot.head = head;
    slot.message.store(++sent_, std::memory_order_release);
    fetch_room();  // the other side has read it long ago
  }
  // Something is sent soon: the other side, which looks whether it has come, has taken the line of the cache over.
  void fetch_room() const { fetch_to_write(&slots_[sent_ % size]); }

  bool has_come() const { return slots_[taken_ % size].message.load(std::memory_order_acquire) == taken_ + 1; }
  const Head* next() const { return has_come() ? &slots_[taken_ % size].head : nullptr; }  // null: nothing has come
  const std::byte* contents() const { return slots_[taken_ % size].bytes.data(); }         // of the next
  void take() {
    if (++taken_ % told_each == 0) told_taken_.store(taken_, std::memory_order_release);
  }

  // Messages that go another way, to the same side: who takes them need not look there while it has had as many.
  void sends_beside() { beside_.store(beside_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  std::uint64_t sent_beside() const { return beside_.load(std::memory_order_acquire); }

 private:
  static constexpr std::size_t size = 32, told_each = 8;
  // Two lines of the cache, of which contents of a few elements need one.
  struct alignas(128) Slot {
    std::atomic<std::uint64_t> message = 0;  // which one of the line it is, from 1
    Head head;
    std::array<std::byte, longest> bytes;
  };
  static_assert(sizeof(Slot) == 128);
  std::array<Slot, size> slots_{};
  // Each written by one side alone.
  alignas(128) std::uint64_t sent_ = 0;
  std::uint64_t known_taken_ = 0;
  alignas(128) std::uint64_t taken_ = 0;
  alignas(128) std::atomic<std::uint64_t> told_taken_ = 0;
  alignas(128) std::atomic<std::uint64_t> beside_ = 0;
};

}  // namespace taskspec
