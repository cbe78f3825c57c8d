// Makes png files of any kind, true or lying, without libpng: chunks with checksums, pixels stored
// without compression.
//
//   PngBuilder(2, 1, 8, 0).pixels("\0\x10\x20"s).bytes()     // one grey row: its filter, then two pixels
#pragma once
#include <array>
#include <cstdint>
#include <string>

class PngBuilder {
 public:
  PngBuilder(std::uint32_t width, std::uint32_t height, int depth, int color, bool interlaced = false) {
    bytes_ = "\x89PNG\r\n\x1a\n";
    std::string header = big(width) + big(height);
    for (int part : {depth, color, 0, 0, interlaced ? 1 : 0}) header += static_cast<char>(part);
    chunk("IHDR", header);
  }

  PngBuilder& chunk(const std::string& type, const std::string& data) {
    bytes_ += big(static_cast<std::uint32_t>(data.size())) + type + data + big(crc(type + data));
    return *this;
  }

  // Rows one after the other, each behind the byte of its filter.
  PngBuilder& pixels(const std::string& raw) {
    std::string data = "\x78\x01";
    std::size_t at = 0;
    do {
      std::size_t size = std::min<std::size_t>(raw.size() - at, 65535);
      data += at + size == raw.size() ? '\1' : '\0';
      for (std::size_t value : {size, ~size}) data += {static_cast<char>(value), static_cast<char>(value >> 8)};
      data += raw.substr(at, size);
      at += size;
    } while (at < raw.size());
    return chunk("IDAT", data + big(adler(raw)));
  }

  std::string bytes() { return chunk("IEND", "").bytes_; }

  // Of png, zip and gzip.
  static std::uint32_t crc(const std::string& data) {
    std::uint32_t crc = ~0u;
    for (char c : data) {
      crc ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
  }

 private:
  static std::string big(std::uint32_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
    return out;
  }

  static std::uint32_t adler(const std::string& data) {
    std::uint32_t a = 1, b = 0;
    for (char c : data) a = (a + static_cast<unsigned char>(c)) % 65521, b = (b + a) % 65521;
    return b << 16 | a;
  }

  std::string bytes_;
};
