// Lines of one source with marks under them: the picture inside a rendered diagnostic.
//
//   3 | let c = a + b
//     |         - ^ f32[5]
//     |         |
//     |         f32[4]
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "ir/base/source.hpp"

namespace taskspec {

enum class Style : unsigned char { plain, strong, error, warning, accent };

// The text between the escape codes of its style, or bare without colour.
std::string painted(std::string_view text, Style style, bool colour);

struct Mark {
  Span span;
  std::string_view text;
  bool primary;  // ^^^ or ---
};

// How a whole diagnostic is drawn: its colours, and the columns that its longest line number takes.
struct Canvas {
  bool colour = false;
  Style primary = Style::error;
  std::size_t gutter = 1;
};

std::uint32_t last_line(const Source& source, Span span);  // 1-based; an empty span ends where it begins

// All marks lie in `source`; a span of several lines is marked on its first and its last line.
std::string snippet(const Source& source, std::span<const Mark> marks, const Canvas& canvas);

}  // namespace taskspec
