#include "frontend/utf8.hpp"

namespace taskspec {
namespace {

// The bytes of the character at the front, 0 if there is none. Its shortest form is told by the first byte and the
// range of the second one.
std::size_t character(std::string_view text) {
  auto byte = [&](std::size_t i) -> unsigned { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  auto in = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  if (in(0, 0x00, 0x7F)) return 1;
  if (in(0, 0xC2, 0xDF)) return in(1, 0x80, 0xBF) ? 2 : 0;
  if (in(0, 0xE0, 0xEF)) {
    unsigned low = byte(0) == 0xE0 ? 0xA0 : 0x80;
    unsigned high = byte(0) == 0xED ? 0x9F : 0xBF;
    return in(1, low, high) && in(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (in(0, 0xF0, 0xF4)) {
    unsigned low = byte(0) == 0xF0 ? 0x90 : 0x80;
    unsigned high = byte(0) == 0xF4 ? 0x8F : 0xBF;
    return in(1, low, high) && in(2, 0x80, 0xBF) && in(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::optional<std::size_t> invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = character(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

void append_utf8(std::string& text, char32_t c) {
  auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  auto tail = [&](int shift) { put(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xC0 | (c >> 6)), tail(0);
  if (c < 0x10000) return put(0xE0 | (c >> 12)), tail(6), tail(0);
  put(0xF0 | (c >> 18)), tail(12), tail(6), tail(0);
}

}  // namespace taskspec
