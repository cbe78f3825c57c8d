// Rules by which ops become Task IR blocks, where several share one. What an op does to places or to single numbers is
// asked of its own kernel (ir/lowering/block_builder.hpp).
//
//   .lower = moved        slices, transposes, pads, concatenations: edges
//   .lower = mapped       a function of one number: a table
#pragma once
#include <fmt/format.h>

#include "ir/lowering/block_builder.hpp"
#include "stdlib/ops/windows.hpp"

namespace taskspec::lowering {

inline void moved(BlockBuilder& b, const OpInstance&) { b.move(); }
inline void mapped(BlockBuilder& b, const OpInstance&) { b.map(); }
inline void passed(BlockBuilder& b, const OpInstance&) { b.pass(); }

// Images [B, C, H, W] or [C, H, W].
inline BlockLayout image(const Extents& tensor) {
  const std::size_t rank = tensor.size();
  return {.y = rank - 2, .x = rank - 1, .f = rank - 3};
}

// Weights of blocks do not change from run to run.
inline Array known(BlockBuilder& b, std::size_t input, std::string_view what) {
  if (!b.is_fixed(input))
    b.refuse(fmt::format("its {} are computed, and blocks hold them as data", what),
             "weights that are slots of the net");
  return b.fixed(input);
}

inline std::optional<Array> known_bias(BlockBuilder& b, const OpInstance& call) {
  if (call.in.size() < 3) return std::nullopt;
  return known(b, 2, "biases");
}

// A number in place of a tensor operand.
inline std::optional<double> known_number(BlockBuilder& b, std::size_t input) {
  if (!b.is_fixed(input)) return std::nullopt;
  const Array array = b.fixed(input);
  if (array.elements() != 1) return std::nullopt;
  return array.number(0);
}

inline constexpr Lowering no_choice =
    Lowering::none("blocks make no bools and choose nothing by them: max and min do with relu and clamp");
inline constexpr Lowering only_training =
    Lowering::none("it belongs to training, and blocks run nets that are trained");
inline constexpr Lowering only_host = Lowering::none("it makes numbers before anything runs, on the host");

}  // namespace taskspec::lowering
