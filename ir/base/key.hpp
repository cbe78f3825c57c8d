// Keys: byte strings that are equal exactly when what was put into them is. Only ever looked up, never shown.
//
//   std::string key;  put_number(key, 3);  put_text(key, "conv");
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace taskspec {

// Seven bits per byte, so that small numbers are short and none is the beginning of another.
inline void put_number(std::string& key, std::uint64_t number) {
  char bytes[10];
  std::size_t size = 0;
  for (; number >= 0x80; number >>= 7) bytes[size++] = static_cast<char>(number | 0x80);
  bytes[size++] = static_cast<char>(number);
  key.append(bytes, size);
}

inline void put_text(std::string& key, std::string_view text) {
  put_number(key, text.size());
  key += text;
}

}  // namespace taskspec
