// Values that are made when somebody first asks for them, by position. Any thread may ask; who finds one there takes no
// lock. They never move.
//
//   OnceTable<Facts> facts;
//   const Facts& f = facts.get(3, [&](Facts& fresh) { fresh = facts_of(3); });
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace taskspec {

template <class T>
class OnceTable {
 public:
  // `fill` gets the fresh value, of which nobody else knows yet. It must not ask this table.
  template <class Fill>
  T& get(std::size_t at, Fill&& fill) {
    if (T* known = find(at)) return *known;
    std::lock_guard lock(mutex_);
    std::atomic<T*>& slot = made_slot(at);
    if (T* known = slot.load(std::memory_order_relaxed)) return *known;
    auto fresh = std::make_unique<T>();
    fill(*fresh);
    kept_.push_back(std::move(fresh));
    slot.store(kept_.back().get(), std::memory_order_release);
    return *kept_.back();
  }

  // While nobody asks.
  void clear() {
    for (auto& block : blocks_) block.store(nullptr, std::memory_order_relaxed);
    slots_.clear();
    kept_.clear();
  }

 private:
  static constexpr std::size_t first = 16;  // slots of block 0; each block has twice as many as the one before
  static std::size_t block_of(std::size_t at) { return static_cast<std::size_t>(std::bit_width(at / first + 1)) - 1; }
  static std::size_t begin_of(std::size_t block) { return first * ((std::size_t{1} << block) - 1); }

  T* find(std::size_t at) const {
    const std::size_t block = block_of(at);
    std::atomic<T*>* slots = blocks_[block].load(std::memory_order_acquire);
    return slots ? slots[at - begin_of(block)].load(std::memory_order_acquire) : nullptr;
  }
  std::atomic<T*>& made_slot(std::size_t at) {
    const std::size_t block = block_of(at);
    if (!blocks_[block].load(std::memory_order_relaxed)) {
      slots_.push_back(std::make_unique<std::atomic<T*>[]>(first << block));
      blocks_[block].store(slots_.back().get(), std::memory_order_release);
    }
    return blocks_[block].load(std::memory_order_relaxed)[at - begin_of(block)];
  }

  std::array<std::atomic<std::atomic<T*>*>, 32> blocks_{};  // for all positions of 32 bits
  std::mutex mutex_;                                        // of what follows
  std::vector<std::unique_ptr<std::atomic<T*>[]>> slots_;
  std::vector<std::unique_ptr<T>> kept_;
};

}  // namespace taskspec
