// Hashes of contents, equal on every machine and in every run: keys of plan caches, names of streams, later the
// determinism check between shards.
//
//   Hasher h;  h.add("matmul").add(std::uint64_t{3});   h.digest().text()   // 32 hex digits
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace taskspec {

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::string text() const;  // high digits first
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

// XXH3 with seed 0.
std::uint64_t hash64(std::span<const std::byte> bytes);
std::uint64_t hash64(std::string_view text);
Hash128 hash128(std::span<const std::byte> bytes);
Hash128 hash128(std::string_view text);

// 32-bit FNV-1a: the stream number of a random slot.
constexpr std::uint32_t fnv1a32(std::string_view text) {
  std::uint32_t hash = 0x811C9DC5;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  return hash;
}

// Collects the parts of a larger thing. Integers go in little endian and texts with their length before them, so
// that ("ab", "c") and ("a", "bc") differ.
class Hasher {
 public:
  Hasher();
  Hasher& bytes(std::span<const std::byte> bytes);  // as they are, without a length
  Hasher& add(std::uint64_t value);
  Hasher& add(std::string_view text);
  Hasher& add(Hash128 hash) { return add(hash.low).add(hash.high); }
  Hash128 digest() const;  // of all so far; adding may go on

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace taskspec

template <>
struct std::hash<taskspec::Hash128> {
  std::size_t operator()(const taskspec::Hash128& h) const noexcept { return h.low; }
};
