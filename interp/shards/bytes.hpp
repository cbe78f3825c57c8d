// Values as bytes in little endian, for messages and for what is hashed.
//
//   std::vector<std::byte> bytes;
//   ByteWriter(bytes).put<std::uint32_t>(7).text("abc");
//   ByteReader in(bytes);   in.get<std::uint32_t>() == 7;   in.text() == "abc";   in.ok()
#pragma once
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace taskspec {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

class ByteWriter {
 public:
  explicit ByteWriter(Bytes& into) : into_(into) {}

  template <class T>
  ByteWriter& put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    const std::size_t at = into_.size();
    into_.resize(at + sizeof value);
    std::memcpy(into_.data() + at, &value, sizeof value);
    return *this;
  }
  ByteWriter& raw(ByteView bytes) {
    into_.insert(into_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  // With the length before it.
  ByteWriter& block(ByteView bytes) { return put<std::uint64_t>(bytes.size()).raw(bytes); }
  ByteWriter& text(std::string_view text) {
    return put(static_cast<std::uint32_t>(text.size())).raw(std::as_bytes(std::span(text)));
  }

 private:
  Bytes& into_;
};

// Beyond the end everything reads as zero and empty, and ok() is false from then on.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value{};
    if (const ByteView bytes = raw(sizeof value); !bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  ByteView raw(std::size_t count) {
    if (count > bytes_.size()) {
      is_ok_ = false;
      bytes_ = {};
      return {};
    }
    const ByteView taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  ByteView block() { return raw(get<std::uint64_t>()); }
  std::string_view text() {
    const ByteView bytes = raw(get<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::size_t left() const { return bytes_.size(); }
  bool ok() const { return is_ok_; }

 private:
  ByteView bytes_;
  bool is_ok_ = true;
};

}  // namespace taskspec
