#include "ir/base/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace taskspec {

namespace {

// Of a decimal that no float can hold: is it too near to zero, rather than too large?
bool is_tiny(std::string_view digits) {
  const std::size_t e = std::min(digits.find_first_of("eE"), digits.size());
  const std::size_t point = std::min(digits.find('.'), e);
  const std::size_t first = digits.find_first_of("123456789");
  if (first >= e) return true;
  // The power of ten of the first digit that counts.
  std::int64_t power =
      first < point ? static_cast<std::int64_t>(point - first) - 1 : -static_cast<std::int64_t>(first - point);
  if (e == digits.size()) return power < 0;
  std::string_view exponent = digits.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t written = 0;
  auto [stop, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), written);
  if (error != std::errc()) return exponent.starts_with('-');
  return written < -power;
}

}  // namespace

std::optional<double> float_of(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc()) return value;
  const bool negative = text.starts_with('-');
  return std::copysign(is_tiny(text.substr(negative)) ? 0.0 : HUGE_VAL, negative ? -1.0 : 1.0);
}

}  // namespace taskspec
