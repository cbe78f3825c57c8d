// Bytes of an arena that are free to take: blocks by offset, neighbours joined, the best fit found by size.
//
//   FreeBlocks pool;  pool.give(0, 256);
//   pool.take(64)     // 0; [64, 256) stays
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace taskspec {

class FreeBlocks {
 public:
  void give(std::uint64_t offset, std::uint64_t size);
  std::optional<std::uint64_t> take(std::uint64_t size);  // of the smallest block that is large enough
  void give_all(FreeBlocks& other);                       // empties `other`; the smaller one is moved over

 private:
  using ByOffset = std::map<std::uint64_t, std::uint64_t>;
  void remove(ByOffset::iterator block);
  ByOffset by_offset_;                                       // offset -> size
  std::set<std::pair<std::uint64_t, std::uint64_t>> sizes_;  // (size, offset)
};

}  // namespace taskspec
