// A bounded queue of messages from one thread to another, without locks and without waiting: who finds it full or
// empty decides what to do then. It holds no more memory than was once needed at a time: rings that grow up to
// the capacity, because most channels of a program carry a single message.
//
//   MessageQueue queue(64);
//   queue.put(message)      // by the writer: false when full
//   queue.take(message)     // by the reader: false when empty
//
// Positions count messages and only grow. That they are published in one order for all threads (seq_cst) lets
// somebody announce that he will sleep, look once more, and be sure that the other saw one of the two.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <optional>

#include "interp/control/message.hpp"

namespace taskspec {

class MessageQueue {
 public:
  explicit MessageQueue(std::size_t capacity) : capacity_(std::clamp<std::size_t>(capacity, 1, largest)) {}

  // By the writer. Takes the message only if there is room.
  bool put(Message& message) {
    const std::uint64_t at = written_.load(std::memory_order_relaxed);
    if (at == room_until_ && !find_room(at)) return false;
    (*writing_)[at] = std::move(message);
    written_.store(at + 1, std::memory_order_seq_cst);
    return true;
  }

  // By the reader.
  bool take(std::optional<Message>& message) {
    const std::uint64_t at = taken_.load(std::memory_order_relaxed);
    if (at == written_seen_ && !look_for_more()) return false;
    if (at == rings_->end.load(std::memory_order_relaxed)) rings_ = std::move(rings_->next);
    message.emplace(std::move((*rings_)[at]));
    taken_.store(at + 1, std::memory_order_seq_cst);
    return true;
  }
  bool empty() const { return taken_.load(std::memory_order_relaxed) == written_.load(std::memory_order_seq_cst); }

  std::uint64_t written() const { return written_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t largest = std::size_t{1} << 32, first_size = 2, growth = 4;

  struct Ring {
    Ring(std::uint64_t begin, std::size_t size) : begin(begin), mask(size - 1), slots(new Message[size]) {}
    Message& operator[](std::uint64_t position) { return slots[position & mask]; }
    std::size_t size() const { return mask + 1; }

    const std::uint64_t begin;  // position of its first message
    const std::uint64_t mask;
    const std::unique_ptr<Message[]> slots;
    std::atomic<std::uint64_t> end{UINT64_MAX};  // position from which on messages are in `next`
    std::unique_ptr<Ring> next;
  };

  bool find_room(std::uint64_t at) {
    const std::uint64_t taken = taken_.load(std::memory_order_seq_cst);
    if (at - taken >= capacity_) return false;
    if (!writing_ || at - std::max(taken, writing_->begin) >= writing_->size()) grow(at);
    room_until_ = std::min(taken + capacity_, std::max(taken, writing_->begin) + writing_->size());
    return true;
  }

  // What the writer does here becomes visible to the reader with the next position written.
  void grow(std::uint64_t at) {
    const std::size_t wanted = writing_ ? writing_->size() * growth : first_size;
    auto ring = std::make_unique<Ring>(at, std::min(wanted, std::bit_ceil(capacity_)));
    Ring* old = std::exchange(writing_, ring.get());
    if (!old) {
      rings_ = std::move(ring);
      return;
    }
    old->next = std::move(ring);
    old->end.store(at, std::memory_order_relaxed);
  }

  bool look_for_more() {
    const std::uint64_t seen = std::exchange(written_seen_, written_.load(std::memory_order_seq_cst));
    return seen != written_seen_;
  }

  const std::size_t capacity_;
  // Of the writer.
  alignas(64) std::atomic<std::uint64_t> written_{0};
  std::uint64_t room_until_ = 0;  // position before which the writer need not look
  Ring* writing_ = nullptr;
  // Of the reader.
  alignas(64) std::atomic<std::uint64_t> taken_{0};
  std::uint64_t written_seen_ = 0;
  std::unique_ptr<Ring> rings_;  // the oldest with messages; the writer makes the first
};

}  // namespace taskspec
