// The deque of one worker, after Chase and Lev: the owner pushes and pops at the bottom, thieves take from
// the top. An entry is a range of positions in a list of ready steps, so that a step which makes a million
// others ready pushes once.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace taskspec {

struct StepRange {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
};

class StepDeque {
 public:
  StepDeque() { ring_.store(grow(64), std::memory_order_relaxed); }

  // Owner only; false when it is full and there is no memory for a larger one. The store of `bottom_` is sequentially
  // consistent, so that whoever goes to sleep afterwards and looks once more sees the new entry, or is seen by us.
  bool push(StepRange range) {
    std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    Ring* ring = ring_.load(std::memory_order_relaxed);
    if (bottom - top_.load(std::memory_order_acquire) >= ring->capacity()) ring = larger(bottom);
    if (!ring) return false;
    ring->put(bottom, range);
    bottom_.store(bottom + 1, std::memory_order_seq_cst);
    return true;
  }

  bool pop(StepRange& range) {
    std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    if (top_.load(std::memory_order_relaxed) > bottom) return false;
    bottom_.store(bottom, std::memory_order_seq_cst);
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    if (top > bottom) return restore(bottom, false);
    range = ring_.load(std::memory_order_relaxed)->get(bottom);
    if (top < bottom) return true;
    // The last entry: a thief may want it too.
    return restore(bottom, top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst));
  }

  // Any thread. False when empty or when somebody else was faster.
  bool steal(StepRange& range) {
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    if (top >= bottom_.load(std::memory_order_seq_cst)) return false;
    range = ring_.load(std::memory_order_acquire)->get(top);
    return top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst);
  }

  bool empty() const { return top_.load(std::memory_order_seq_cst) >= bottom_.load(std::memory_order_seq_cst); }

 private:
  class Ring {
   public:
    explicit Ring(std::int64_t capacity) : mask_(capacity - 1), slots_(new std::atomic<std::uint64_t>[capacity]) {}
    std::int64_t capacity() const { return mask_ + 1; }
    void put(std::int64_t at, StepRange r) {
      slots_[at & mask_].store(r.begin | static_cast<std::uint64_t>(r.end) << 32, std::memory_order_relaxed);
    }
    StepRange get(std::int64_t at) const {
      std::uint64_t packed = slots_[at & mask_].load(std::memory_order_relaxed);
      return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32)};
    }

   private:
    std::int64_t mask_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> slots_;
  };

  bool restore(std::int64_t bottom, bool won) {
    bottom_.store(bottom + 1, std::memory_order_relaxed);
    return won;
  }

  Ring* grow(std::int64_t capacity) { return rings_.emplace_back(std::make_unique<Ring>(capacity)).get(); }

  // Old rings stay: a thief may be reading one. All of them together are as large as the newest.
  Ring* larger(std::int64_t bottom) {
    Ring* old = ring_.load(std::memory_order_relaxed);
    Ring* ring = nullptr;
    try {
      ring = grow(old->capacity() * 2);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    for (std::int64_t i = top_.load(std::memory_order_acquire); i < bottom; ++i) ring->put(i, old->get(i));
    ring_.store(ring, std::memory_order_release);
    return ring;
  }

  alignas(64) std::atomic<std::int64_t> top_{0};
  alignas(64) std::atomic<std::int64_t> bottom_{0};
  std::atomic<Ring*> ring_{nullptr};
  std::vector<std::unique_ptr<Ring>> rings_;
};

}  // namespace taskspec
