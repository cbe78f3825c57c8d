#include "tests/unit/failing_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

constinit std::atomic<bool> armed{false}, has_failed{false};
constinit std::atomic<std::int64_t> left{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (armed.load(std::memory_order_relaxed) && left.fetch_sub(1, std::memory_order_relaxed) == 1) {
    has_failed.store(true);
    throw std::bad_alloc();
  }
  bytes = std::max<std::size_t>(bytes, 1);
  void* memory = alignment == 0 ? std::malloc(bytes)
                                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* allocate_or_null(std::size_t bytes, std::size_t alignment) noexcept {
  try {
    return allocate(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

// Arrays come here, too. So would the forms that do not throw; but sanitizers bring their own of those.
void* operator new(std::size_t bytes) { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate_or_null(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

FailingMemory::FailingMemory(std::int64_t nth) : nth_(nth) {
  has_failed = false;
  left = nth;
  armed = true;
}

void FailingMemory::stop() { armed = false; }

bool FailingMemory::failed() const { return has_failed; }

std::int64_t FailingMemory::counted() const { return nth_ - left; }
