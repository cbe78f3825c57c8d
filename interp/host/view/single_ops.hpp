// Ops that bodies use most, on one element: in loops over few points a kernel is mostly the way to it.
#pragma once
#include <cstddef>
#include <string_view>

#include "ir/types/precision.hpp"

namespace taskspec {

// Two operands, or the one that is copied. False: the op itself says what comes of them, or what is wrong with them.
using SingleOp = bool (*)(const std::byte* const* in, std::byte* out);

// By the symbol of the op: sums, differences, products and comparisons of two operands of this precision, and quotients
// of floats; null for all else. `of_host`: numbers of the host, whose ints do not wrap.
SingleOp find_single(std::string_view symbol, Precision precision, bool of_host);
SingleOp find_copy(std::size_t bytes);

}  // namespace taskspec
