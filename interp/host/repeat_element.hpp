// One element again and again, as a fill sets them.
//
//   repeat_element(base + first * 8, number, 8, count);
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>

namespace taskspec {

// `element` lies elsewhere.
inline void repeat_element(std::byte* at, const std::byte* element, std::size_t bytes, std::size_t count) {
  if (count == 0) return;
  // What is there already is copied behind itself, twice as much each time, as far as the cache holds it.
  const std::size_t all = count * bytes, most = std::max<std::size_t>((std::size_t{1} << 14) / bytes, 1) * bytes;
  std::memcpy(at, element, bytes);
  for (std::size_t done = bytes; done < all;) {
    const std::size_t now = std::min({done, most, all - done});
    std::memcpy(at + done, at, now);
    done += now;
  }
}

}  // namespace taskspec
