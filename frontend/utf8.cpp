#include "frontend/utf8.hpp"

#include "ir/base/text.hpp"

namespace taskspec {

std::optional<std::size_t> invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;  // nearly all of a source
      continue;
    }
    Character character = first_character(text.substr(at));
    if (character.bytes == 1) return at;
    at += character.bytes;
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
