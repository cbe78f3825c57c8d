// The contents of an array as a prompt shows them: small ones whole, big ones as type, statistics and a corner.
//
//   [[1, 2],
//    [3, 4]]
//
//   f32[1000, 784]  min 0, max 1, mean 0.13066
//   [[0, 0, 0, ...],
//    ...]
#pragma once
#include <string>

#include "ir/types/array.hpp"

namespace taskspec {

// Without a line end; lines are at most `columns` long where a single number allows it.
std::string contents_text(const Array& array, std::size_t columns);

}  // namespace taskspec
