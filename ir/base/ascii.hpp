// What a text says, whatever the language of the user: letters, digits and numbers in the notation of C. The functions
// of the C library for this follow the locale of the program that we are part of.
//
//   is_word('_')             // true
//   float_of("-2.5e3")       // -2500
//   float_of("1e999")        // inf
#pragma once
#include <optional>
#include <string_view>

namespace taskspec {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }  // of a name

// Also "inf" and "nan". Too large is infinite and too small is 0, with their sign; nothing for what is no number.
std::optional<double> float_of(std::string_view text);

}  // namespace taskspec
