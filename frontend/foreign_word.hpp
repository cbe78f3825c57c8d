// What one looks up who comes from Python, C++, Julia or PyTorch, and what is written here in its place: for `doc` and
// `?` where they have no record.
//
//   foreign_word("zeros")      // "fill(f32[2, 3], 0.0) makes a tensor of zeros"
#pragma once
#include <string_view>

namespace taskspec {

std::string_view foreign_word(std::string_view word);  // empty: nothing is known of it

}  // namespace taskspec
