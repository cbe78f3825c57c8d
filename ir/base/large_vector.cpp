#include "ir/base/large_vector.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace taskspec {

namespace {

std::size_t rounded(std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }

}  // namespace

void* take_huge_pages(std::size_t bytes) {
  const std::size_t whole = rounded(bytes);
  // One page more, to cut an aligned part out of it.
  void* mapped = mmap(nullptr, whole + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<std::byte*>(mapped);
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + whole, huge_page - before);
  madvise(begin + before, whole, MADV_HUGEPAGE);  // a wish: without huge pages it is memory as any other
  return begin + before;
}

void give_huge_pages(void* memory, std::size_t bytes) { munmap(memory, rounded(bytes)); }

}  // namespace taskspec
