#include "ir/base/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <new>

namespace taskspec {

std::string Hash128::text() const { return fmt::format("{:016x}{:016x}", high, low); }

std::uint64_t hash64(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::uint64_t hash64(std::string_view text) { return hash64(std::as_bytes(std::span(text))); }

Hash128 hash128(std::span<const std::byte> bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

Hash128 hash128(std::string_view text) { return hash128(std::as_bytes(std::span(text))); }

Hasher::Hasher() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_128bits_reset(state_.get());
}

void Hasher::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Hasher& Hasher::bytes(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  return *this;
}

Hasher& Hasher::add(std::uint64_t value) {
  std::array<std::byte, 8> little;
  for (std::size_t i = 0; i < little.size(); ++i) little[i] = static_cast<std::byte>(value >> (8 * i));
  return bytes(little);
}

Hasher& Hasher::add(std::string_view text) { return add(text.size()).bytes(std::as_bytes(std::span(text))); }

Hash128 Hasher::digest() const {
  XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  return {hash.low64, hash.high64};
}

}  // namespace taskspec
