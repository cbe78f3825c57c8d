// What `show(x)` draws: a picture ([H, W], [H, W, 1|3|4] or [1|3, H, W]) scaled down to the width, a vector as bars or
// as a line, any tensor as a histogram, everything else as one line of statistics.
//
//   show_text(array, {.columns = 80})                     // shades of ASCII, for pipes and logs
//   show_text(array, {.columns = 80, .colour = true})     // half blocks in 24-bit colour
//   show_svg(array, ShowKind::histogram)
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ir/types/array.hpp"

namespace taskspec {

enum class ShowKind : std::uint8_t { automatic, picture, bars, line, histogram };
struct ShowKindName {
  std::string_view name;
  ShowKind kind;
};
inline constexpr ShowKindName show_kinds[] = {{"", ShowKind::automatic},
                                              {"picture", ShowKind::picture},
                                              {"bars", ShowKind::bars},
                                              {"line", ShowKind::line},
                                              {"histogram", ShowKind::histogram}};
std::optional<ShowKind> show_kind_of(std::string_view name);

struct ShowOptions {
  int columns = 80;
  bool colour = false;
  ShowKind kind = ShowKind::automatic;
};

// Each of them throws E5004 for an array that cannot be drawn as this kind.

// Ends with a line end; no line is wider than `columns` (at least 16). The same array gives the same text.
std::string show_text(const Array& array, const ShowOptions& options = {});

// The same as a drawing of its own.
std::string show_svg(const Array& array, ShowKind kind);

// The same as pixels, u8[H, W, 3]; plots have no words. A small picture becomes larger by whole factors.
Array show_pixels(const Array& array, ShowKind kind);

}  // namespace taskspec
