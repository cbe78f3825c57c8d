#include "ir/plan/free_blocks.hpp"

namespace taskspec {

void FreeBlocks::remove(ByOffset::iterator block) {
  sizes_.erase({block->second, block->first});
  by_offset_.erase(block);
}

void FreeBlocks::give(std::uint64_t offset, std::uint64_t size) {
  auto after = by_offset_.lower_bound(offset);
  if (after != by_offset_.end() && after->first == offset + size) {
    size += after->second;
    remove(after++);
  }
  if (after != by_offset_.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      remove(before);
    }
  }
  by_offset_.emplace(offset, size);
  sizes_.emplace(size, offset);
}

std::optional<std::uint64_t> FreeBlocks::take(std::uint64_t size) {
  auto best = sizes_.lower_bound({size, 0});
  if (best == sizes_.end()) return std::nullopt;
  auto [room, offset] = *best;
  remove(by_offset_.find(offset));
  if (room > size) give(offset + size, room - size);
  return offset;
}

void FreeBlocks::give_all(FreeBlocks& other) {
  if (by_offset_.size() < other.by_offset_.size()) {
    by_offset_.swap(other.by_offset_);
    sizes_.swap(other.sizes_);
  }
  for (auto [offset, size] : other.by_offset_) give(offset, size);
  other.by_offset_.clear();
  other.sizes_.clear();
}

}  // namespace taskspec
