#include "interp/control/register_stack.hpp"

#include <algorithm>

namespace taskspec {

void RegisterStack::enter_chunk(std::size_t count) {
  constexpr std::size_t smallest = 256, largest = 1 << 14;
  if (used_ < chunks_.size() && chunks_[used_].size < count) chunks_.pop_back();
  if (used_ == chunks_.size()) {
    const std::size_t size = std::max(count, std::min(largest, smallest << std::min<std::size_t>(2 * used_, 6)));
    Chunk chunk{std::make_unique<Value[]>(size), size, nullptr};
    chunks_.push_back(std::move(chunk));
  }
  if (used_ > 0) chunks_[used_ - 1].top = top_;
  const Chunk& chunk = chunks_[used_++];
  begin_ = top_ = chunk.registers.get();
  end_ = begin_ + chunk.size;
}

// One empty chunk stays: a loop may call across its edge.
void RegisterStack::leave_chunk() noexcept {
  if (used_ < 2) return;
  chunks_.resize(used_--);
  const Chunk& chunk = chunks_[used_ - 1];
  begin_ = chunk.registers.get();
  top_ = chunk.top;
  end_ = begin_ + chunk.size;
}

}  // namespace taskspec
