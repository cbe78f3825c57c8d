// The operators of `reduce(op)` parameters. A contribution is folded from the identity; two of one operator commute.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

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

}  // namespace taskspec
