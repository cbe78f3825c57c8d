#include "ir/json/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ir/base/text.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

namespace {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    auto c = static_cast<unsigned char>(text[0]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[0];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", c);
    } else if (c < 0x80) {
      out += text[0];
    } else {
      Character character = first_character(text);
      bool broken = character.code_point == 0xFFFD && character.bytes == 1;
      out += broken ? std::string_view("\xEF\xBF\xBD") : text.substr(0, character.bytes);
      text.remove_prefix(character.bytes);
      continue;
    }
    text.remove_prefix(1);
  }
  out += '"';
}

}  // namespace

void JsonText::separate() {
  if (!first_) out_ += ',';
  if (new_line_) out_ += '\n';
  first_ = new_line_ = false;
}

JsonText& JsonText::put(char bracket, bool opens) {
  if (opens) separate();
  out_ += bracket;
  first_ = opens;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  if (new_line_) out_ += '\n';
  new_line_ = false;
  return put(bracket, false);
}

JsonText& JsonText::key(std::string_view name) {
  separate();
  append_quoted(out_, name);
  out_ += ':';
  first_ = true;
  return *this;
}

JsonText& JsonText::line() {
  new_line_ = true;
  return *this;
}

JsonText& JsonText::word(std::string_view text) {
  separate();
  out_ += text;
  return *this;
}

JsonText& JsonText::string(std::string_view text) {
  separate();
  append_quoted(out_, text);
  return *this;
}

JsonText& JsonText::number(std::int64_t value) { return word(fmt::format_int(value).c_str()); }

JsonText& JsonText::real(double value) {
  if (!std::isfinite(value)) return string(print(value));
  // Readers take -0 for the integer 0.
  return word(value == 0 && std::signbit(value) ? "-0.0" : print(value));
}

std::string json_quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

// ---- base64 ---------------------------------------------------------------------------------------

namespace {
constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

bool from_base64(std::string_view text, std::string& bytes) {
  std::array<std::int8_t, 256> value{};
  value.fill(-1);
  for (std::size_t i = 0; i < digits.size(); ++i)
    value[static_cast<unsigned char>(digits[i])] = static_cast<std::int8_t>(i);
  if (text.size() % 4 != 0) return false;
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.clear();
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::size_t count = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      std::int8_t digit = k < count ? value[static_cast<unsigned char>(text[i + k])] : std::int8_t{0};
      if (digit < 0) return false;
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t k = 0; k + 1 < count; ++k) bytes += static_cast<char>(bits >> (16 - 8 * k));
  }
  return true;
}

}  // namespace taskspec
