#include "frontend/literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "frontend/utf8.hpp"
#include "ir/base/ascii.hpp"

namespace taskspec {
namespace {

std::string without_underscores(std::string_view literal) {
  std::string digits;
  for (char c : literal)
    if (c != '_') digits += c;
  return digits;
}

// The character that `\c` stands for, if any; \u is not among them.
std::optional<char> simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '0':
      return '\0';
    case '\\':
      return '\\';
    case '"':
      return '"';
    default:
      return std::nullopt;
  }
}

// Reads `{hex}` at the front of `rest`; a code point above 10FFFF or in the surrogate range has no UTF-8 form.
struct UnicodeEscape {
  std::size_t length = 0;  // of "{hex}", or of what is there instead of it
  std::optional<char32_t> value;
  const char* reason = "expected hexadecimal digits in braces, as in \\u{e9}";
};

UnicodeEscape unicode_escape(std::string_view rest) {
  UnicodeEscape result;
  if (!rest.starts_with('{')) return result;
  std::size_t close = rest.find('}');
  if (close == std::string_view::npos) return result;
  result.length = close + 1;
  std::uint32_t value = 0;
  auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + close, value, 16);
  if (close == 1 || end != rest.data() + close) return result;
  if (error != std::errc() || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
    result.reason = "no character has this number";
  else
    result.value = value;
  return result;
}

std::size_t character_length(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) ++length;
  return length;
}

}  // namespace

std::optional<std::int64_t> int_value(std::string_view literal) {
  std::string digits = without_underscores(literal);
  bool hexadecimal = digits.starts_with("0x");
  const char* begin = digits.data() + (hexadecimal ? 2 : 0);
  const char* end = digits.data() + digits.size();
  std::int64_t value = 0;
  auto [stop, error] = std::from_chars(begin, end, value, hexadecimal ? 16 : 10);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<double> float_value(std::string_view literal) {
  const std::optional<double> value = float_of(without_underscores(literal));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string string_value(std::string_view literal, std::vector<BadEscape>* bad) {
  std::string value;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      value += literal[i];
      continue;
    }
    std::size_t begin = i++;
    if (std::optional<char> c = simple_escape(literal[i])) {
      value += *c;
    } else if (literal[i] == 'u') {
      UnicodeEscape escape = unicode_escape(literal.substr(i + 1, literal.size() - i - 2));
      i += escape.length;
      if (escape.value)
        append_utf8(value, *escape.value);
      else if (bad)
        bad->push_back({begin, i + 1, escape.reason});
    } else {
      i += character_length(literal.substr(i)) - 1;
      if (bad) bad->push_back({begin, i + 1, "known are \\n \\t \\r \\0 \\\\ \\\" and \\u{hex}"});
    }
  }
  return value;
}

void check_literals(SourceId source, std::string_view text, const std::vector<Token>& tokens, Diags& diags) {
  for (const Token& token : tokens) {
    Span span{source, token.begin, token.end};
    std::string_view literal = text_of(text, token);
    if (token.kind == TokenKind::integer && !int_value(literal)) {
      bool digits = literal.find_first_not_of("0x_") != std::string_view::npos;
      if (digits)
        diags.error("E0004", span, "number too large").at("an int is at most 2^63 - 1 = 9223372036854775807");
      else
        diags.error("E0001", span, "number without digits");
    } else if (token.kind == TokenKind::real && !float_value(literal)) {
      diags.error("E0004", span, "number too large").at("a float is at most 1.7976931348623157e+308");
    } else if (token.kind == TokenKind::string && literal.find('\\') != std::string_view::npos) {
      std::vector<BadEscape> bad;
      string_value(literal, &bad);
      for (const BadEscape& escape : bad) {
        Span place{source, static_cast<std::uint32_t>(token.begin + escape.begin),
                   static_cast<std::uint32_t>(token.begin + escape.end)};
        std::string_view spelling = literal.substr(escape.begin, escape.end - escape.begin);
        diags.error("E0003", place, fmt::format("unknown escape '{}' in a string", spelling)).at(escape.reason);
      }
    }
  }
}

}  // namespace taskspec
