// The operators of `reduce(op)` parameters. A contribution is folded from the identity; two of one operator commute.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/types/precision.hpp"

namespace taskspec {

enum class ReduceOp : std::uint8_t { sum, prod, min, max };

// As it is written in a signature: "+", "*", "min", "max".
constexpr std::string_view text(ReduceOp op) {
  constexpr std::string_view texts[] = {"+", "*", "min", "max"};
  return texts[static_cast<std::size_t>(op)];
}

constexpr std::optional<ReduceOp> reduce_op_of(std::string_view text_of) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max})
    if (text(op) == text_of) return op;
  return std::nullopt;
}

// Of what `sum` and `prod` make of integers narrower than 32 bits: i32; else as it is.
inline Precision reduced_precision(Precision precision, ReduceOp op) {
  const bool narrow = is_integer(precision) && info(precision).bytes < 4;
  return narrow && (op == ReduceOp::sum || op == ReduceOp::prod) ? Precision::i32 : precision;
}

}  // namespace taskspec
