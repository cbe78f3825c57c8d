// Memory of the host backend: blocks of bytes, the count of what is taken and given back, and the table
// of Locations.
//
//   Location x = locations.add(type, MemoryBlock(type.bytes()));     locations.data(x)     locations.free(x)
//
// A freed Location is recognised when it is used again: that is a mistake of ours and ends in bug().
#pragma once
#include <atomic>
#include <deque>
#include <mutex>

#include "ir/plan/backend.hpp"

namespace taskspec {

// Where blocks come from and go to, and what they are filled with meanwhile.
struct MemoryOptions {
  // All bytes that were taken, lent or given back and nobody has written since are filled with patterns, so that
  // reading them shows. Without it a build with assertions fills the first ones of what is taken and given back.
  bool poison = false;
  std::byte* (*take)(std::size_t bytes) = take_block;  // 64-byte aligned; null: there is no more
  void (*give)(std::byte* block, std::size_t bytes) = give_block;

  static constexpr std::byte fresh{0xCD}, dead{0xDD};  // the patterns

 private:
  static std::byte* take_block(std::size_t bytes);
  static void give_block(std::byte* block, std::size_t bytes);
};

// Bytes, 64-byte aligned. Shared with the Arrays that read() gave away, else owned alone.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  explicit MemoryBlock(std::size_t bytes, const MemoryOptions& options = {});  // throws Error E5008
  // Large ones are pages that the system gives when they are touched.
  static MemoryBlock zeros(std::size_t bytes, const MemoryOptions& options);
  MemoryBlock(MemoryBlock&&) = default;
  MemoryBlock& operator=(MemoryBlock&& other) noexcept;

  std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  bool shared() const { return bytes_.use_count() > 1; }
  const std::shared_ptr<std::byte>& storage() const { return bytes_; }

 private:
  std::shared_ptr<std::byte> bytes_;
  std::size_t size_ = 0;
};

// What is taken and given back, however it is had from the system: the memory that a user pays for.
class MemoryCount {
 public:
  explicit MemoryCount(std::uint64_t limit = memory_limit(), const MemoryOptions& options = {})
      : limit_(limit), options_(options) {}
  const MemoryOptions& options() const { return options_; }
  void take(std::size_t bytes);  // throws Error E5008 when the machine has not got that much
  void give(std::size_t bytes);
  void begin_run() { run_peak_.store(live_.load(std::memory_order_relaxed), std::memory_order_relaxed); }
  std::uint64_t run_peak() const { return run_peak_.load(std::memory_order_relaxed); }
  Backend::Memory now() const;

 private:
  const std::uint64_t limit_;
  const MemoryOptions options_;
  std::atomic<std::uint64_t> allocations_{0}, frees_{0}, live_{0}, peak_{0}, run_peak_{0};
};

// Blocks that runs borrow for arenas and scratch. They stay here between runs, so that a plan that runs
// again asks the system for nothing; the count knows them only while they are lent.
class BytesCache {
 public:
  explicit BytesCache(MemoryCount& count) : count_(count) { idle_.reserve(kept + 1); }
  MemoryBlock borrow(std::size_t bytes);
  void give_back(MemoryBlock block, std::size_t bytes) noexcept;  // `bytes` as borrowed

 private:
  static constexpr std::size_t kept = 16;  // blocks; and a quarter of the memory at most
  MemoryCount& count_;
  std::mutex mutex_;
  std::vector<MemoryBlock> idle_;  // by size
  std::size_t idle_bytes_ = 0;
};

// The Locations of one backend. May be used on several threads.
class Locations {
 public:
  explicit Locations(MemoryCount& count) : count_(count) {}
  ~Locations();
  Location add(const ArrayType& type, bool zeros = false) { return add(type, zeros, type.bytes()); }
  Location add(const ArrayType& type, bool zeros, std::size_t bytes);  // else the bytes are undefined
  const ArrayType& type(Location location) const;                      // stays where it is until the Location is freed
  std::byte* data(Location location) const;
  // The bytes that a run is handed for values of these types, one after the other; `alone`: no Array is to share them.
  // They stay as they are until changes() is another number than this gives.
  template <class Visit>
  std::uint64_t each_input(std::span<const Location> locations, std::span<const ArrayType> types,
                           std::span<const char> alone, Visit&& visit) {
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < locations.size(); ++i) visit(i, input(locations[i], types[i], alone[i] != 0));
    return changes_;
  }
  std::uint64_t changes() const {
    std::lock_guard lock(mutex_);
    return changes_;
  }
  void write(Location location, const Array& array);
  void write_numbers(std::span<const Location> locations, std::span<const std::uint64_t> bits);  // of one element each
  Array share(Location location) const;  // an Array over the bytes themselves
  void free(Location location) noexcept;

 private:
  struct Entry {
    ArrayType type;
    MemoryBlock block;
    std::uint32_t generation = 0;  // one higher after every free
    bool live = false;
  };
  Entry& entry(Location location);
  const Entry& entry(Location location) const { return const_cast<Locations*>(this)->entry(location); }
  std::byte* input(Location location, const ArrayType& type, bool alone);
  Location insert(ArrayType type, MemoryBlock block);
  void own(Entry& entry);  // makes sure that no Array shares the bytes

  mutable std::uint64_t changes_ = 1;  // of where values lie, and of who shares them
  // Where the numbers lie that were written last.
  struct {
    std::uint64_t changes = 0;                 // changes_ then; 0: not known
    std::span<const Location> locations = {};  // the caller's list
    std::vector<std::span<std::byte>> bytes = {};
  } numbers_;
  MemoryCount& count_;
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  std::vector<std::uint32_t> vacant_;  // has room for all: to free takes no memory
};

}  // namespace taskspec
