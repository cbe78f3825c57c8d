// A vector that may hold millions of entries: then it lies on huge pages where the system has them, and its memory
// goes back as soon as it is freed. Filling fresh memory page by page costs more than what is written into it: at
// 10^6 tasks a taskGraph is built twice as fast.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace taskspec {

// Whole huge pages; throws std::bad_alloc. Entries are freed with the size they were taken with.
void* take_huge_pages(std::size_t bytes);
void give_huge_pages(void* memory, std::size_t bytes);
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

template <class T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count * sizeof(T) < huge_page) return std::allocator<T>().allocate(count);
    return static_cast<T*>(take_huge_pages(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < huge_page)
      std::allocator<T>().deallocate(memory, count);
    else
      give_huge_pages(memory, count * sizeof(T));
  }
  friend bool operator==(LargeAllocator, LargeAllocator) { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace taskspec
