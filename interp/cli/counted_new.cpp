// The tool counts what it asks of memory, thread by thread (ir/base/allocations.hpp): `--report` of a run on shards
// tells what the analysis asked for. Sanitizers bring their own of these.
#include "ir/base/allocations.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

// As the standard has it: who may free some is asked to, until nobody is left.
template <class Get>
void* counted(std::size_t bytes, Get&& get) {
  ++taskspec::allocations_here.number;
  taskspec::allocations_here.bytes += bytes;
  for (;;) {
    if (void* const memory = get(std::max<std::size_t>(bytes, 1))) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

// Forms that do not throw are left as they are: what they give is freed in the same way.
void* operator new(std::size_t bytes) {
  return counted(bytes, [](std::size_t size) { return std::malloc(size); });
}
void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, [alignment](std::size_t size) {
    const auto step = static_cast<std::size_t>(alignment);
    return std::aligned_alloc(step, (size + step - 1) / step * step);
  });
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#endif
