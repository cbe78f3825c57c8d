// The encoding of sources, as RFC 3629 has it: no overlong forms, no surrogates, nothing above 10FFFF.
//
//   invalid_utf8("a\xC3")       // 1
//   append_utf8(text, U'\u00e9')
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace taskspec {

// The offset of the first byte that belongs to no character.
std::optional<std::size_t> invalid_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

}  // namespace taskspec
