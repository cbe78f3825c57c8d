// What `show(x)` writes: an array drawn with the characters of a terminal. Pictures ([H, W], [H, W, 1|3|4])
// are scaled down to the width, rank 1 becomes bars, everything else one line of statistics.
//
//   show_text(array, 80)          // shades of ASCII, for pipes and logs
//   show_text(array, 80, true)    // half blocks in 24-bit colour
#pragma once
#include <string>

#include "ir/array.hpp"

namespace taskspec {

// Ends with a line end; no line is wider than `columns` (at least 16). The same array gives the same text.
std::string show_text(const Array& array, int columns, bool colour = false);

}  // namespace taskspec
