#include "interp/host/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "ir/base/large_vector.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

#ifdef NDEBUG
constexpr std::size_t filled = 0;
#else
constexpr std::size_t filled = 1 << 16;  // of a block: this finds the mistakes too, and costs nothing
#endif

void fill_block(std::byte* block, std::size_t bytes, std::byte pattern, const MemoryOptions& options) {
  const std::size_t count = options.poison ? bytes : std::min(bytes, filled);
  if (count > 0) std::memset(block, std::to_integer<int>(pattern), count);
}

Error no_memory(std::size_t bytes) { return failure("E5008", {}, "no memory for " + plural(bytes, "byte")); }

void raise_to(std::atomic<std::uint64_t>& peak, std::uint64_t value) {
  std::uint64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

std::byte* MemoryOptions::take_block(std::size_t bytes) {
  const std::size_t rounded = std::max<std::size_t>((bytes + 63) / 64 * 64, 64);
  return rounded < bytes ? nullptr : static_cast<std::byte*>(std::aligned_alloc(64, rounded));
}

void MemoryOptions::give_block(std::byte* block, std::size_t) { std::free(block); }

MemoryBlock::MemoryBlock(std::size_t bytes, const MemoryOptions& options) : size_(bytes) {
  std::byte* block = options.take(bytes);
  if (!block) throw no_memory(bytes);
  fill_block(block, bytes, MemoryOptions::fresh, options);
  // Where nobody holds them any more, and what others did with them before is done.
  bytes_ = std::shared_ptr<std::byte>(block, [bytes, options](std::byte* p) {
    fill_block(p, bytes, MemoryOptions::dead, options);
    options.give(p, bytes);
  });
}

MemoryBlock MemoryBlock::zeros(std::size_t bytes, const MemoryOptions& options) {
  if (bytes < huge_page) {
    MemoryBlock small(bytes, options);
    if (bytes > 0) std::memset(small.data(), 0, bytes);
    return small;
  }
  MemoryBlock large;
  try {
    large.bytes_ = std::shared_ptr<std::byte>(static_cast<std::byte*>(take_huge_pages(bytes)),
                                              [bytes](std::byte* p) { give_huge_pages(p, bytes); });
  } catch (const std::bad_alloc&) {
    throw no_memory(bytes);
  }
  large.size_ = bytes;
  return large;
}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  if (this == &other) return *this;
  bytes_ = std::move(other.bytes_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

void MemoryCount::take(std::size_t bytes) {
  std::uint64_t live = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (live > limit_) {
    live_.fetch_sub(bytes, std::memory_order_relaxed);
    throw no_memory(bytes);
  }
  allocations_.fetch_add(1, std::memory_order_relaxed);
  raise_to(peak_, live);
  raise_to(run_peak_, live);
}

void MemoryCount::give(std::size_t bytes) {
  live_.fetch_sub(bytes, std::memory_order_relaxed);
  frees_.fetch_add(1, std::memory_order_relaxed);
}

Backend::Memory MemoryCount::now() const {
  return {allocations_.load(std::memory_order_relaxed), frees_.load(std::memory_order_relaxed),
          live_.load(std::memory_order_relaxed), peak_.load(std::memory_order_relaxed)};
}

MemoryBlock BytesCache::borrow(std::size_t bytes) {
  count_.take(bytes);
  {
    std::lock_guard lock(mutex_);
    auto fit = std::lower_bound(idle_.begin(), idle_.end(), bytes,
                                [](const MemoryBlock& block, std::size_t wanted) { return block.size() < wanted; });
    if (fit != idle_.end()) {
      MemoryBlock block = std::move(*fit);
      idle_.erase(fit);
      idle_bytes_ -= block.size();
      if (count_.options().poison) fill_block(block.data(), block.size(), MemoryOptions::fresh, count_.options());
      return block;
    }
  }
  try {
    return MemoryBlock(bytes, count_.options());
  } catch (...) {
    count_.give(bytes);
    throw;
  }
}

void BytesCache::give_back(MemoryBlock block, std::size_t bytes) noexcept {
  count_.give(bytes);
  if (count_.options().poison) fill_block(block.data(), block.size(), MemoryOptions::dead, count_.options());
  std::lock_guard lock(mutex_);
  if (idle_bytes_ + block.size() > memory_limit() / 4) return;
  idle_bytes_ += block.size();
  auto place = std::lower_bound(idle_.begin(), idle_.end(), block.size(),
                                [](const MemoryBlock& other, std::size_t size) { return other.size() < size; });
  idle_.insert(place, std::move(block));
  if (idle_.size() <= kept) return;
  idle_bytes_ -= idle_.front().size();
  idle_.erase(idle_.begin());  // the smallest is the cheapest to ask for again
}

// ---- locations ------------------------------------------------------------------------------------

namespace {

// A Location is a position in the table and how often that was freed before: a stale one does not fit.
constexpr std::uint32_t position_bits = 24;
constexpr std::uint32_t position_mask = (1U << position_bits) - 1;

}  // namespace

Locations::~Locations() {
  for (Entry& e : entries_)
    if (e.live) count_.give(e.block.size());
}

Locations::Entry& Locations::entry(Location location) {
  std::uint32_t position = location.value & position_mask;
  if (!location.valid() || position >= entries_.size()) bug("a location that no backend gave");
  Entry& e = entries_[position];
  if (!e.live || (e.generation & 0xFF) != location.value >> position_bits) bug("use of a location that was freed");
  return e;
}

Location Locations::insert(ArrayType type, MemoryBlock block) {
  if (vacant_.empty()) {
    if (entries_.size() >= position_mask) throw failure("E5008", {}, "more than 16 million values are alive");
    if (vacant_.capacity() <= entries_.size()) vacant_.reserve(std::max<std::size_t>(2 * entries_.size(), 16));
    entries_.emplace_back();
    vacant_.push_back(static_cast<std::uint32_t>(entries_.size() - 1));
  }
  std::uint32_t position = vacant_.back();
  vacant_.pop_back();
  ++changes_;
  Entry& e = entries_[position];
  e.type = std::move(type);
  e.block = std::move(block);
  e.live = true;
  return Location(position | (e.generation & 0xFF) << position_bits);
}

Location Locations::add(const ArrayType& type, bool zeros, std::size_t bytes) {
  count_.take(bytes);
  try {
    ArrayType own = type;
    MemoryBlock block = zeros ? MemoryBlock::zeros(bytes, count_.options()) : MemoryBlock(bytes, count_.options());
    std::lock_guard lock(mutex_);
    return insert(std::move(own), std::move(block));
  } catch (...) {
    count_.give(bytes);
    throw;
  }
}

const ArrayType& Locations::type(Location location) const {
  std::lock_guard lock(mutex_);
  return entry(location).type;
}

std::byte* Locations::data(Location location) const {
  std::lock_guard lock(mutex_);
  return entry(location).block.data();
}

Array Locations::share(Location location) const {
  std::lock_guard lock(mutex_);
  ++changes_;
  const Entry& e = entry(location);
  return Array::wrap(e.type, e.block.storage());
}

void Locations::write(Location location, const Array& array) {
  std::lock_guard lock(mutex_);
  Entry& e = entry(location);
  if (e.type != array.type()) bug("an array of another type was written to a location");
  own(e);
  std::memcpy(e.block.data(), array.raw(), array.bytes());
}

void Locations::write_numbers(std::span<const Location> locations, std::span<const std::uint64_t> bits) {
  std::lock_guard lock(mutex_);
  // Who frees locations, or hands others, changes something: the same list has what it had.
  if (numbers_.changes != changes_ || numbers_.locations.data() != locations.data() ||
      numbers_.locations.size() != locations.size()) {
    numbers_ = {0, locations, {}};
    for (const Location location : locations) {
      Entry& e = entry(location);
      own(e);
      numbers_.bytes.push_back(std::span(e.block.data(), std::min(e.block.size(), sizeof(std::uint64_t))));
    }
    numbers_.changes = changes_;
  }
  for (std::size_t k = 0; k < locations.size(); ++k)
    if (numbers_.bytes[k].size() == sizeof bits[k])  // mostly, and without a call
      std::memcpy(numbers_.bytes[k].data(), &bits[k], sizeof bits[k]);
    else
      std::memcpy(numbers_.bytes[k].data(), &bits[k], numbers_.bytes[k].size());
}

std::byte* Locations::input(Location location, const ArrayType& type, bool alone) {
  Entry& e = entry(location);
  if (e.type != type) bug("an input of another type than its graph says");
  if (alone) own(e);
  return e.block.data();
}

void Locations::own(Entry& e) {
  if (!e.block.shared()) return;
  ++changes_;
  MemoryBlock alone(e.block.size(), count_.options());
  std::memcpy(alone.data(), e.block.data(), e.block.size());
  e.block = std::move(alone);
}

void Locations::free(Location location) noexcept {
  std::lock_guard lock(mutex_);
  Entry& e = entry(location);
  ++changes_;
  count_.give(e.block.size());
  e.block = MemoryBlock();
  e.live = false;
  ++e.generation;
  vacant_.push_back(location.value & position_mask);
}

}  // namespace taskspec
